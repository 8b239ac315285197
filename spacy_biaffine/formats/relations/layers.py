"""Layers beside a treebank (entities, relations, frames; JSON lines) -> Docs read from it."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span

from ...decode.pieces import join_pieces
from ...doc.graphs import Frame, Role, set_frames
from ..common.lines import FormatError
from ..common.records import Record, count_rest, json_records
from ..conllu.kept import KeptSentence, kept_sentences
from .spert import layers_of
from .to_docs import ENTITIES, RelationReport, annotate, entity_of

_LAYERS = ("entities", "relations", "frames")


def add_layers(
    docs: Iterable[Doc],
    path: Path,
    *,
    spans_key: str = ENTITIES,
    report: RelationReport | None = None,
) -> Iterator[Doc]:
    """The Docs, which come from CoNLL-U, with the layers of each of their sentences.

    {"sent_id": , "tokens": [...], "entities": , "relations": , "frames": [{"predicate": [token,
    ...], "sense": , "roles": [{"label": , "start": , "end": }]}]} is the object for the sentence of
    that sent_id. Entities and relations are as in `read_spert`, with spans_key; frames go to
    doc._.frames, where "C-X" is a further piece of the role "X" before it.
    A Doc is annotated with what all of its sentences are: where an object has no "relations", the
    Doc of its sentence has no such annotation, as against [], which says that there are none.
    Raises FormatError, with file and line, for a sentence without layers or with other tokens.
    """
    report = RelationReport() if report is None else report
    records: dict[str, tuple[str, Record]] = {}
    for place, load in json_records(path):
        record = load()
        sent_id = str(record.get("sent_id"))
        if sent_id in records:
            detail = f"sent_id {sent_id} stands at {records[sent_id][0]} already; keep one of them"
            raise FormatError(place, "layers", detail)
        records[sent_id] = place, record
    used: set[str] = set()
    for doc in docs:
        entities: list[Span] = []
        relations: list[tuple[Span, Span, str]] = []
        frames: list[Frame] = []
        layers = set(_LAYERS)
        found_layers: set[str] = set()
        for sentence in kept_sentences(doc):
            place, record = _record_of(doc, sentence, records, path)
            used.add(str(record["sent_id"]))
            count_rest(record, (*_LAYERS, "sent_id", "tokens"), "", report)
            found_layers.update(record)
            layers.intersection_update(record)
            if "entities" in record or "relations" in record:
                found, related = layers_of(doc, record, place, start=sentence.start)
                entities += found
                relations += related or []
            frames += _frames(doc, record, place, sentence.start)
        for name in found_layers.intersection(_LAYERS) - layers:
            report.not_kept[f"{name} of docs with sentences that have none"] += 1
        if "entities" in layers:
            related = relations if "relations" in layers else None
            annotate(doc, entities, related, str(path), spans_key=spans_key, report=report)
        else:
            report.texts += 1
        if "frames" in layers:
            set_frames(doc, frames)
            report.frames += len(frames)
        yield doc
    report.not_kept["layers of sentences that are not in the treebank"] += len(records) - len(used)


def _record_of(
    doc: Doc, sentence: KeptSentence, records: dict[str, tuple[str, Record]], path: Path
) -> tuple[str, Record]:
    sent_id = next(
        (
            value.strip()
            for name, equals, value in (
                line.lstrip("# ").partition("=") for line in sentence.lines("comments")
            )
            if equals and name.strip() == "sent_id"
        ),
        None,
    )
    if sent_id not in records:
        raise FormatError(str(path), "layers", f"no object for the sentence with sent_id {sent_id}")
    place, record = records[sent_id]
    words = [token.text for token in doc[sentence.start : sentence.end]]
    if record.get("tokens") != words:
        raise FormatError(
            place,
            "layers",
            f"the tokens of {sent_id} are {record.get('tokens')}, but {words} in the treebank. Are "
            f"multiword tokens merged there?",
        )
    return place, record


def _frames(doc: Doc, record: Record, place: str, start: int) -> list[Frame]:
    try:
        return [_frame(doc, each, place, start) for each in record.get("frames", ())]
    except (KeyError, TypeError) as error:
        raise FormatError(
            place,
            "form",
            f"frames need predicate, sense and roles, roles label, start and end ({error!r})",
        ) from error


def _frame(doc: Doc, frame: dict[str, Any], place: str, start: int) -> Frame:
    def span(first: int, end: int) -> Span:
        labelled = entity_of(doc, start + first, start + end, "piece", place)
        return doc[labelled.start : labelled.end]

    labels = [each["label"] for each in frame["roles"]]
    sense = frame["sense"]
    if not all(isinstance(label, str) and label for label in labels):
        raise FormatError(place, "form", f"labels of roles must be strings, not {labels}")
    if not isinstance(sense, str | None) or not frame["predicate"]:
        detail = f"a frame needs a predicate, and a string as sense or null, not {sense!r}"
        raise FormatError(place, "form", detail)
    pieces = [
        (label, span(each["start"], each["end"]))
        for label, each in zip(labels, frame["roles"], strict=True)
    ]
    roles = tuple(Role(label, tuple(spans)) for label, spans in join_pieces(pieces))
    predicate = tuple(span(i, i + 1) for i in frame["predicate"])
    return Frame(predicate, sense, roles)
