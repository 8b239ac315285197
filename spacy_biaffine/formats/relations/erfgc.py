"""Recipes as graphs, the English Recipe Flow Graph Corpus in columns -> Docs.

Donatelli et al. 2021, "Aligning Actions Across Recipe Graphs"; the corpus is that of Yamakata,
Mori and Carroll 2020. It looks like CoNLL-U, and is not: a block is a whole recipe, further heads
stand in a Python list, and rows may end before the last column.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...decode.bioes import spans_of_tags
from ..common.lines import (
    UTF8,
    FormatError,
    Line,
    blocks,
    check_encoding,
    numbered_lines,
    unread_cells,
)
from ..entities.bio_columns import checked_tag, count_stray
from .to_docs import ENTITIES, RelationReport, annotate, doc_of

FORM, POS, LABEL, HEAD, DEPREL, FURTHER = 1, 3, 4, 6, 7, 8

Edge = tuple[int, str]
"""The number of the head, from 1, and the label."""


@dataclass
class ErfgcReport(RelationReport):
    """cut: lists of further heads that the file breaks off after the first of them."""

    cut: int = 0

    def rows(self) -> list[tuple[str, int]]:
        rows = super().rows()
        return [*rows, ("lists of heads cut in the file", self.cut)] if self.cut else rows


def read_erfgc(
    path: Path,
    vocab: Vocab,
    *,
    spans_key: str = ENTITIES,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: ErfgcReport | None = None,
) -> Iterator[Doc]:
    """A Doc of one sentence for each recipe.

    Columns, by tabs: ID, FORM, LEMMA, part of speech (RASP, to token.tag_), BIO tag of the entity,
    FEATS, HEAD, DEPREL, and a list of further (HEAD, DEPREL). HEAD 0 is no head. An edge joins the
    first words of two entities; it becomes a relation from the entity of the word to that of its
    head, so that in `TreeArcs` each word has one head. Lists of several further heads are cut short
    in the corpus; what is left of them is read, and counted.

    skip_bad: leave out what can't be read. Raises FormatError, with file and line.
    """
    report = ErfgcReport() if report is None else report
    for lines in blocks(numbered_lines(path, encoding)):
        make = partial(_doc, lines, vocab, spans_key, report)
        yield from report.attempt(make, skip_bad=skip_bad)


def _doc(lines: list[Line], vocab: Vocab, spans_key: str, report: ErfgcReport) -> Doc:
    check_encoding(lines)
    rows = [(place, line.split("\t")) for place, line in lines]
    for number, (place, cells) in enumerate(rows, start=1):
        if len(cells) < FURTHER + 1 or cells[0] != str(number):
            detail = f"wanted nine columns or more, by tabs, the first of them {number}"
            raise FormatError(place, "columns", detail)
    first = rows[0][0]
    doc = doc_of(vocab, [cells[FORM] for _, cells in rows], first)
    for token, (_, cells) in zip(doc, rows, strict=True):
        token.tag_ = cells[POS] if cells[POS] != "_" else ""
    tags = [checked_tag(place, cells[LABEL]) for place, cells in rows]
    entities = [Span(doc, start, end, label=kind) for start, end, kind in spans_of_tags(tags)]
    by_first = {entity.start + 1: entity for entity in entities}
    relations = [
        (_entity(by_first, number, place), _entity(by_first, head, place), label)
        for number, (place, cells) in enumerate(rows, start=1)
        for head, label in _edges(place, cells)
    ]
    columns = [cells[:FURTHER] for _, cells in rows]
    report.not_kept.update(unread_cells(columns, (0, FORM, POS, LABEL, HEAD, DEPREL)))
    report.cut += sum(_further(cells).endswith(",") for _, cells in rows)
    annotate(doc, entities, relations, first, spans_key=spans_key, report=report)
    report.stray += count_stray(tags)
    return doc


def _edges(place: str, cells: list[str]) -> list[Edge]:
    """The first head and the further ones; none for HEAD 0."""
    further = _further(cells)
    if further.endswith(","):
        further += "]"
    try:
        head = int(cells[HEAD])
        others = [] if further == "_" else ast.literal_eval(further)
        edges = [(head, cells[DEPREL]), *((int(other), str(label)) for other, label in others)]
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        detail = f"no heads: {cells[HEAD]!r:.40}, {further!r:.60}; wanted 3 and [(5, 'label')]"
        raise FormatError(place, "heads", detail) from error
    return [edge for edge in edges if edge[0]]


def _further(cells: list[str]) -> str:
    """The list of further heads: a blank in it is a tab in the corpus, and MISC may follow it."""
    return " ".join(cells[FURTHER:]).removesuffix(" _").strip()


def _entity(by_first: dict[int, Span], number: int, place: str) -> Span:
    if number not in by_first:
        detail = f"an edge at word {number}, which begins no entity"
        raise FormatError(place, "edge", detail)
    return by_first[number]
