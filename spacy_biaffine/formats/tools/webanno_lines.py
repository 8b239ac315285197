"""Lines of WebAnno TSV 3: layers of the header, and what stands on each line.

    #T_SP=custom.Span|label
    #T_RL=custom.Relation|label|BT_custom.Span

    #Text=Nord Bank bought Riga Oil
    1-1	0-4	Nord	ORG[1]	_	_
    1-2	5-9	Bank	ORG[1]	_	_
    1-3	10-16	bought	_	_	_
    1-4	17-21	Riga	ORG[2]	owns	1-1[1_2]
    1-5	22-25	Oil	ORG[2]	_	_

A token has a line, a part of it another one (1-4.1), each with a column for every feature. `_` is
no annotation, `*` one without a value; `|` stands between stacked ones, and a number in brackets
tells annotations apart. A relation stands where it ends; its last column says where it begins, and
the numbers of both ends.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..common.lines import FormatError, Line

SPANS, RELATIONS, CHAINS = "#T_SP=", "#T_RL=", "#T_CH="

FORMAT = "#FORMAT=WebAnno TSV 3"

_BASE = "BT_"

_LABELS = ("value", "label")
"""Features that label an annotation; without them the first one does."""

_SYNTAX = {"POS", "Lemma", "Stem", "MorphologicalFeatures", "Dependency", "SurfaceForm"}
"""Built-in layers, by the ends of their names, that the tools export as CoNLL-U."""

_UNIT = re.compile(r"\d+-\d+(\.\d+)?\t(\d+)-(\d+)\t[^\t]")
_STACK = re.compile(r"((?:\\.|[^\\|])+)\|?")
_ITEM = re.compile(r"((?:\\.|[^\\\[])+)(?:\[(\d+)\])?")
_ESCAPE = re.compile(r"\\(->|.)")
_BEGIN = re.compile(r"(\d+-\d+(?:\.\d+)?)(?:\[(\d+)_(\d+)\])?")
_BLANKS = {"t": "\t", "n": "\n", "r": "\r"}


@dataclass(frozen=True)
class Layer:
    """A layer of the header. kind: how its line begins. features: names and columns, in order.
    base: the layer that a relation joins; begins: the column that says where a relation begins."""

    kind: str
    name: str
    features: dict[str, int]
    base: str = ""
    begins: int = -1

    @property
    def short(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def is_syntax(self) -> bool:
        return self.short in _SYNTAX

    @property
    def label(self) -> str:
        """The feature that is the label."""
        return next((name for name in _LABELS if name in self.features), next(iter(self.features)))


class Unit(NamedTuple):
    """A line of a token or of a part of one. begin, end: where it is in the document."""

    place: str
    number: str
    begin: int
    end: int
    text: str
    cells: list[str]
    starts_sentence: bool

    @property
    def is_part(self) -> bool:
        return "." in self.number


class Item(NamedTuple):
    """A value on a line, "" where there is none, and the number that tells annotations apart."""

    value: str
    number: str


class Begin(NamedTuple):
    """Where a relation begins: the line, and the numbers of its ends."""

    unit: str
    head: str
    tail: str


def layers_of(lines: Sequence[Line]) -> list[Layer]:
    """The layers that the header declares. Raises FormatError where it is another form."""
    place, first = lines[0] if lines else ("", "")
    if not first.removeprefix("\ufeff").startswith(FORMAT):
        raise FormatError(place, "form", f"the first line must begin with {FORMAT}")
    layers: list[Layer] = []
    column = 3
    for place, line in lines[1:]:
        kind = line[: len(SPANS)]
        if kind not in (SPANS, RELATIONS, CHAINS):
            if line.strip():
                break
            continue
        name, *features = line[len(kind) :].strip().split("|")
        base = ""
        if kind == RELATIONS and features and features[-1].startswith(_BASE):
            base = features.pop().removeprefix(_BASE)
        if kind == RELATIONS and not base:
            raise FormatError(place, "header", f"the relation {name} must end in |BT_ and a layer")
        columns = {feature: column + n for n, feature in enumerate(features or [""])}
        column += len(columns) + bool(base)
        layers.append(Layer(kind, name, columns, base, column - 1 if base else -1))
    return layers


def units_of(lines: Iterable[Line], width: int) -> Iterator[Unit]:
    """The lines of tokens. width: how many cells they have. Raises FormatError for others."""
    starts = True
    for place, line in lines:
        if not line.strip() or line.startswith("#"):
            starts |= line.startswith("#Text=") or not line.strip()
            continue
        match = _UNIT.match(line)
        cells = line.removesuffix("\t").split("\t")
        if match is None:
            detail = f"wanted 1-1, 0-4, a token and {width - 3} more cells, not {line[:60]!r}"
            raise FormatError(place, "line", detail)
        if len(cells) != width:
            detail = f"{len(cells)} cells between tabs; the header's layers make it {width}"
            raise FormatError(place, "line", detail)
        begin, end = int(match[2]), int(match[3])
        yield Unit(place, cells[0], begin, end, unescaped(cells[2]), cells, starts)
        starts = False


def items_of(unit: Unit, column: int) -> list[Item]:
    """The values in a column of a line; none for `_`. Raises FormatError."""
    cell = unit.cells[column]
    if cell == "_":
        return []
    found = []
    for text in _STACK.findall(cell):
        match = _ITEM.fullmatch(text)
        if match is None:
            raise FormatError(unit.place, "cell", f"{text!r:.60} is no value with a number in []")
        value = "" if match[1] in ("*", "_") else unescaped(match[1])
        found.append(Item(value, match[2] or ""))
    return found


def begins_of(unit: Unit, column: int) -> list[Begin]:
    """Where the relations begin that end on a line. Raises FormatError."""
    cell = unit.cells[column]
    found = []
    for text in [] if cell == "_" else cell.split("|"):
        match = _BEGIN.fullmatch(text)
        if match is None:
            detail = f"a relation begins at 1-1 or 1-1[1_2], not {text!r:.60}"
            raise FormatError(unit.place, "relation", detail)
        found.append(Begin(match[1], match[2] or "", match[3] or ""))
    return found


def unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _BLANKS.get(match[1], match[1]), text)


def escaped(text: str) -> str:
    """A value as a cell has it."""
    text = re.sub(r"[\\\[\]|_;*]|->", lambda match: "\\" + match[0], text)
    return text.replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")
