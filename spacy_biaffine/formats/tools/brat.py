"""Texts with brat's standoff annotation beside them -> Docs with entities, relations and frames.

An event is a frame: its trigger the predicate, its type the sense.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import spacy
from spacy.tokens import Doc, Span

from ...doc.graphs import Frame, Role, set_frames
from ..common.lines import UTF8, FormatError, check_encoding, numbered_lines, raw_lines
from ..entities.to_docs import Offsets, span_at
from ..relations.to_docs import ENTITIES
from .brat_lines import Event, Mark, Standoff, read_standoff
from .texts import AnnotatedText, Link, ToolReport, doc_of_text, offsets

TEXT, ANNOTATION = ".txt", ".ann"


class Layers(NamedTuple):
    """Whether any file of a collection has relations, and events; if none has, all are unknown."""

    relations: bool
    events: bool


def brat(
    paths: Iterable[Path],
    lang: str,
    report: ToolReport,
    *,
    skip_bad: bool = False,
    spans_key: str = ENTITIES,
    snap: bool = False,
    split_pieces: bool = False,
    encoding: str = UTF8,
) -> Iterator[Doc]:
    """A Doc for each text, in the order of names; of a folder, and of those in it.

    A text without .ann is not annotated. split_pieces: an entity for each piece of one whose
    pieces are apart; otherwise it reaches from the first to the last. Both are counted.
    Raises FormatError, also for an .ann without its text.
    """
    nlp = spacy.blank(lang)
    texts = list(_texts(paths))
    layers = _layers(texts)

    def make(path: Path) -> Doc:
        text = _text(path, encoding)
        if not path.with_suffix(ANNOTATION).exists():
            report.passed_over["without .ann, so not annotated"] += 1
            return nlp.make_doc(text)
        found = _standoff(path, encoding)
        report.not_kept.update(found.others)
        links = _links(found)
        named = {end for link in links for end, _ in (link.head, link.tail)}
        hidden = {event.trigger for event in found.events.values()} - named
        marks = {name: mark for name, mark in found.marks.items() if name not in hidden}
        entities = _entities(text, marks, split_pieces, report)
        said = AnnotatedText(text, entities, links if layers.relations else None)
        place = str(path.with_suffix(ANNOTATION))
        doc = doc_of_text(said, nlp, place, spans_key=spans_key, snap=snap, report=report)
        if layers.events:
            events = _Events(doc, found, snap, report)
            set_frames(doc, [events.frame(event) for event in found.events.values()])
            report.frames += len(found.events)
        return doc

    for path in texts:
        yield from report.attempt(partial(make, path), skip_bad=skip_bad)


def _texts(paths: Iterable[Path]) -> Iterator[Path]:
    """The texts of files and folders, also where they are missing."""
    for path in paths:
        if not path.is_dir():
            yield path.with_suffix(TEXT)
            continue
        found = {
            each.with_suffix(TEXT) for end in (TEXT, ANNOTATION) for each in path.rglob(f"*{end}")
        }
        if not found:
            raise FormatError(str(path), "folder", "no .txt and no .ann in this folder")
        yield from sorted(found)


def _layers(texts: Iterable[Path]) -> Layers:
    kinds: set[bytes] = set()
    for path in texts:
        if path.with_suffix(ANNOTATION).exists():
            with path.with_suffix(ANNOTATION).open("rb") as file:
                kinds.update(line[:1] for line in file)
    return Layers(b"R" in kinds, b"E" in kinds)


def _text(path: Path, encoding: str) -> str:
    """The text as it is: brat counts every character of the file."""
    if not path.exists():
        detail = f"{path.with_suffix(ANNOTATION).name} has no text beside it"
        raise FormatError(str(path), "no text", detail)
    lines = list(raw_lines(path, encoding))
    check_encoding((f"{path}:{number}", line) for number, line in enumerate(lines, 1))
    return "".join(lines)


def _standoff(path: Path, encoding: str) -> Standoff:
    lines = list(numbered_lines(path.with_suffix(ANNOTATION), encoding))
    check_encoding(lines)
    return read_standoff(lines)


def _links(found: Standoff) -> list[Link]:
    """Relations between the first pieces of marks."""
    links = []
    for pair in found.pairs:
        head, tail = (found.id_of(name, pair.place) for name in (pair.head, pair.tail))
        links.append(Link((head, 0), (tail, 0), pair.label))
    return links


def _entities(
    text: str, marks: Mapping[str, Mark], split: bool, report: ToolReport
) -> dict[tuple[str, int], Offsets]:
    """Entities by id and number of their piece."""
    entities = {}
    for name, mark in marks.items():
        pieces = mark.pieces
        if len(pieces) > 1:
            what = "split" if split else "joined"
            report.doubt(f"entities whose pieces are apart, {what}", mark.place)
            pieces = pieces if split else [(min(pieces)[0], max(end for _, end in pieces))]
        else:
            _check_surface(text, mark)
        for number, (start, end) in enumerate(pieces):
            entities[name, number] = offsets(start, end, mark.label, mark.place)
    return entities


def _check_surface(text: str, mark: Mark) -> None:
    """brat writes a line break within an annotation as a blank."""
    ((start, end),) = mark.pieces
    inside = " ".join(text[start:end].splitlines())
    if mark.surface is not None and inside.split() != mark.surface.split():
        detail = (
            f"[{start}, {end}) is {text[start:end]!r:.60} in the text, not {mark.surface!r:.60}"
        )
        raise FormatError(mark.place, "surface", detail)


class _Events:
    """The events of a file as frames of its Doc."""

    def __init__(self, doc: Doc, found: Standoff, snap: bool, report: ToolReport) -> None:
        self._doc, self._found, self._snap, self._report = doc, found, snap, report

    def frame(self, event: Event) -> Frame:
        roles = [Role(label, self._spans(target, event.place)) for label, target in event.roles]
        return Frame(self._spans(event.trigger, event.place), event.label, tuple(roles))

    def _spans(self, name: str, place: str) -> tuple[Span, ...]:
        """The pieces of a mark, or of the trigger of another event."""
        mark = self._found.mark_of(name, place)
        spans = [
            span_at(
                self._doc,
                offsets(start, end, mark.label, mark.place),
                mark.place,
                snap=self._snap,
                report=self._report,
            )
            for start, end in mark.pieces
        ]
        return tuple(self._doc[span.start : span.end] for span in spans)
