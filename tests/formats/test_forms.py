"""The table of forms: each is read from its sample, recognized, and written again."""

import contextlib
import json
import runpy
from pathlib import Path

import pytest
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.docbin import write_docbin
from spacy_biaffine.formats.convert.plan import plan
from spacy_biaffine.formats.convert.run import convert
from spacy_biaffine.formats.form import Form
from spacy_biaffine.formats.forms import FORMS, WRITTEN, form_named, form_of, form_to_write


def named(form: Form) -> str:
    return form.name


def read(form: Form, path: Path, **options) -> list[Doc]:
    report = form.report()
    docs = list(form.read([path], "en", report, skip_bad=False, **options))
    assert not report.errors
    return docs


@pytest.fixture
def sample(tmp_path):
    """Writes the sample of a form."""

    def write(form: Form) -> Path:
        for name, text in form.sample.items():
            (tmp_path / name).write_text(text, encoding="utf-8", newline="\n")
        return tmp_path / next(iter(form.sample))

    return write


def test_names_are_unique():
    names = [name for form in FORMS for name in (form.name, *form.aliases)]
    assert len(set(names)) == len(names)
    assert [form_named(name).name for name in names] == [
        form.name for form in FORMS for _ in (form.name, *form.aliases)
    ]
    with pytest.raises(ValueError, match="unknown form 'xml'; there are conllu, conllu-plus, json"):
        form_named("xml")


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_sample_is_read(form, sample):
    (doc,) = read(form, sample(form))
    assert len(doc) in (2, 3)


@pytest.mark.parametrize("form", [form for form in FORMS if form.fits], ids=named)
def test_sample_is_recognized(form, sample):
    assert form_of(sample(form)) is form


@pytest.mark.parametrize("form", [form for form in FORMS if not form.fits], ids=named)
def test_what_needs_a_name_is_not_taken_for_another_form(form, sample):
    assert form_of(sample(form)) in (None, form_named("conllu"))


@pytest.mark.parametrize("form", WRITTEN, ids=named)
def test_what_is_written_is_read_again(form, sample, tmp_path):
    docs = read(form, sample(form))
    texts = [form.write(doc, number) for number, doc in enumerate(docs, 1)]
    path = tmp_path / ("again" + (form.suffix or ".txt"))
    text = form.opening + form.between.join(texts) + form.closing
    path.write_text(text, encoding="utf-8", newline="\n")
    again = read(form, path)
    assert [doc.to_json() for doc in again] == [doc.to_json() for doc in docs]


@pytest.mark.parametrize("form", [form for form in FORMS if form.files], ids=named)
def test_folders_that_are_written_are_read_again(form, sample, tmp_path):
    docs = read(form, sample(form))
    write_docbin(docs, tmp_path / "a.spacy")
    (job,) = plan([tmp_path / "a.spacy"], tmp_path / "again", to=form.name)
    convert(job, {})
    again = read(form, tmp_path / "again")
    assert [doc.to_json() for doc in again] == [doc.to_json() for doc in docs]
    with pytest.raises(FileExistsError, match="again is there already; name a new folder"):
        convert(job, {})
    assert form_of(tmp_path / "again") is form


@pytest.mark.parametrize("form", FORMS, ids=named)
def test_options_are_arguments_of_the_reader(form, sample):
    """A name that the reader does not know would be a TypeError; a value may be refused."""
    path = sample(form)
    values = {bool: False, int: 1, str: "tag", Path: path}
    for option in form.options:
        with contextlib.suppress(ValueError):
            read(form, path, **{option.name: values[option.kind]})


@pytest.mark.parametrize(
    ("name", "form"), [("a.conllu", "conllu"), ("a.jsonl", "json"), ("a.json", "spert")]
)
def test_form_to_write(name, form):
    assert form_to_write(Path(name)) is form_named(form)
    assert form_to_write(Path("a.txt")) is None


def test_a_file_of_no_form(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Rain fell.\n", encoding="utf-8")
    assert form_of(path) is None
    assert form_of(tmp_path) is None


def test_the_docs_have_the_table():
    script = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "form_table.py"))
    page = script["PAGE"].read_text(encoding="utf-8")
    assert script["with_table"](page) == page, "run scripts/form_table.py"


def test_what_a_form_has_no_place_for_is_counted(tmp_path, sample):
    """From CoNLL-U to JSON with entities alone."""
    (job,) = plan([sample(form_named("conllu"))], tmp_path / "a.jsonl")
    result = convert(job, {})
    assert json.loads((tmp_path / "a.jsonl").read_text(encoding="utf-8")) == {"text": "Rain fell"}
    assert +result.lost == {"sentences": 1, "words in trees": 2, "words with tags": 2}
    assert ("not in this form: words in trees", 2) in result.rows()


def test_keys_that_are_not_kept_are_counted(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"id": 7, "by": ["me"], "text": "a", "entities": []}\n', encoding="utf-8"
    )
    (job,) = plan([tmp_path / "a.jsonl"], tmp_path / "a.spacy")
    assert convert(job, {}).rows()[-2:] == [("not kept: id", 1), ("not kept: by", 1)]
    (job,) = plan([tmp_path / "a.jsonl"], tmp_path / "a.layers.jsonl")
    assert not convert(job, {}).keys
    assert json.loads((tmp_path / "a.layers.jsonl").read_text(encoding="utf-8"))["meta"] == {
        "id": 7,
        "by": ["me"],
    }


def test_entities_outside_of_the_written_group_are_counted(tmp_path):
    doc = Doc(Vocab(), words=["Oslo", "in", "Norway"], ents=["B-LOC", "O", "O"])
    doc.spans["sc"] = [Span(doc, 0, 3, "LOC"), Span(doc, 0, 1, "LOC")]
    write_docbin([doc], tmp_path / "a.spacy")
    (job,) = plan([tmp_path / "a.spacy"], tmp_path / "a.jsonl")
    assert +convert(job, {}).lost == {"spans in groups": 1}
    assert not +convert(job, {"spans_key": "sc"}).lost
    assert +convert(job, {"spans_key": "other"}).lost == {"entities": 1, "spans in groups": 2}


def test_an_option_of_another_form_is_refused(tmp_path, sample):
    (job,) = plan([sample(form_named("json"))], tmp_path / "a.spacy")
    with pytest.raises(ValueError, match="--predicted: no option of json, which has --characters"):
        convert(job, {"predicted": True})
    assert not (tmp_path / "a.spacy").exists()
