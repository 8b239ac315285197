"""Files of Prodigy, doccano and Label Studio: read with their counts, and sent back."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import Relation
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.convert.plan import plan
from spacy_biaffine.formats.convert.run import convert
from spacy_biaffine.formats.forms import form_named, form_of

TOOLS = ["prodigy", "doccano", "label-studio"]

TEXT = "Anna Berg runs Nord AB 🌧 in Oslo."


def read(tmp_path: Path, form: str, *records: Any, **options: Any) -> tuple[list[Doc], Any]:
    path = tmp_path / "in.json"
    path.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    report = form_named(form).report()
    read_all = form_named(form).read
    assert read_all is not None
    return list(read_all([path], "en", report, **{"skip_bad": False, **options})), report


def facts(doc: Doc) -> tuple[Any, ...]:
    """Text, entities and relations."""
    entities = {(s.start_char, s.end_char, s.label_) for s in doc.spans.get("entities", [])}
    relations = {
        (
            r.head.start_char,
            r.head.end_char,
            r.head.label_,
            r.label,
            r.tail.start_char,
            r.tail.label_,
        )
        for r in doc._.relations
    }
    return doc.text, entities, relations


PERSON, COMPANY, CITY = (0, 9, "PER"), (15, 22, "ORG"), (28, 32, "LOC")


def made() -> tuple[Any, ...]:
    return (
        TEXT,
        {PERSON, COMPANY, CITY},
        {(*PERSON, "runs", 15, "ORG"), (*COMPANY, "in", 28, "LOC")},
    )


def prodigy_span(start: int, end: int, label: str | None) -> dict[str, Any]:
    return {"start": start, "end": end, "label": label}


PRODIGY = {
    "text": TEXT,
    "meta": {"source": "news"},
    "_input_hash": 1,
    "spans": [{**prodigy_span(*each), "source": "ner"} for each in (PERSON, COMPANY, CITY)],
    "relations": [
        {"head_span": prodigy_span(*PERSON), "child_span": prodigy_span(*COMPANY), "label": "runs"},
        {"head_span": prodigy_span(*COMPANY), "child_span": prodigy_span(*CITY), "label": "in"},
    ],
    "answer": "accept",
}
DOCCANO = {
    "id": 3,
    "text": TEXT,
    "entities": [
        {"id": n, "start_offset": start, "end_offset": end, "label": label}
        for n, (start, end, label) in enumerate((PERSON, COMPANY, CITY), 20)
    ],
    "relations": [
        {"id": 1, "from_id": 20, "to_id": 21, "type": "runs"},
        {"id": 2, "from_id": 21, "to_id": 22, "type": "in"},
    ],
    "Comments": ["sure?"],
}


def region(name: str, start: int, end: int, label: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": TEXT[start:end], "labels": [label]}
    return {"id": name, "from_name": "label", "to_name": "text", "type": "labels", "value": value}


LABEL_STUDIO = {
    "id": 1,
    "data": {"text": TEXT, "source": "news"},
    "annotations": [
        {"was_cancelled": True, "result": []},
        {
            "result": [
                {"type": "relation", "from_id": "a", "to_id": "b", "labels": ["runs"]},
                region("a", *PERSON),
                region("b", *COMPANY),
                region("c", *CITY),
                {
                    "type": "relation",
                    "from_id": "c",
                    "to_id": "b",
                    "direction": "left",
                    "labels": ["in"],
                },
                {"type": "choices", "value": {"choices": ["news"]}},
            ]
        },
    ],
}


@pytest.mark.parametrize(
    ("form", "record", "not_kept"),
    [
        ("prodigy", PRODIGY, {"of an entity: source": 3}),
        ("doccano", DOCCANO, {}),
        (
            "label-studio",
            LABEL_STUDIO,
            {"results of the type choices": 1, "cancelled annotations": 1},
        ),
    ],
)
def test_the_same_text_in_three_tools(
    form: str, record: Any, not_kept: dict[str, int], tmp_path: Path
) -> None:
    (doc,), report = read(tmp_path, form, record)
    assert facts(doc) == made()
    assert {span.text for span in doc.ents} == {"Anna Berg", "Nord AB", "Oslo"}
    assert (report.texts, report.entities, report.relations) == (1, 3, 2)
    assert +report.not_kept == not_kept
    assert form_of(tmp_path / "in.json") is form_named(form)


def test_what_docs_have_no_place_for_is_in_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(DOCCANO), encoding="utf-8")
    (job,) = plan([path], tmp_path / "a.spacy")
    rows = convert(job, {}, lang="en").rows()
    assert ("not kept: id", 1) in rows and ("not kept: Comments", 1) in rows


def test_rejected_and_ignored_texts_are_passed_over(tmp_path: Path) -> None:
    records = [PRODIGY, {**PRODIGY, "answer": "reject"}, {"text": "a", "answer": "ignore"}]
    docs, report = read(tmp_path, "prodigy", *records)
    assert len(docs) == 1
    assert ("texts passed over: reject", 1) in report.rows()
    assert ("texts passed over: ignore", 1) in report.rows()


def test_the_tokens_of_prodigy_stay(tmp_path: Path) -> None:
    tokens = [{"start": 0, "end": 2, "text": "a-"}, {"start": 2, "end": 3, "text": "b"}]
    record = {
        "text": "a-b",
        "tokens": tokens,
        "spans": [prodigy_span(0, 2, "X")],
        "relations": [{"head": 0, "child": 1, "label": "r"}],
    }
    (doc,), _ = read(tmp_path, "prodigy", record)
    assert [token.text for token in doc] == ["a-", "b"]
    (relation,) = doc._.relations
    assert (relation.head.label_, relation.tail.label_, len(doc.ents)) == ("X", "", 1)


def test_without_annotation(tmp_path: Path) -> None:
    """Unknown is not none."""
    for form, record in (
        ("prodigy", {"text": "Rain"}),
        ("doccano", {"text": "Rain"}),
        ("label-studio", {"data": {"text": "Rain"}, "annotations": []}),
    ):
        (doc,), _ = read(tmp_path, form, record)
        assert "entities" not in doc.spans and not doc.has_annotation("ENT_IOB")
        assert "relations" not in doc.spans


def test_sequence_labelling_of_doccano(tmp_path: Path) -> None:
    (doc,), _ = read(tmp_path, "doccano", {"text": TEXT, "label": [list(PERSON), list(CITY)]})
    assert facts(doc) == (TEXT, {PERSON, CITY}, set())
    assert "relations" not in doc.spans


def test_offsets_of_label_studio_as_browsers_count(tmp_path: Path) -> None:
    """The cloud is two units of UTF-16. Regions of hypertext count over the whole text."""
    city = region("c", 29, 33, "LOC")
    city["value"]["text"] = "Oslo"
    person = {
        "id": "a",
        "type": "hypertextlabels",
        "value": {
            "start": "/text()[1]",
            "end": "/text()[1]",
            "globalOffsets": {"start": 0, "end": 9},
            "hypertextlabels": ["PER"],
        },
    }
    task = {"data": {"text": TEXT}, "predictions": [{"result": [city, person]}]}
    (doc,), _ = read(tmp_path, "label-studio", task)
    assert facts(doc)[1] == {CITY, PERSON}


def test_both_directions(tmp_path: Path) -> None:
    related = {"type": "relation", "from_id": "a", "to_id": "c", "direction": "bi"}
    result = [region("a", *PERSON), region("c", *CITY), related]
    task = {"data": {"body": TEXT}, "annotations": [{"result": result}]}
    (doc,), _ = read(tmp_path, "label-studio", task, text_key="body")
    assert [(r.head.text, r.label, r.tail.text) for r in doc._.relations] == [
        ("Anna Berg", "relation", "Oslo"),
        ("Oslo", "relation", "Anna Berg"),
    ]
    with pytest.raises(FormatError, match=r"in.json:1: data has no text, but body; see --text-key"):
        read(tmp_path, "label-studio", task)


def test_offsets_that_cut_a_token(tmp_path: Path) -> None:
    cut = {"text": "Oslofjord is", "label": [[0, 4, "LOC"]]}
    with pytest.raises(FormatError, match="cuts a token of 'Oslofjord'; --snap"):
        read(tmp_path, "doccano", cut)
    (doc,), report = read(tmp_path, "doccano", cut, snap=True)
    assert doc.ents[0].text == "Oslofjord"
    assert ("entities moved to tokens", 1) in report.rows()


@pytest.mark.parametrize(
    ("form", "record", "message"),
    [
        ("prodigy", {"text": "a", "answer": "maybe"}, "accept, reject or ignore"),
        ("prodigy", {"text": "a", "spans": [], "relations": [{"head": 7}]}, "names token 7"),
        ("prodigy", {"text": "a", "spans": 3}, "another form"),
        ("doccano", {"text": "a", "label": [[0, 9, "X"]]}, "is not in the text"),
        ("doccano", {"text": "a", "label": [[0, 1, ""]]}, "a label must be"),
        ("doccano", {**DOCCANO, "relations": [{"from_id": 1, "to_id": 2, "type": "x"}]}, "names 1"),
        ("doccano", {"text": 3, "label": []}, "the text must be a string"),
        ("label-studio", {"data": {"text": "a"}, "annotations": [{}]}, "another form"),
    ],
)
def test_mistakes_are_told(form: str, record: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=f"in.json:2: .*{message}"):
        read(tmp_path, form, {"text": "a", "data": {"text": "a"}}, record)
    docs, report = read(tmp_path, form, {"text": "a", "data": {"text": "a"}}, record, skip_bad=True)
    assert len(docs) == 1 and len(report.errors) == 1


@pytest.mark.parametrize("form", TOOLS)
def test_a_hundred_texts_there_and_back(form: str, tmp_path: Path) -> None:
    """Docs -> tool -> Docs -> tool: every entity and relation, and the same file."""
    docs = generated(100)
    write_docbin(docs, tmp_path / "a.spacy")
    for source, target in (("a.spacy", "b.json"), ("b.json", "c.spacy"), ("c.spacy", "d.json")):
        to = {"to": form} if target.endswith(".json") else {"form": form_named(form)}
        (job,) = plan([tmp_path / source], tmp_path / target, **to)  # type: ignore[arg-type]
        assert not +convert(job, {}, lang="en").lost
    assert (tmp_path / "b.json").read_text(encoding="utf-8") == (tmp_path / "d.json").read_text(
        encoding="utf-8"
    )
    again = list(read_docbin(tmp_path / "c.spacy", Vocab()))
    assert list(map(facts, again)) == list(map(facts, docs))
    assert sum(len(doc._.relations) for doc in again) > 50


def generated(size: int) -> list[Doc]:
    """Texts with nested entities, and relations of some."""
    chance = random.Random(7)
    nlp = spacy.blank("en")
    docs = []
    for _ in range(size):
        words = [chance.choice(["Oslo", "é", "🌧", "Nord", "can't", "."]) for _ in range(8)]
        doc = nlp(" ".join(words))
        spans = {}
        for _ in range(chance.randrange(5)):
            start = chance.randrange(len(doc))
            end = chance.randrange(start, len(doc)) + 1
            spans[start, end] = Span(doc, start, end, chance.choice(["PER", "ORG"]))
        entities = sorted(spans.values(), key=lambda span: (span.start, -span.end))
        doc.spans["entities"] = entities
        doc.set_ents(spacy.util.filter_spans(entities), default="outside")
        pairs = [(a, b) for a in entities for b in entities if a is not b]
        chosen = chance.sample(pairs, min(len(pairs), chance.randrange(3)))
        doc._.relations = [Relation(a, b, chance.choice(["r", "s"])) for a, b in chosen]
        docs.append(doc)
    return docs
