"""Arguments in several pieces: the first bears the label X, every later one C-X."""

from collections.abc import Iterable
from typing import TypeVar

CONTINUATION = "C-"

PREDICATE = "V"

FURTHER = CONTINUATION + PREDICATE
"""Label of what a predicate has beside its first word ("wrote it down")."""

Piece = TypeVar("Piece")


def bare_label(label: str) -> str:
    """X of X and of C-X."""
    return label.removeprefix(CONTINUATION)


def labels_of_pieces(label: str, n_pieces: int) -> list[str]:
    """One label for each piece of an argument; of one that begins with C-X all are C-X."""
    return [label, *[CONTINUATION + bare_label(label)] * (n_pieces - 1)]


def join_pieces(pieces: Iterable[tuple[str, Piece]]) -> list[tuple[str, list[Piece]]]:
    """Arguments from labelled pieces in the order of the text.

    C-X goes to the last X before it, as in the CoNLL-2005 scorer; where there is none, it begins an
    argument, which keeps its label. To the scorer that one is an X.
    """
    arguments: list[tuple[str, list[Piece]]] = []
    last: dict[str, list[Piece]] = {}
    for label, piece in pieces:
        continued = last.get(bare_label(label))
        if label.startswith(CONTINUATION) and continued is not None:
            continued.append(piece)
        else:
            last[bare_label(label)] = begun = [piece]
            arguments.append((label, begun))
    return arguments
