"""The JSON of token graphs that the code for normalized biaffine parsing reads -> Docs."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...decode.bioes import bioes_of_biluo, spans_of_tags
from ...doc.graphs import Arc, set_arcs
from ..common.lines import UTF8, FormatError
from ..common.records import Record, count_rest, json_records
from .to_docs import ENTITIES, RelationReport, annotate, doc_of

NO_TAG = "no_label"


def read_token_graphs(
    path: Path,
    vocab: Vocab,
    *,
    spans_key: str = ENTITIES,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: RelationReport | None = None,
) -> Iterator[Doc]:
    """A Doc of one sentence for each object of an array, or of a line.

    {"words": [...], "pos_tags": [...], "head_indices": [...], "head_tags": [...]}, with a value per
    word. A head is the number of a word from 1; the arc runs from it to the word at this place,
    and its label is at the same place of head_tags. Head 0 means that the word has no head: what
    the paper trains as an arc from the root is no arc here. Instead of one head and label there may
    be lists of them. Arcs go to doc._.dep_graph.

    pos_tags, where given: entities if all are BIO or BIOES tags (see `annotate` for spans_key), and
    otherwise token.tag_. skip_bad: leave out what can't be read. Raises FormatError, with file and
    line.
    """
    report = RelationReport() if report is None else report

    def make(place: str, load: Callable[[], Record]) -> Doc:
        record = load()
        doc = doc_of(vocab, record.get("words"), place)
        count_rest(record, ("words", "pos_tags", *_COLUMNS), "", report)
        heads, labels = (_column(record, name, doc, place) for name in _COLUMNS)
        edges = [
            (at, head, label)
            for at, pair in enumerate(zip(heads, labels, strict=True))
            for head, label in _pairs(*pair, place)
        ]
        arcs = [_arc(doc, head, at, label, place) for at, head, label in edges if head != 0]
        labelled = [label for _, head, label in edges if head == 0 and label not in _NONE]
        report.not_kept["labels of head 0, which is no arc"] += len(labelled)
        if "pos_tags" in record:
            tags = _column(record, "pos_tags", doc, place)
            _set_tags(doc, tags, place, spans_key, report)
        else:
            report.texts += 1
        once = list(dict.fromkeys(arcs))
        set_arcs(doc, once)
        report.arcs += len(once)
        report.repeated += len(arcs) - len(once)
        return doc

    for place, load in json_records(path, encoding):
        yield from report.attempt(partial(make, place, load), skip_bad=skip_bad)


_NONE = ("", "_", NO_TAG, None)

_COLUMNS = ("head_indices", "head_tags")


def _column(record: Record, name: str, doc: Doc, place: str) -> list[Any]:
    values = record.get(name)
    if not isinstance(values, list) or len(values) != len(doc):
        raise FormatError(place, "form", f'"{name}" must be a list of {len(doc)}, one per word')
    return values


def _pairs(heads: Any, labels: Any, place: str) -> list[tuple[Any, Any]]:
    if not isinstance(heads, list):
        return [(heads, labels)]
    if not isinstance(labels, list) or len(labels) != len(heads):
        raise FormatError(place, "form", f"as many labels as heads {heads} are wanted")
    return list(zip(heads, labels, strict=True))


def _arc(doc: Doc, head: Any, at: int, label: Any, place: str) -> Arc:
    if type(head) is not int or not 0 < head <= len(doc) or not isinstance(label, str):
        raise FormatError(
            place,
            "arc",
            f"word {at + 1} has head {head!r} and label {label!r}; wanted are a number from 0 to "
            f"{len(doc)} and a string",
        )
    return Arc(doc[head - 1], doc[at], label)


def _set_tags(
    doc: Doc, tags: list[Any], place: str, spans_key: str, report: RelationReport
) -> None:
    if not all(isinstance(tag, str) for tag in tags):
        raise FormatError(place, "tag", "pos_tags must be strings")
    if all(tag in ("O", NO_TAG) or (tag[:2] in _PREFIXES and tag[2:]) for tag in tags):
        spans = spans_of_tags(["O" if tag == NO_TAG else bioes_of_biluo(tag) for tag in tags])
        entities = [Span(doc, start, end, label=kind) for start, end, kind in spans]
        annotate(doc, entities, None, place, spans_key=spans_key, report=report)
        return
    for token, tag in zip(doc, tags, strict=True):
        token.tag_ = tag
    report.texts += 1


_PREFIXES = tuple(f"{prefix}-" for prefix in "BIESLU")
