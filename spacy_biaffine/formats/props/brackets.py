"""Columns in bracket notation, "(A1*", "*", "*)", "(V*)", as CoNLL-2005 has them."""

import re
from collections.abc import Iterable, Sequence

from ..common.lines import FormatError
from .read import Piece

_LABEL = re.compile(r"[^()*\s]+")

_CELL = re.compile(rf"(?:\(({_LABEL.pattern}))?\*(\))?")


def read_brackets(cells: Sequence[str], places: Sequence[str]) -> list[tuple[str, Piece]]:
    """Labels and pieces of one column, in the order of the text.

    places: FILE:NUMBER of each cell. Raises FormatError for another notation, and for brackets that
    are not closed, not opened, or nested.
    """
    pieces = []
    label, start = None, 0
    for word, (cell, place) in enumerate(zip(cells, places, strict=True)):
        match = _CELL.fullmatch(cell)
        if match is None:
            detail = f"{cell!r} where (LABEL*, *, *) or (LABEL*) is wanted"
            raise FormatError(place, "brackets", detail)
        if match[1]:
            if label is not None:
                detail = f"({match[1]} opens inside ({label} of {places[start]}; close that first"
                raise FormatError(place, "brackets", detail)
            label, start = match[1], word
        if match[2]:
            if label is None:
                raise FormatError(place, "brackets", f"{cell!r} closes a bracket that none opened")
            pieces.append((label, (start, word + 1)))
            label = None
    if label is not None:
        detail = f"({label} is not closed in its sentence; end the argument with *)"
        raise FormatError(places[start], "brackets", detail)
    return pieces


def write_brackets(pieces: Iterable[tuple[str, Piece]], n_words: int) -> list[str]:
    """The column of these pieces, which must not overlap.

    Raises ValueError for a label with brackets, stars or blanks.
    """
    cells = ["*"] * n_words
    for label, (start, end) in pieces:
        if not _LABEL.fullmatch(label):
            raise ValueError(f"The label {label!r} can't stand in brackets; rename it.")
        cells[start] = f"({label}{cells[start]}"
        cells[end - 1] += ")"
    return cells
