"""The JSON lines of SciERC (Luan et al. 2018), also used by its successors -> Docs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..common.lines import UTF8, FormatError
from ..common.records import Record, count_rest, json_records
from .to_docs import (
    ENTITIES,
    RelationReport,
    annotate,
    check_no_relations,
    doc_of,
    entity_of,
    relation_type,
)


def read_scierc(
    path: Path,
    vocab: Vocab,
    *,
    related_sentences: bool = False,
    spans_key: str = ENTITIES,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: RelationReport | None = None,
) -> Iterator[Doc]:
    """A Doc with sentence starts for each document, a line.

    {"doc_key": , "sentences": [[token, ...], ...], "ner": per sentence [[first, last, type], ...],
    "relations": per sentence [[first, last, first, last, label], ...]}, where numbers count the
    tokens of the document, the last one included. Other keys, such as "clusters", are not read, but
    counted. Without
    "ner" or "relations" a Doc has no such annotation.

    related_sentences: instead, a Doc for each sentence that has a relation; papers count these.
    spans_key: the group for the entities; see `annotate`. skip_bad: leave out documents that can't
    be read. Raises FormatError, with file and line.
    """
    report = RelationReport() if report is None else report
    for place, load in json_records(path, encoding):
        cut = partial(_parts, place, load, report, related_sentences=related_sentences)
        for parts in report.attempt(cut, skip_bad=skip_bad):
            for part in parts:
                make = partial(_doc, vocab, part, place, spans_key=spans_key, report=report)
                yield from report.attempt(make, skip_bad=skip_bad)


@dataclass(frozen=True)
class _Part:
    """Sentences of a document whose first token has the number offset in it."""

    key: Any
    offset: int
    sentences: list[list[str]]
    entities: list[list[Any]] | None
    relations: list[list[Any]] | None


def _parts(
    place: str, load: Callable[[], Record], report: RelationReport, *, related_sentences: bool
) -> list[_Part]:
    record = load()
    count_rest(record, ("doc_key", "sentences", "ner", "relations"), "", report)
    if "ner" not in record:
        check_no_relations(record, "ner", place)
    layers = {name: record[name] for name in ("sentences", "ner", "relations") if name in record}
    sentences: list[list[str]] = layers.get("sentences", [])
    for name, layer in layers.items():
        if not isinstance(layer, list) or not all(isinstance(each, list) for each in layer):
            raise FormatError(place, "form", f'"{name}" must be a list of lists, one per sentence')
        if len(layer) != len(sentences):
            detail = f'"{name}" is for {len(layer)} sentences, of which there are {len(sentences)}'
            raise FormatError(place, "form", detail)
    if "sentences" not in layers:
        raise FormatError(place, "form", 'the object has no "sentences"')
    key = record.get("doc_key")
    if not related_sentences:
        entities, relations = (
            [each for per_sentence in layers[name] for each in per_sentence]
            if name in layers
            else None
            for name in ("ner", "relations")
        )
        return [_Part(key, 0, sentences, entities, relations)]
    starts = [0, *accumulate(map(len, sentences))]
    return [
        _Part(f"{key}:{at}", starts[at], [sentences[at]], layers["ner"][at], relations)
        for at, relations in enumerate(layers.get("relations", ()))
        if relations
    ]


def _doc(vocab: Vocab, part: _Part, place: str, *, spans_key: str, report: RelationReport) -> Doc:
    doc = doc_of(vocab, [word for words in part.sentences for word in words], place)
    for start in accumulate(len(words) for words in part.sentences[:-1]):
        if start < len(doc):
            doc[start].is_sent_start = True
    if part.entities is None:
        report.texts += 1
        return doc
    entities = [_entity(doc, part, each, place) for each in part.entities]
    by_edges = {(entity.start, entity.end): entity for entity in reversed(entities)}
    relations = None
    if part.relations is not None:
        relations = [_relation(part, by_edges, each, place) for each in part.relations]
    report.not_kept["values behind labels"] += sum(
        len(each) - size
        for values, size in ((part.entities, 3), (part.relations or [], 5))
        for each in values
    )
    return annotate(
        doc,
        entities,
        relations,
        place,
        spans_key=spans_key,
        report=report,
        identifier=part.key,
    )


def _entity(doc: Doc, part: _Part, entity: Any, place: str) -> Span:
    first, last, label = _numbers(entity, 3, place)
    return entity_of(doc, first - part.offset, last + 1 - part.offset, label, place)


def _relation(
    part: _Part, by_edges: dict[tuple[int, int], Span], relation: Any, place: str
) -> tuple[Span, Span, str]:
    *edges, label = _numbers(relation, 5, place)
    pairs = [(at - part.offset, last + 1 - part.offset) for at, last in (edges[:2], edges[2:])]
    missing = [pair for pair in pairs if pair not in by_edges]
    if missing:
        raise FormatError(
            place,
            "relation",
            f"the relation {relation} does not join two of the entities in ner; "
            f"its numbers must be theirs",
        )
    return by_edges[pairs[0]], by_edges[pairs[1]], relation_type(label, place)


def _numbers(values: Any, count: int, place: str) -> list[Any]:
    """The values, of which all but the last are numbers. Scores after the label are left out."""
    if not isinstance(values, list) or len(values) < count:
        raise FormatError(place, "form", f"{values!r} has no {count - 1} numbers and a label")
    values = values[:count]
    if any(type(value) is not int for value in values[:-1]):
        raise FormatError(place, "form", f"{values!r} has no {count - 1} numbers and a label")
    return values
