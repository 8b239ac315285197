"""A byte that is not UTF-8: told with its place in every form, and left out with --skip-bad."""

from pathlib import Path

import pytest
from cli.cli_cases import call

from spacy_biaffine.formats.form import Form
from spacy_biaffine.formats.forms import FORMS

TEXT_FORMS = [form for form in FORMS if form.read]


def bad_file(form: Form, tmp_path: Path) -> Path:
    """The sample of a form, with a Latin-1 byte in its first word."""
    for name, text in form.sample.items():
        content = text.encode("utf-8")
        for word in (b"Oslo", b"Rain", b"rain", b"Heat", b"Ann"):
            content = content.replace(word, word[:-1] + b"\xe9")
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / next(iter(form.sample))


@pytest.mark.parametrize("form", TEXT_FORMS, ids=lambda form: form.name)
def test_a_byte_that_is_not_utf8(form: Form, tmp_path: Path) -> None:
    path = bad_file(form, tmp_path)
    arguments = ["convert", path, tmp_path / "out.spacy", "--form", form.name]
    code, output = call(*arguments)
    assert code == 1
    assert "not UTF-8 (byte 0xE9 at column" in output and "Give --encoding" in output
    code, output = call(*arguments, "--skip-bad")
    assert code == 1 and "1 encoding" in output  # nothing is left, and it says why
    assert not (tmp_path / "out.spacy").exists()
