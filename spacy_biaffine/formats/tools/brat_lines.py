"""Lines of brat's standoff annotation, of a file .ann beside a text.

    T1	Loc 0 4	Oslo
    T2	Move 5 10	moved
    T3	Org 11 15;24 28	Nord Bank       pieces that are apart
    R1	In Arg1:T1 Arg2:T3
    E1	Move:T2 Theme:T3 Theme2:T1       a trigger, roles; further ones of a name are numbered

Attributes (A, M), normalizations (N), notes (#) and equivalences (*) are counted.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ..common.lines import FormatError, Line

_TEXT_BOUND = re.compile(r"(T\S*)\t(\S+) (\d+ \d+(?:;\d+ \d+)*)(?:\t(.*))?")
_RELATION = re.compile(r"(R\S*)\t(\S+) \S+?:(\S+) \S+?:(\S+)\s*")
_EVENT = re.compile(r"(E\S*)\t(\S+?):(\S+)((?: \S+?:\S+)*)\s*")

_WANTED = {
    "T": "T1, a tab, TYPE START END, a tab, the text",
    "R": "R1, a tab, TYPE Arg1:T1 Arg2:T2",
    "E": "E1, a tab, TYPE:T1 ROLE:T2",
}
_COUNTED = {"A": "attributes", "M": "attributes", "N": "normalizations", "#": "notes"}


class Mark(NamedTuple):
    """An annotation of the text. pieces: where it begins and ends, once for each piece."""

    label: str
    pieces: list[tuple[int, int]]
    surface: str | None
    place: str


class Pair(NamedTuple):
    """A relation between two marks, by their ids."""

    label: str
    head: str
    tail: str
    place: str


class Event(NamedTuple):
    """trigger: the id of a mark. roles: label, and id of a mark or of another event."""

    label: str
    trigger: str
    roles: list[tuple[str, str]]
    place: str


@dataclass
class Standoff:
    """What a file says. others: how much there is of what is counted alone."""

    marks: dict[str, Mark] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    events: dict[str, Event] = field(default_factory=dict)
    others: Counter[str] = field(default_factory=Counter)

    def mark_of(self, name: str, place: str) -> Mark:
        """The mark of this id, or the trigger of the event. Raises FormatError for others."""
        return self.marks[self.id_of(name, place)]

    def id_of(self, name: str, place: str) -> str:
        """The id of the same mark."""
        found = self.events[name].trigger if name in self.events else name
        if found not in self.marks:
            detail = f"{found!r:.40} is named here, and nowhere marked"
            raise FormatError(place, "reference", detail)
        return found


def read_standoff(lines: Iterable[Line]) -> Standoff:
    """What the lines say. Raises FormatError, with file and line."""
    found = Standoff()
    for place, line in lines:
        kind = line[:1]
        if not line.strip():
            continue
        if kind in _COUNTED:
            found.others[_COUNTED[kind]] += 1
        elif kind == "*":
            found.others["equivalences"] += 1
        elif kind in _WANTED:
            _add(found, kind, line, place)
        else:
            raise FormatError(place, "line", f"no line of brat: {line[:60]!r}")
    return found


def _add(found: Standoff, kind: str, line: str, place: str) -> None:
    if kind == "T" and (match := _TEXT_BOUND.fullmatch(line)):
        ends = [piece.split() for piece in match[3].split(";")]
        pieces = [(int(start), int(end)) for start, end in ends]
        _once(found.marks, match[1], place)
        found.marks[match[1]] = Mark(match[2], pieces, match[4], place)
    elif kind == "R" and (match := _RELATION.fullmatch(line)):
        found.pairs.append(Pair(match[2], match[3], match[4], place))
    elif kind == "E" and (match := _EVENT.fullmatch(line)):
        named = [role.partition(":") for role in match[4].split()]
        labels = {label for label, _, _ in named}
        roles = [(_without_number(label, labels), target) for label, _, target in named]
        _once(found.events, match[1], place)
        found.events[match[1]] = Event(match[2], match[3], roles, place)
    else:
        raise FormatError(place, "line", f"wanted {_WANTED[kind]}, not {line[:60]!r}")


def _once(known: Iterable[str], name: str, place: str) -> None:
    if name in known:
        raise FormatError(place, "id", f"{name} is there twice")


def _without_number(label: str, labels: set[str]) -> str:
    """Theme for Theme2 where the event has Theme, too; ARG1 stays."""
    for end in range(1, len(label)):
        number = label[end:]
        is_number = number.isascii() and number.isdigit() and number[0] != "0" and number != "1"
        if is_number and label[:end] in labels:
            return label[:end]
    return label
