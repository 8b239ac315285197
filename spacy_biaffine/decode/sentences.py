"""From start scores to sentences. Tokens are numbered over all the Docs of a batch."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def cut_by_number(words: Ints, numbers: Ints) -> list[Ints]:
    """Cut words (n,) wherever the number of their sentence, (n,), changes."""
    if not len(words):
        return []
    return np.split(words, np.flatnonzero(np.diff(numbers)) + 1)


def starts_on_words(words: Ints, numbers: Ints) -> Ints:
    """The words that are the first of a sentence, but for the first of all.

    numbers: (n,) number of each word's sentence. A start on a blank token is one of the next word.
    """
    return words[1:][np.diff(numbers) > 0]


def cut_at_scores(words: Ints, scores: NDArray[np.floating], max_length: int) -> list[Ints]:
    """Cut words (n,) where the start score, (n,), is above 0, and long sentences at their best.

    No sentence is longer than max_length words: the memory of a parse grows as its square.
    """
    starts = scores > 0
    begin = 0
    for end in [*(np.flatnonzero(starts[1:]) + 1), len(words)]:
        while end - begin > max_length:
            # Of equal scores the last one: equal words make long sentences, not many of one word.
            begin += max_length - int(scores[begin + max_length : begin : -1].argmax())
            starts[begin] = True
        begin = end
    return cut_by_number(words, np.cumsum(starts[: len(words)]))


def cut_overlong(sentence: Ints, max_length: int) -> list[Ints]:
    """Parts of at most max_length words, of about equal length."""
    if len(sentence) <= max_length:
        return [sentence]
    return np.array_split(sentence, -(-len(sentence) // max_length))


def overlapping(sentence: Ints, length: int) -> list[Ints]:
    """Windows of at most length words, each half over the one before.

    Whatever is no longer than half a window is whole in one of them.
    """
    step = max(1, length // 2)
    starts = range(0, max(1, len(sentence) - length + step), step)
    return [sentence[start : start + length] for start in starts]


def attach_blanks(heads: Ints, starts: NDArray[np.bool_]) -> Ints:
    """Give tokens without a head (-1) the word to their left, else to their right, as head.

    heads: (n,) token numbers; starts: (n,) where sentences begin that must not be crossed. In a
    sentence without words the first token is the head of all.
    """
    tokens = np.arange(len(heads))
    is_word = heads >= 0
    sentence = np.cumsum(starts)
    left = np.maximum.accumulate(np.where(is_word, tokens, -1))
    right = np.minimum.accumulate(np.where(is_word, tokens, len(heads))[::-1])[::-1]
    neighbour = np.maximum.accumulate(np.where(starts, tokens, 0))
    for side, exists in ((right, right < len(heads)), (left, left >= 0)):
        near = exists & (sentence[np.where(exists, side, 0)] == sentence)
        neighbour = np.where(near, side, neighbour)
    return np.where(is_word, heads, neighbour)


def starts_of_trees(heads: Ints) -> NDArray[np.bool_]:
    """Where the tree changes, (n,): heads (n,) are token numbers, the token itself at a root."""
    roots = heads
    for _ in range(len(heads).bit_length()):
        roots = roots[roots]
    starts = np.ones(len(heads), dtype=bool)
    starts[1:] = roots[1:] != roots[:-1]
    return starts
