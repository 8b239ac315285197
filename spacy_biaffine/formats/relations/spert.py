"""The JSON of SpERT (Eberts and Ulges 2020) <-> Docs with entities and relations."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...doc.graphs import RELATIONS, has_graph
from ...doc.scores import entities_of
from ..common.atomic import whole_text
from ..common.lines import UTF8, FormatError
from ..common.records import Record, count_rest, json_records
from .to_docs import (
    ENTITIES,
    RelationReport,
    annotate,
    check_no_relations,
    doc_of,
    entity_of,
    identifier_of,
    relation_type,
)

_KEYS = ("tokens", "entities", "relations", "orig_id")

_PARTS = {"entities": ("type", "start", "end"), "relations": ("type", "head", "tail")}


def read_spert(
    path: Path,
    vocab: Vocab,
    *,
    spans_key: str = ENTITIES,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: RelationReport | None = None,
) -> Iterator[Doc]:
    """A Doc of one sentence for each object of an array, or of a line.

    {"tokens": [...], "entities": [{"type": , "start": , "end": }], "relations": [{"type": ,
    "head": , "tail": }], "orig_id": }: end is the token after the last, head and tail are numbers
    of entities from 0. Without "entities" or "relations" a Doc has no such annotation. spans_key:
    the group for the entities; see `annotate`. skip_bad: leave out what can't be read.
    Raises FormatError, with file and line.
    """
    report = RelationReport() if report is None else report

    def make(place: str, load: Callable[[], Record]) -> Doc:
        record = load()
        doc = doc_of(vocab, record.get("tokens"), place)
        count_rest(record, _KEYS, "", report)
        if "entities" not in record:
            check_no_relations(record, "entities", place)
            report.texts += 1
            return doc
        entities, relations = layers_of(doc, record, place)
        for name, known in _PARTS.items():
            for each in record.get(name, ()):
                count_rest(each, known, f"of {name}:", report)
        return annotate(
            doc,
            entities,
            relations,
            place,
            spans_key=spans_key,
            report=report,
            identifier=record.get("orig_id"),
        )

    for place, load in json_records(path, encoding):
        yield from report.attempt(partial(make, place, load), skip_bad=skip_bad)


def layers_of(
    doc: Doc, record: Record, place: str, *, start: int = 0
) -> tuple[list[Span], list[tuple[Span, Span, str]] | None]:
    """Entities and relations (None where not annotated) of an object, on a Doc whose token start is
    the object's first. Raises FormatError at place.
    """
    try:
        entities = [
            entity_of(doc, start + each["start"], start + each["end"], each["type"], place)
            for each in record["entities"]
        ]
        if "relations" not in record:
            return entities, None
        return entities, [_relation(entities, each, place) for each in record["relations"]]
    except (KeyError, TypeError) as error:
        raise FormatError(
            place,
            "form",
            f"entities need type, start and end, relations type, head and tail ({error!r})",
        ) from error


def _relation(entities: list[Span], each: Record, place: str) -> tuple[Span, Span, str]:
    head, tail = (_entity_at(entities, each[end], place) for end in ("head", "tail"))
    return head, tail, relation_type(each["type"], place)


def _entity_at(entities: list[Span], at: Any, place: str) -> Span:
    if type(at) is not int or not 0 <= at < len(entities):
        detail = f"a relation names entity {at!r}, but there are {len(entities)}, counted from 0"
        raise FormatError(place, "relation", detail)
    return entities[at]


def write_spert(docs: Iterable[Doc], path: Path, *, spans_key: str = ENTITIES) -> int:
    """Write Docs as an array, an object a line, by `spert_record`; returns how many."""
    count = 0
    with whole_text(path) as file:
        file.write("[")
        for doc in docs:
            file.write(",\n" if count else "\n")
            file.write(json.dumps(spert_record(doc, spans_key), ensure_ascii=False))
            count += 1
        file.write("\n]\n")
    return count


def spert_text(doc: Doc, number: int = 1, spans_key: str = ENTITIES) -> str:
    """`spert_record` as JSON."""
    return json.dumps(spert_record(doc, spans_key), ensure_ascii=False, allow_nan=False)


def spert_record(doc: Doc, spans_key: str = ENTITIES) -> dict[str, Any]:
    """A Doc as an object of SpERT's JSON.

    Entities are those of the group, or of doc.ents where there is none, and all that relations
    name. There is no "relations" where the Doc is not annotated with them.
    """
    relations = doc._.relations
    named = [span for each in relations for span in (each.head, each.tail)]
    spans = [*entities_of(doc, spans_key if spans_key in doc.spans else None), *named]
    keys = sorted({_key(span) for span in spans})
    numbers = {key: at for at, key in enumerate(keys)}
    record: dict[str, Any] = {
        "tokens": [token.text for token in doc],
        "entities": [{"type": kind, "start": start, "end": end} for start, end, kind in keys],
    }
    if has_graph(doc, RELATIONS):
        record["relations"] = [
            {"type": each.label, "head": numbers[_key(each.head)], "tail": numbers[_key(each.tail)]}
            for each in relations
        ]
    identifier = identifier_of(doc, spans_key)
    return record if identifier is None else {**record, "orig_id": identifier}


def _key(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label_
