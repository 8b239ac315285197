"""``python -m spacy biaffine convert-labels``."""

import pytest
import spacy
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_biaffine.cli import app


def convert(*arguments) -> tuple[int, str]:
    """Exit code and output on one line (messages are wrapped)."""
    result = CliRunner().invoke(app, ["convert-labels", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("1\train\tNN\n2\tfell\t_\n\n1\tus\tPRP\n", encoding="utf-8")
    return path


def docs_in(path):
    return list(DocBin().from_disk(path).get_docs(spacy.blank("en").vocab))


@pytest.mark.parametrize("target", ["tag", "_.command_test"])
def test_labels(source, tmp_path, target):
    columns = ["--token-column", 2, "--label-column", 3, "--target", target, "-n", 2]
    code, output = convert(source, tmp_path / "out.spacy", "-l", "en", *columns)
    assert code == 0 and "docs 1" in output
    (doc,) = docs_in(tmp_path / "out.spacy")
    assert [sent.text for sent in doc.sents] == ["rain fell", "us"]
    labels = [token.tag_ if target == "tag" else token._.command_test or "" for token in doc]
    assert labels == ["NN", "", "PRP"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--label-column", 4], "in.txt:1: 3 columns"),
        (["--target", "lemma"], "columns go to tag, pos or _.NAME"),
        (["-l", "qq"], "spaCy has no language 'qq'"),
    ],
)
def test_what_cannot_be_converted(source, tmp_path, arguments, message):
    code, output = convert(source, tmp_path / "out.spacy", *arguments)
    assert code == 1 and message in output
    assert not (tmp_path / "out.spacy").exists()


def test_no_such_file(tmp_path):
    code, output = convert(tmp_path / "none.txt", tmp_path / "out.spacy")
    assert code == 1 and "none.txt" in output
