"""Words into wordpieces, long texts into overlapping windows. numpy only: no model, no Doc."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer


class Pieces(NamedTuple):
    """The wordpieces of one text, special tokens left out.

    ids (n_pieces,): vocabulary ids.
    starts (n_words + 1,): word w owns the pieces starts[w] to starts[w + 1], perhaps none.
    """

    ids: np.ndarray
    starts: np.ndarray


class Window(NamedTuple):
    """A run of pieces read in one go, and the words which take their vector from it.

    start, end: the pieces of the text in the window, end exclusive.
    words (n,): words of the text, each with at least one piece.
    """

    start: int
    end: int
    words: np.ndarray


def cut_words(tokenizer: Tokenizer, words: list[str], most: int) -> Pieces:
    """Cut each word on its own, so that pieces never straddle two words.

    Whitespace is not shown to the tokenizer, which may give it pieces or not. Control and
    zero-width characters may have no pieces either. Of a very long word the first `most` are kept.
    """
    visible = np.array([i for i, word in enumerate(words) if word.strip()], dtype=np.int64)
    encoding = tokenizer.encode(
        [words[i] for i in visible], is_pretokenized=True, add_special_tokens=False
    )
    owner = visible[np.array(encoding.word_ids, dtype=np.int64)]
    counts = np.bincount(owner, minlength=len(words))
    place = np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]
    ids = np.array(encoding.ids, dtype=np.int64)[place < most]
    starts = np.concatenate([[0], np.cumsum(np.minimum(counts, most))])
    return Pieces(ids, starts.astype(np.int64))


def cut_windows(starts: np.ndarray, size: int, stride: int) -> list[Window]:
    """Cover a text with windows of about equal length, at most `size` pieces, each word whole, that
    share `size - stride` pieces with the next one, or up to a word less.

    A word in several windows takes its vector from the one with the most pieces on its poorer
    side. Needs pieces per word <= stride <= size. A text without pieces has no window.
    """
    ranges = _word_ranges(starts, size, stride)
    best = np.full(len(starts) - 1, -1)
    owner = np.zeros(len(starts) - 1, dtype=np.int64)
    for i, (first, last) in enumerate(ranges):
        left = starts[first:last] - starts[first]
        right = starts[last] - starts[first + 1 : last + 1]
        context = np.minimum(left, right)
        better = context > best[first:last]
        best[first:last][better] = context[better]
        owner[first:last][better] = i
    has_pieces = np.diff(starts) > 0
    windows = [
        Window(int(starts[first]), int(starts[last]), np.flatnonzero((owner == i) & has_pieces))
        for i, (first, last) in enumerate(ranges)
    ]
    return [window for window in windows if len(window.words)]


def _word_ranges(starts: np.ndarray, size: int, stride: int) -> list[tuple[int, int]]:
    """The windows as word ranges, end exclusive: as few as possible, and then as short as possible,
    so that they are about equal."""
    overlap, total = size - stride, int(starts[-1])
    widest = _full_windows(starts, size, stride)
    if len(widest) < 2:
        return widest
    share = -(-(total - overlap) // len(widest))
    for shorter in range(max(share, int(np.diff(starts).max())), stride):
        ranges = _full_windows(starts, shorter + overlap, shorter)
        if len(ranges) == len(widest):
            return ranges
    return widest


def _full_windows(starts: np.ndarray, size: int, stride: int) -> list[tuple[int, int]]:
    """Word ranges that hold as much as fits into `size` pieces; the last one holds the rest."""
    n_words = len(starts) - 1
    ranges: list[tuple[int, int]] = []
    first = last = 0
    while last < n_words and starts[-1]:
        last = int(np.searchsorted(starts, starts[first] + size, side="right")) - 1
        ranges.append((first, last))
        first = int(np.searchsorted(starts, starts[first] + stride, side="right")) - 1
    return ranges


def pooling_bags(window: Window, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which positions of the window make up each of its words.

    Returns positions (n_pieces,), counted from the window's first piece, word after word, and
    sizes (n_words,), the number of positions of each word.
    """
    begins = starts[window.words]
    sizes = starts[window.words + 1] - begins
    ends = np.cumsum(sizes)
    positions = np.repeat(begins - window.start - (ends - sizes), sizes)
    return positions + np.arange(len(positions)), sizes
