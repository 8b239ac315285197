"""Docs -> texts with brat's standoff annotation."""

from collections import Counter
from collections.abc import Sequence

from spacy.tokens import Doc, Span

from ...doc.graphs import FRAMES, Frame, frames_of, has_graph
from ..relations.to_docs import ENTITIES
from .spans import Annotation

ARGUMENT, EVENT = "Argument", "Event"
"""Types of an argument that is no entity, and of a predicate without a sense."""


def brat_files(doc: Doc, spans_key: str = ENTITIES) -> dict[str, str]:
    """The text and the annotation of a Doc; frames are events. The text alone, where the Doc is not
    annotated. Raises ValueError for labels that brat can't hold."""
    found = Annotation(doc, spans_key)
    frames = frames_of(doc, FRAMES) if has_graph(doc, FRAMES) else None
    if found.entities is None and frames is None:
        return {".txt": doc.text}
    standoff = _Standoff(doc)
    for span in found.entities or ():
        standoff.mark(span.label_, [span])
    for number, each in enumerate(found.relations or (), 1):
        head, tail = (standoff.mark(span.label_, [span]) for span in (each.head, each.tail))
        standoff.lines.append(f"R{number}\t{_label(each.label)} Arg1:{head} Arg2:{tail}")
    for number, frame in enumerate(frames or (), 1):
        standoff.event(number, frame)
    return {".txt": doc.text, ".ann": "".join(line + "\n" for line in standoff.lines)}


class _Standoff:
    """The lines of a file, and the ids of what is marked."""

    def __init__(self, doc: Doc) -> None:
        self.lines: list[str] = []
        self._text = doc.text
        self._marks: dict[tuple[str, tuple[tuple[int, int], ...]], str] = {}
        self._entities: dict[tuple[tuple[int, int], ...], str] = {}
        self._count = 0

    def mark(self, label: str, spans: Sequence[Span]) -> str:
        """The id of an entity, which is marked once."""
        places = tuple((span.start_char, span.end_char) for span in spans)
        if (label, places) not in self._marks:
            self._marks[label, places] = self._new(label, places)
            self._entities.setdefault(places, self._marks[label, places])
        return self._marks[label, places]

    def event(self, number: int, frame: Frame) -> None:
        label = _label(frame.sense or EVENT)
        places = tuple((span.start_char, span.end_char) for span in frame.predicate)
        trigger = self._new(label, places)
        roles, seen = [], Counter[str]()
        for role in frame.roles:
            seen[role.label] += 1
            name = _label(role.label) + (str(seen[role.label]) if seen[role.label] > 1 else "")
            roles.append(f" {name}:{self._argument(role.spans)}")
        self.lines.append(f"E{number}\t{label}:{trigger}{''.join(roles)}")

    def _argument(self, spans: Sequence[Span]) -> str:
        """The id of an entity that is there, or of a new one."""
        places = tuple((span.start_char, span.end_char) for span in spans)
        return self._entities.get(places) or self.mark(ARGUMENT, spans)

    def _new(self, label: str, places: Sequence[tuple[int, int]]) -> str:
        self._count += 1
        ends = ";".join(f"{start} {end}" for start, end in places)
        surface = " ".join(" ".join(self._text[start:end].split("\n")) for start, end in places)
        self.lines.append(f"T{self._count}\t{_label(label)} {ends}\t{surface}")
        return f"T{self._count}"


def _label(label: str) -> str:
    if not label or ":" in label or len(label.split()) != 1 or label != label.strip():
        raise ValueError(f"brat has no place for the label {label!r}: no blanks, no colon")
    return label
