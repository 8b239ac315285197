"""Words with arguments that are words: CoNLL-2009, Universal Propositions."""

import re
from collections.abc import Iterator, Sequence

from ..common.lines import FormatError, unread_cells
from ..conllu.read import Sentence
from .read import (
    Block,
    Piece,
    Prop,
    PropSentence,
    check_ids,
    check_tree_cells,
    check_widths,
    make_prop,
)

NONE = "_"

CONLL09 = 14
"""Columns of CoNLL-2009 that every word has."""

CONLL09_COLUMNS = (
    *("ID", "FORM", "LEMMA", "PLEMMA", "POS", "PPOS", "FEAT", "PFEAT", "HEAD", "PHEAD"),
    *("DEPREL", "PDEPREL", "FILLPRED", "PRED"),
)

UP = 11
"""Columns of Universal Propositions that every word has: those of CoNLL-U, and the sense."""

_RANGE_OR_EMPTY = re.compile(r"([0-9]{1,9})([-.])([0-9]{1,9})", re.ASCII)


def parse_conll09_block(block: Block, *, predicted: bool, blind: bool = False) -> PropSentence:
    """One sentence.

    predicted: take lemma, tag, features and tree from the columns of automatic tools, and not those
    of the annotators. blind: there are no columns of arguments. A predicate without a sense, _, has
    None. Raises FormatError.
    """
    block, comments = _without_comments(block)
    rows = _rows(block, CONLL09)
    check_ids(block, [row[0] for row in rows])
    for (place, _), row in zip(block, rows, strict=True):
        if row[12] not in ("Y", NONE) or (row[12] == NONE != row[13]):
            detail = f"FILLPRED {row[12]!r}, PRED {row[13]!r}; wanted Y and a sense or _, else _, _"
            raise FormatError(place, "predicate", detail)
    predicates = [word for word, row in enumerate(rows) if row[12] == "Y"]
    check_widths(block, rows, CONLL09, [] if blind else predicates)
    shift = int(predicted)
    cells = []
    for number, form, *columns in rows:
        lemma, tag, feats, head, deprel = columns[shift:10:2]
        cells.append([number, form, lemma, NONE, tag, feats, head, deprel, NONE, NONE])
    sentence = Sentence(comments, cells, [], False, place=block[0][0] if block else "")
    check_tree_cells(block, sentence)
    arguments = [] if blind else [row[CONLL09:] for row in rows]
    senses = [row[13] for row in rows]
    read = (0, 1, 12, 13, *range(2 + shift, 12, 2))
    unread = unread_cells([row[:CONLL09] for row in rows], read, CONLL09_COLUMNS)
    return PropSentence(sentence, list(_props(predicates, senses, arguments)), unread)


def parse_up_block(block: Block) -> PropSentence:
    """One sentence. Cells that are empty, as at the ends of lines, are no columns.

    Multiword tokens and empty nodes are kept as in CoNLL-U. A sentence whose senses are all empty
    is not annotated. Raises FormatError.
    """
    block, comments = _without_comments(block)
    words: Block = []
    further: Block = []
    others = []
    for place, line in block:
        if _RANGE_OR_EMPTY.fullmatch(line.split("\t", 1)[0]):
            further.append((place, line))
            others.append((len(words), "\t".join(line.split("\t")[:10])))
        else:
            words.append((place, line))
    rows = _rows(words, 10)
    if not any("".join(row[10:]) for row in rows):
        return PropSentence(Sentence(comments, [row[:10] for row in rows], others, False), None)
    rows = _rows(words, UP)
    check_ids(words, [row[0] for row in rows])
    rows = [row[:UP] + [cell for cell in row[UP:] if cell] for row in rows]
    senses = [row[10] for row in rows]
    predicates = [word for word, sense in enumerate(senses) if sense != NONE]
    check_widths(words, rows, UP, predicates)
    _check_others(further, others, len(words))
    starts_doc = any(comment.startswith("# newdoc") for comment in comments)
    cells = [row[:10] for row in rows]
    sentence = Sentence(comments, cells, others, starts_doc, place=words[0][0])
    check_tree_cells(words, sentence)
    return PropSentence(sentence, list(_props(predicates, senses, [row[UP:] for row in rows])))


def _check_others(block: Block, others: Sequence[tuple[int, str]], n_words: int) -> None:
    """Raises FormatError for multiword tokens and empty nodes that are not where they belong.

    others: the lines of the block, each with the number of words before it.
    """
    _rows(block, 10)
    range_end = 0
    for (place, _), (before, line) in zip(block, others, strict=True):
        identifier = line.split("\t", 1)[0]
        match = _RANGE_OR_EMPTY.fullmatch(identifier)
        assert match is not None
        first, last = int(match[1]), int(match[3])
        if match[2] == ".":
            fits = first == before
        else:
            fits = range_end <= before == first - 1 < last <= n_words
            range_end = last
        if not fits:
            detail = (
                f"ID {identifier!r} behind word {before} of {n_words}; {before}.N can stand there, "
                f"or {before + 1}-N up to the last word, in no other range"
            )
            raise FormatError(place, "ID", detail)


def _without_comments(block: Block) -> tuple[Block, list[str]]:
    words = [each for each in block if not each[1].startswith("#")]
    return words, [line for _, line in block if line.startswith("#")]


def _rows(block: Block, fixed: int) -> list[list[str]]:
    rows = [line.split("\t") for _, line in block]
    for (place, line), row in zip(block, rows, strict=True):
        if len(row) < fixed:
            detail = f"{len(row)} columns, wanted {fixed} or more, between tabs: {line[:60]!r}"
            raise FormatError(place, "columns", detail)
        if "" in row[:fixed]:
            detail = f"column {row.index('') + 1} is empty; write _ for a missing value"
            raise FormatError(place, "empty column", detail)
    return rows


def _props(
    predicates: Sequence[int], senses: Sequence[str], arguments: Sequence[Sequence[str]]
) -> Iterator[Prop]:
    """arguments: per word, the cells of the predicates' columns."""
    for number, predicate in enumerate(predicates):
        sense = senses[predicate]
        pieces: list[tuple[str, Piece]] = [
            (cells[number], (word, word + 1))
            for word, cells in enumerate(arguments)
            if cells[number] != NONE
        ]
        yield make_prop(predicate, None if sense == NONE else sense, pieces)
