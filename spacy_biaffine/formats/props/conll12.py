"""CoNLL-2012, as OntoNotes' *_gold_conll: tags, named entities, senses, and brackets that nest."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span

from ..common.language import vocab_for
from ..common.lines import FormatError
from ..conllu.read import Sentence
from .api import read_props
from .read import Block, Piece, PropSentence, PropsReport, check_widths, make_prop

NONE = "-"
FIXED = 11
"""Columns before those of the predicates; coreference stands behind these."""

_NUMBER, _WORD, _TAG, _PARSE, _LEMMA, _SENSE, _WORD_SENSE, _SPEAKER, _ENTITY = range(2, FIXED)

_CELL = re.compile(r"((?:\([^()*\s]+)*)(\*?)(\)*)")

Labelled = list[tuple[str, Piece]]


@dataclass
class OntoNotesReport(PropsReport):
    """Counts filled while reading."""

    entities: int = 0

    def rows(self) -> list[tuple[str, int]]:
        return [*super().rows(), ("entities", self.entities)]


def read_conll12(
    paths: Iterable[Path], lang: str, report: OntoNotesReport, **options: Any
) -> Iterator[Doc]:
    """Docs with tags, lemmas of predicates, doc.ents and doc._.frames; options as of `read_props`.

    The sense is LEMMA.SENSE. Arguments that overlap are all kept. Raises FormatError.
    """
    waiting: deque[Labelled] = deque()

    def parse(block: Block) -> PropSentence:
        found, entities = parse_conll12_block(block, report)
        if found.sentence.words:
            waiting.append(entities)
        return found

    for path in paths:
        for doc in read_props(path, vocab_for(lang), parse, report=report, **options):
            entities = []
            for sentence in doc.sents:
                entities += [
                    Span(doc, sentence.start + start, sentence.start + end, label)
                    for label, (start, end) in waiting.popleft()
                ]
            doc.set_ents(entities, default="outside")
            report.entities += len(entities)
            yield doc


def parse_conll12_block(block: Block, report: OntoNotesReport) -> tuple[PropSentence, Labelled]:
    """One sentence, and its named entities. Raises FormatError."""
    words = [each for each in block if not each[1].startswith("#")]
    rows = [line.split() for _, line in words]
    for (place, line), row in zip(words, rows, strict=True):
        if len(row) <= FIXED:
            detail = f"{len(row)} columns, wanted {FIXED + 1} or more: {line[:60]!r}"
            raise FormatError(place, "columns", detail)
    places = [place for place, _ in words]
    predicates = [word for word, row in enumerate(rows) if row[_SENSE] != NONE]
    check_widths(words, rows, FIXED + 1, predicates)
    cells = [_cells(number, row) for number, row in enumerate(rows, 1)]
    starts_doc = any(line.startswith("#begin document") for _, line in block)
    sentence = Sentence([], cells, [], starts_doc, place=block[0][0])
    props = [
        make_prop(
            word,
            f"{rows[word][_LEMMA]}.{rows[word][_SENSE]}",
            read_nested([row[FIXED + number] for row in rows], places),
        )
        for number, word in enumerate(predicates)
    ]
    entities = read_nested([row[_ENTITY] for row in rows], places)
    report.not_kept["mentions of coreference"] += sum(row[-1].count("(") for row in rows)
    report.not_kept["senses of words"] += sum(row[_WORD_SENSE] != NONE for row in rows)
    report.not_kept["words with a speaker"] += sum(row[_SPEAKER] != NONE for row in rows)
    report.not_kept["trees of phrases"] += any("(" in row[_PARSE] for row in rows)
    return PropSentence(sentence, props), entities


def _cells(number: int, row: Sequence[str]) -> list[str]:
    lemma, tag = ("_" if value == NONE else value for value in (row[_LEMMA], row[_TAG]))
    return [str(number), row[_WORD], lemma, "_", tag, *"_" * 5]


def read_nested(cells: Sequence[str], places: Sequence[str]) -> Labelled:
    """Labels and pieces of one column, by first word, the longest first.

    Raises FormatError for another notation, and for brackets that are not closed or not opened.
    """
    pieces: Labelled = []
    opened: list[tuple[str, int]] = []
    for word, (cell, place) in enumerate(zip(cells, places, strict=True)):
        match = _CELL.fullmatch(cell)
        if match is None or not cell or not (match[2] or match[1]):
            detail = f"{cell!r:.40} where (LABEL*, *, *) or (LABEL) is wanted"
            raise FormatError(place, "brackets", detail)
        opened += [(label, word) for label in match[1].split("(")[1:]]
        for _ in match[3]:
            if not opened:
                raise FormatError(place, "brackets", f"{cell!r:.40} closes what is not open")
            label, start = opened.pop()
            pieces.append((label, (start, word + 1)))
    if opened:
        label, start = opened[-1]
        raise FormatError(places[start], "brackets", f"({label} is not closed in its sentence")
    pieces.reverse()  # of two with the same words the outer one closes later, and comes first
    return sorted(pieces, key=lambda piece: (piece[1][0], -piece[1][1]))
