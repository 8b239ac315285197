"""JSON lines with character offsets <-> Docs."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ...doc.scores import entities_of, has_entities
from ..common.atomic import whole_text
from ..common.json_text import json_value
from ..common.lines import UTF8, FormatError, check_encoding, numbered_lines
from ..common.records import count_rest
from .report import EntityReport
from .to_docs import Offsets, Tokenize, annotate, is_label

Record = dict[str, Any]
KEYS = "json_keys"
"""Where doc.user_data has the other keys of a line that is annotated."""

ReadOffsets = Callable[[Record], list[Offsets] | None]
"""The entities of a line; None where it has no annotation. Raises ValueError."""


def read_entities_json(
    path: Path,
    tokenize: Tokenize,
    offsets: ReadOffsets,
    *,
    spans_key: str | None = None,
    snap: bool = False,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: EntityReport | None = None,
) -> Iterator[Doc]:
    """A Doc for each line, a JSON object with the key "text".

    offsets: `offsets_of` or `cluener_offsets`, the form of the entities. Lines without annotation
    give Docs without any. spans_key, snap: as in `annotate`. skip_bad: leave out lines that can't
    be read. Raises FormatError, with file and line.
    """
    report = EntityReport() if report is None else report
    own_key = "label" if offsets is cluener_offsets else "entities"

    def make(place: str, line: str) -> Doc:
        record = _record(place, line)
        try:
            found = offsets(record)
        except (ValueError, TypeError, AttributeError) as error:
            raise FormatError(place, "form", f"entities of another form: {error}") from error
        try:
            doc = tokenize(record["text"])
        except ValueError as error:  # longer than spaCy takes
            raise FormatError(place, "text", str(error)) from error
        further = {key: each for key, each in record.items() if key not in ("text", own_key)}
        if further:
            doc.user_data[KEYS] = further
        for each in record.get(own_key) or ():
            if isinstance(each, dict):
                count_rest(each, ("start", "end", "label", "text"), "of an entity:", report)
        if found is None:
            report.texts += 1
            return doc
        return annotate(doc, found, place, spans_key=spans_key, snap=snap, report=report)

    for place, line in numbered_lines(path, encoding):
        if line.strip():
            yield from report.attempt(partial(make, place, line), skip_bad=skip_bad)


def offsets_of(record: Record) -> list[Offsets] | None:
    """{"text": ..., "entities": [...]}, where the end is the character after the last.

    An entity is [start, end, label], or {"start": , "end": , "label": } where a "text" is compared
    with the text at that place.
    """
    if not _has(record, "entities"):
        return None
    return [_entity(entity) for entity in record["entities"]]


def cluener_offsets(record: Record) -> list[Offsets] | None:
    """{"text": ..., "label": {label: {surface: [[first, last], ...]}}}, the last one included."""
    if not _has(record, "label"):
        return None
    return [
        _offsets(first, last + 1, label, surface)
        for label, surfaces in record["label"].items()
        for surface, places in surfaces.items()
        for first, last in places
    ]


def write_entities_json(
    docs: Iterable[Doc], path: Path, *, spans_key: str | None = None
) -> EntityReport:
    """Write Docs in the form of `offsets_of`, and count them. Without annotation, text alone.

    Raises ValueError for a Doc that is annotated in part, which the form can't tell.
    """
    report = EntityReport()
    with whole_text(path) as file:
        for number, doc in enumerate(docs, 1):
            file.write(entities_text(doc, number, spans_key))
            report.texts += 1
            report.entities += len(entities_of(doc, spans_key))
    return report


def entities_text(doc: Doc, number: int = 1, spans_key: str | None = None) -> str:
    """A line of JSON: `entities_record`, and the other keys that the Doc's line had in the input.

    Raises ValueError for a Doc that is annotated in part, which the form can't tell.
    """
    if spans_key is None and _is_partial(doc):
        raise ValueError(
            f"Doc {number} is annotated in part: JSON can't tell which of its tokens are "
            f"unknown, and would have them outside of entities"
        )
    record = {**doc.user_data.get(KEYS, {}), **entities_record(doc, spans_key)}
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def entities_record(doc: Doc, spans_key: str | None = None) -> Record:
    """A Doc in the form of `offsets_of`; without annotation, text alone."""
    record: Record = {"text": doc.text}
    if has_entities(doc, spans_key):
        record["entities"] = [
            [span.start_char, span.end_char, span.label_] for span in entities_of(doc, spans_key)
        ]
    return record


def _is_partial(doc: Doc) -> bool:
    return len({token.ent_iob == 0 for token in doc if not token.is_space}) == 2


def _record(place: str, line: str) -> Record:
    check_encoding([(place, line)])
    try:
        record = json_value(line)
    except ValueError as error:
        raise FormatError(place, "json", str(error)) from error
    if not isinstance(record, dict) or not isinstance(record.get("text"), str):
        raise FormatError(place, "json", 'a line must be an object with a string as "text"')
    return record


def _has(record: Record, key: str) -> bool:
    """Whether there is annotation. Raises ValueError where it is of the other form."""
    other = {"entities": "label", "label": "entities"}[key]
    if key not in record and other in record:
        raise ValueError(f'the line has "{other}" and no "{key}"')
    return key in record


def _entity(entity: Any) -> Offsets:
    if isinstance(entity, dict):
        missing = {"start", "end", "label"} - set(entity)
        if missing:
            raise ValueError(f"{entity} has no {', '.join(sorted(missing))}")
        return _offsets(entity["start"], entity["end"], entity["label"], entity.get("text"))
    if not isinstance(entity, list) or len(entity) != 3:
        raise ValueError(f"an entity must be [start, end, label] or an object, not {entity!r:.80}")
    return _offsets(*entity)


def _offsets(start: Any, end: Any, label: Any, surface: Any = None) -> Offsets:
    if type(start) is not int or type(end) is not int:
        raise ValueError(f"offsets must be whole numbers, not {start!r} and {end!r}")
    if not is_label(label):
        raise ValueError(f"a label must be a string without blanks around it, not {label!r}")
    return Offsets(start, end, label, surface)
