"""A few texts annotated in four tools: converted, learned, predicted, and sent back to the tool."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from factories import FACTORIES, bare
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.convert.plan import plan
from spacy_biaffine.formats.convert.run import convert

STEPS = 150

Place = tuple[int, int, str]

TEXTS = [
    "Anna Berg runs Nord Bank. It has its seat in Oslo.",
    "In Riga, Per Lund founded Baltic Oil; he sold it to Nord Bank.",
    "Baltic Oil moved to Tallinn.",
    "Nobody slept.",
]
ENTITIES = [
    [("Anna Berg", "PER"), ("Nord Bank", "ORG"), ("Oslo", "LOC")],
    [("Riga", "LOC"), ("Per Lund", "PER"), ("Baltic Oil", "ORG"), ("Nord Bank", "ORG")],
    [("Baltic Oil", "ORG"), ("Tallinn", "LOC")],
    [],
]
RELATIONS = [
    [(0, 1, "runs"), (1, 2, "seat")],
    [(1, 2, "founded")],
    [(0, 1, "seat")],
    [],
]


def places(number: int) -> list[Place]:
    """Start, end and label of the entities of a text."""
    text = TEXTS[number]
    return [(text.index(e), text.index(e) + len(e), label) for e, label in ENTITIES[number]]


def prodigy(folder: Path) -> Path:
    """What `prodigy db-out` prints after the recipe rel.manual, with its tokens."""
    lines = []
    for number, text in enumerate(TEXTS):
        doc = spacy.blank("en")(text)
        tokens = [
            {"text": t.text, "start": t.idx, "end": t.idx + len(t), "id": t.i, "disabled": False}
            for t in doc
        ]
        spans = []
        for start, end, label in places(number):
            span = doc.char_span(start, end)
            assert span is not None
            tokens_of = {"token_start": span.start, "token_end": span.end - 1}
            spans.append({"start": start, "end": end, **tokens_of, "label": label})
        relations = [
            {
                "head": spans[head]["token_end"],
                "child": spans[child]["token_end"],
                "head_span": spans[head],
                "child_span": spans[child],
                "color": "#c5bdf4",
                "label": label,
            }
            for head, child, label in RELATIONS[number]
        ]
        record = {
            **{"text": text, "_input_hash": number, "_task_hash": -number, "tokens": tokens},
            **{"_is_binary": False, "_view_id": "relations", "spans": spans},
            **{"relations": relations, "answer": "accept", "_timestamp": 1700000000},
        }
        lines.append(json.dumps(record))
    return written(folder / "db.jsonl", "\n".join(lines))


def doccano(folder: Path) -> Path:
    """An export as JSONL(relation)."""
    lines, count = [], 0
    for number, text in enumerate(TEXTS):
        entities = []
        for start, end, label in places(number):
            count += 1
            offsets = {"start_offset": start, "end_offset": end}
            entities.append({"id": count, "label": label, **offsets})
        relations = [
            {"id": 50 + n, "from_id": entities[h]["id"], "to_id": entities[t]["id"], "type": label}
            for n, (h, t, label) in enumerate(RELATIONS[number])
        ]
        record = {"id": number, "text": text, "entities": entities, "relations": relations}
        lines.append(json.dumps({**record, "Comments": []}))
    return written(folder / "all.jsonl", "\n".join(lines))


def label_studio(folder: Path) -> Path:
    """An export as JSON, with what the tool says beside."""
    tasks = []
    for number, text in enumerate(TEXTS):
        result: list[dict[str, Any]] = [
            {
                "id": f"r{n}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "origin": "manual",
                "value": {"start": s, "end": e, "text": text[s:e], "labels": [label]},
            }
            for n, (s, e, label) in enumerate(places(number))
        ]
        result += [
            {
                "from_id": f"r{head}",
                "to_id": f"r{tail}",
                "type": "relation",
                "direction": "right",
                "labels": [label],
            }
            for head, tail, label in RELATIONS[number]
        ]
        annotation = {"id": 7, "completed_by": 1, "result": result, "was_cancelled": False}
        tasks.append(
            {"id": number, "annotations": [annotation], "predictions": [], "data": {"text": text}}
        )
    return written(folder / "project.json", json.dumps(tasks))


def brat(folder: Path) -> Path:
    """The folder of a collection."""
    collection = folder / "collection"
    collection.mkdir()
    for number, text in enumerate(TEXTS):
        lines = [
            f"T{n}\t{label} {start} {end}\t{text[start:end]}\n"
            for n, (start, end, label) in enumerate(places(number), 1)
        ]
        lines += [
            f"R{n}\t{label} Arg1:T{head + 1} Arg2:T{tail + 1}\t\n"
            for n, (head, tail, label) in enumerate(RELATIONS[number], 1)
        ]
        written(collection / f"doc-{number}.txt", text)
        written(collection / f"doc-{number}.ann", "".join(lines))
    return collection


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


TOOLS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "prodigy": (prodigy, "found.jsonl"),
    "doccano": (doccano, "found.jsonl"),
    "label-studio": (label_studio, "found.json"),
    "brat": (brat, "found"),
}
"""What the tool gives, and the name of what goes back."""


@pytest.mark.parametrize("tool", TOOLS)
def test_from_a_tool_to_a_component_and_back(tool: str, tmp_path: Path) -> None:
    export, name = TOOLS[tool]
    (job,) = plan([export(tmp_path)], tmp_path / "train.spacy")
    assert job.reads is not None and job.reads.name == tool
    convert(job, {}, lang="en")
    gold = list(read_docbin(tmp_path / "train.spacy", Vocab()))
    assert list(map(facts, gold)) == [
        (text, set(places(n)), related(n)) for n, text in enumerate(TEXTS)
    ]

    predicted = learned(gold)
    assert list(map(facts, predicted)) == list(map(facts, gold))

    write_docbin(predicted, tmp_path / "found.spacy")
    (job,) = plan([tmp_path / "found.spacy"], tmp_path / name, to=tool)
    assert set(+convert(job, {}).lost) <= {"sentences"}
    (job,) = plan([tmp_path / name], tmp_path / "again.spacy")
    assert job.reads is not None and job.reads.name == tool
    convert(job, {}, lang="en")
    again = list(read_docbin(tmp_path / "again.spacy", Vocab()))
    assert list(map(facts, again)) == list(map(facts, predicted))


def learned(gold: list[Doc]) -> list[Doc]:
    """The same texts as a graph parser finds them that has learned them by heart."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    next(each for each in FACTORIES if each.kind == "relations").add_to(nlp)
    examples = [Example(bare(doc), doc) for doc in gold]
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.01, L2=0.0, grad_clip=1.0)
    for _ in range(STEPS):
        nlp.update(examples, sgd=optimizer)
    return list(nlp.pipe(bare(doc) for doc in gold))


def related(number: int) -> set[tuple[Place, Place, str]]:
    entities = places(number)
    return {(entities[head], entities[tail], label) for head, tail, label in RELATIONS[number]}


def facts(doc: Doc) -> tuple[str, set[Place], set[tuple[Place, Place, str]]]:
    """Text, entities and relations by characters."""
    entities = {(span.start_char, span.end_char, span.label_) for span in doc.ents}
    relations = {
        (
            (each.head.start_char, each.head.end_char, each.head.label_),
            (each.tail.start_char, each.tail.end_char, each.tail.label_),
            each.label,
        )
        for each in doc._.relations
    }
    return doc.text, entities, relations
