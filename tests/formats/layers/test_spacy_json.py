"""spaCy's own JSON, in and out: graphs are kept too, and what it does not give back is refused."""

import json
from pathlib import Path

import pytest
import spacy
from factories import gold_docs
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import frames_of
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.convert.plan import plan
from spacy_biaffine.formats.convert.run import convert
from spacy_biaffine.formats.forms import form_named, form_of
from spacy_biaffine.formats.layers.spacy_json import read_spacy_json, spacy_json_text


def written(path: Path, *records: dict) -> Path:
    path.write_text(json.dumps(list(records)), encoding="utf-8")
    return path


def graphs(doc: Doc) -> list[str]:
    return [str(doc._.relations), str(doc._.dep_graph), str(frames_of(doc))]


def test_there_and_back(tmp_path):
    docs = gold_docs(Vocab())
    write_docbin(docs, tmp_path / "a.spacy")
    (job,) = plan([tmp_path / "a.spacy"], tmp_path / "a.jsonl", form_named("spacy-json"))
    assert not +convert(job, {}).lost
    assert form_of(tmp_path / "a.jsonl") is form_named("spacy-json")
    (job,) = plan([tmp_path / "a.jsonl"], tmp_path / "b.spacy")
    convert(job, {})
    again = list(read_docbin(tmp_path / "b.spacy", Vocab()))
    assert [doc.to_json() for doc in again] == [doc.to_json() for doc in docs]
    assert list(map(graphs, again)) == list(map(graphs, docs))


def test_plain_text_of_spacy_is_recognized(tmp_path):
    doc = spacy.blank("en")("Rain  fell, didn't it? ")
    doc.spans["sc"] = [Span(doc, 0, 2, "X")]
    path = written(tmp_path / "a.json", doc.to_json())
    assert form_of(path) is form_named("spacy-json")
    (again,) = read_spacy_json(path, Vocab())
    assert again.to_json() == doc.to_json()


def test_values_of_extensions_are_counted(tmp_path):
    record = Doc(Vocab(), words=["a"], tags=["X"], ents=["O"]).to_json()
    path = written(tmp_path / "a.json", {**record, "_": {"never_registered": 1}})
    report = form_named("spacy-json").report()
    assert len(list(read_spacy_json(path, Vocab(), report=report))) == 1
    assert report.not_kept == {"_": 1}
    assert not Doc.has_extension("never_registered")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ents": [{"start": 1, "end": 4, "label": "X"}]}, "no Doc of spaCy"),
        ({"tokens": [{"id": 0, "start": 0, "end": 4}]}, "no Doc of spaCy|the tokens give"),
        ({"text": "Sun rose"}, "no Doc of spaCy|the tokens give"),
        ({"spans": {"sc": [{"start": 0, "end": 4, "label": "X"}]}}, "no Doc of spaCy"),
        ({"tokens": None}, "no Doc of spaCy"),
    ],
)
def test_bad_objects_are_told(tmp_path, change, message):
    record = Doc(Vocab(), words=["Rain", "fell"], ents=["O", "O"]).to_json()
    path = written(tmp_path / "a.json", {**record, **change})
    with pytest.raises(FormatError, match=rf"a\.json:1 \(object 0\): ({message})"):
        list(read_spacy_json(path, Vocab()))


def test_what_it_does_not_give_back_is_refused():
    """Of some tokens it is not known whether they are in an entity; spaCy's JSON would say no."""
    doc = Doc(Vocab(), words=["Oslo", "fjord"], ents=["B-LOC", ""])
    with pytest.raises(ValueError, match="does not give back ENT_IOB of this Doc; --form layers"):
        spacy_json_text(doc)
    doc = Doc(Vocab(), words=["Oslo"])
    doc.ents = [Span(doc, 0, 1, "LOC", kb_id="Q585")]
    with pytest.raises(ValueError, match="ENT_KB_ID"):
        spacy_json_text(doc)
