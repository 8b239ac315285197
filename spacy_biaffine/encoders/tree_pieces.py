"""Trees over words as trees over wordpieces. numpy only: no model, no Doc."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..types import Ints
from .wordpieces import Pieces, Window, cut_windows, cut_words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_PIECES_PER_WORD = 32


class PieceReading(NamedTuple):
    """How sentences are read in wordpieces.

    prefix, suffix: ids of the special pieces around a text. size, stride: pieces in a window, and
    from the start of one to the next, special ones left out. inner_label: the label of arcs from
    the further pieces of a word to its first; None gives them the arc of the first.
    """

    prefix: list[int]
    suffix: list[int]
    size: int
    stride: int
    inner_label: int | None


class WordTree(NamedTuple):
    """The tree of a sentence, (m,) each: heads as places in it, -1 for none; numbers of labels and
    tags."""

    heads: Ints
    labels: Ints
    tags: Ints


class PieceTree(NamedTuple):
    """A window, special pieces included, (n,) each.

    pieces: ids. heads: place of the head, -1 for none. labels, tags: numbers. owners: the word that
    takes its vector from the piece, counted as `words`, -1 for none.
    """

    pieces: Ints
    heads: Ints
    labels: Ints
    tags: Ints
    owners: Ints


def piece_trees(
    tokenizer: Tokenizer,
    texts: list[str],
    words: Ints,
    tree: WordTree,
    reading: PieceReading,
) -> list[PieceTree]:
    """A sentence in windows, one as a rule.

    texts, words: its words and their numbers. The first piece of a word has its arc, to the first
    piece of its head; heads outside of a window or without pieces are left out. Every piece has the
    tag.
    """
    pieces = cut_words(tokenizer, texts, min(MAX_PIECES_PER_WORD, reading.stride))
    windows = cut_windows(pieces.starts, reading.size, reading.stride)
    return [_window_tree(window, pieces, words, tree, reading) for window in windows]


def _window_tree(
    window: Window,
    pieces: Pieces,
    words: Ints,
    tree: tuple[Ints, Ints, Ints],
    reading: PieceReading,
) -> PieceTree:
    heads, labels, tags = tree
    starts = pieces.starts
    numbers = np.arange(window.start, window.end)
    word = np.searchsorted(starts, numbers, side="right") - 1
    is_first = numbers == starts[word]
    head = heads[word]
    lead = np.where(head >= 0, starts[head], -1)
    found = (lead >= window.start) & (lead < window.end) & (starts[head] < starts[head + 1])
    lead = np.where(found, lead, -1)
    label = labels[word]
    if reading.inner_label is not None:
        lead = np.where(is_first, lead, starts[word])
        label = np.where(is_first, label, reading.inner_label)
    place = np.where(lead >= 0, lead - window.start + len(reading.prefix), -1)
    owner = np.where(is_first & np.isin(word, window.words), words[word], -1)
    around = (len(reading.prefix), len(reading.suffix))
    return PieceTree(
        np.concatenate([reading.prefix, pieces.ids[numbers], reading.suffix]).astype(np.int64),
        np.pad(place, around, constant_values=-1),
        np.pad(label, around),
        np.pad(tags[word], around),
        np.pad(owner, around, constant_values=-1),
    )
