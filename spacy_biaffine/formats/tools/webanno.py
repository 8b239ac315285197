"""WebAnno TSV 3, as WebAnno and INCEpTION export it -> texts with entities and relations.

A file is a document. `webanno_lines` reads its lines.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import spacy
from spacy.tokens import Doc

from ..common.lines import UTF8, FormatError, Line, check_encoding, numbered_lines
from ..entities.to_docs import Offsets
from ..relations.to_docs import ENTITIES
from .texts import AnnotatedText, Link, ToolReport, doc_of_text, files_in
from .webanno_lines import (
    RELATIONS,
    SPANS,
    Item,
    Layer,
    Unit,
    begins_of,
    items_of,
    layers_of,
    units_of,
)

Key = tuple[str, str]
"""An annotation: its layer, and its number, or else the line that it stands on."""


def webanno(
    paths: Iterable[Path],
    lang: str,
    report: ToolReport,
    *,
    skip_bad: bool = False,
    spans_key: str = ENTITIES,
    snap: bool = False,
    encoding: str = UTF8,
) -> Iterator[Doc]:
    """A Doc for each file, and for each .tsv of a folder, on the tool's tokens.

    Blanks between tokens become one. With skip_bad a bad file is left out. Raises FormatError.
    """
    nlp = spacy.blank(lang)

    def make(path: Path) -> Doc:
        lines = list(numbered_lines(path, encoding))
        check_encoding(lines)
        found, starts = _read(lines, report)
        doc = doc_of_text(found, nlp, str(path), spans_key=spans_key, snap=snap, report=report)
        for token, is_start in zip(doc, starts, strict=True):
            token.is_sent_start = is_start
        return doc

    for path in files_in(paths, ".tsv"):
        yield from report.attempt(partial(make, path), skip_bad=skip_bad)


def _read(lines: Sequence[Line], report: ToolReport) -> tuple[AnnotatedText, list[bool]]:
    """A file's text, and which of its tokens begin sentences."""
    layers = layers_of(lines)
    document = _Document(layers, report)
    width = 3 + sum(len(layer.features) + bool(layer.base) for layer in layers)
    for unit in units_of(lines, width):
        document.add(unit)
    return document.annotated(), document.starts


class _Document:
    """A document in the making, line by line."""

    def __init__(self, layers: Sequence[Layer], report: ToolReport) -> None:
        self.starts: list[bool] = []
        self._spans = [each for each in layers if each.kind == SPANS and not each.is_syntax]
        names = {layer.name for layer in self._spans}
        self._relations = [each for each in layers if each.kind == RELATIONS and each.base in names]
        self._others = [each for each in layers if each not in (*self._spans, *self._relations)]
        self._report = report
        self._text = ""
        self._tokens: list[tuple[int, int]] = []
        self._token: Unit | None = None
        self._entities: dict[Key, Offsets] = {}
        self._links: list[Link] = []

    def annotated(self) -> AnnotatedText:
        entities = self._entities if self._spans else None
        links = self._links if self._relations else None
        return AnnotatedText(self._text, entities, links, self._tokens)

    def add(self, unit: Unit) -> None:
        start, end = self._place_of(unit)
        for layer in self._spans:
            self._add_spans(layer, unit, start, end)
        for layer in self._relations:
            self._add_links(layer, unit)
        for layer in self._others:
            found = [items_of(unit, column) for column in layer.features.values()]
            self._report.not_kept[f"layer {layer.short}"] += max(map(len, found), default=0)

    def _place_of(self, unit: Unit) -> tuple[int, int]:
        """Where the unit is in the text, which has one blank between tokens that don't touch."""
        if unit.is_part:
            return self._part(unit)
        gap = " " if self._token and self._token.end != unit.begin else ""
        self._text += gap + unit.text
        self._token = unit
        self._tokens.append((len(self._text) - len(unit.text), len(self._text)))
        self.starts.append(unit.starts_sentence)
        return self._tokens[-1]

    def _part(self, unit: Unit) -> tuple[int, int]:
        """The same for a part of the last token. Characters beyond 0xFFFF count twice in files."""
        token = self._token
        if token is None or not token.begin <= unit.begin < unit.end <= token.end:
            raise FormatError(unit.place, "line", f"{unit.number} is no part of the token before")
        before = token.text.encode("utf-16-le")[: 2 * (unit.begin - token.begin)]
        start = self._tokens[-1][0] + len(before.decode("utf-16-le", "ignore"))
        return start, start + len(unit.text)

    def _add_spans(self, layer: Layer, unit: Unit, start: int, end: int) -> None:
        columns = {name: items_of(unit, column) for name, column in layer.features.items()}
        for number, item in enumerate(columns[layer.label]):
            key = _key(layer.name, item.number, unit.number)
            known = self._entities.get(key)
            label = item.value or layer.short
            if known is not None and known.label != label:
                detail = f"annotation {item.number} of {layer.short} is {label} and {known.label}"
                raise FormatError(unit.place, "label", detail)
            self._entities[key] = Offsets(known.start if known else start, end, label)
            if known is None:
                self._count_rest(layer, columns, number)

    def _add_links(self, layer: Layer, unit: Unit) -> None:
        columns = {name: items_of(unit, column) for name, column in layer.features.items()}
        begins = begins_of(unit, layer.begins)
        if len(begins) != len(columns[layer.label]):
            raise FormatError(unit.place, "relation", "as many relations as beginnings are wanted")
        for number, (item, begin) in enumerate(zip(columns[layer.label], begins, strict=True)):
            head = _key(layer.base, begin.head, begin.unit)
            tail = _key(layer.base, begin.tail, unit.number)
            self._links.append(Link(head, tail, item.value or layer.short))
            self._count_rest(layer, columns, number)

    def _count_rest(self, layer: Layer, columns: dict[str, list[Item]], number: int) -> None:
        """Count the values of an annotation that are not its label."""
        for name, items in columns.items():
            if name != layer.label and number < len(items) and items[number].value:
                self._report.not_kept[f"{name} of {layer.short}"] += 1


def _key(layer: str, number: str, unit: str) -> Key:
    return layer, unit if number in ("", "0") else f"[{number}]"
