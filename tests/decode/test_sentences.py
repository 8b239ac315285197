"""Cutting Docs into sentences, and hanging up blanks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_biaffine.decode.sentences import (
    attach_blanks,
    cut_at_scores,
    cut_by_number,
    cut_overlong,
    starts_of_trees,
    starts_on_words,
)


def lists(cuts: list[np.ndarray]) -> list[list[int]]:
    return [cut.tolist() for cut in cuts]


def test_cut_by_number():
    words = np.array([3, 4, 6, 7, 9])
    assert lists(cut_by_number(words, np.array([1, 1, 2, 2, 5]))) == [[3, 4], [6, 7], [9]]
    assert lists(cut_by_number(words, np.zeros(5, int))) == [[3, 4, 6, 7, 9]]
    assert cut_by_number(words[:0], words[:0]) == []


def test_a_start_on_a_blank_is_one_of_the_next_word():
    # Token 1 and 4 are blank; sentences start at tokens 0, 1, 3, 4.
    numbers = np.cumsum([1, 1, 0, 1, 1, 0])
    words = np.array([0, 2, 3, 5])
    assert starts_on_words(words, numbers[words]).tolist() == [2, 3, 5]
    assert starts_on_words(words[:0], words[:0]).tolist() == []


def test_cut_at_scores():
    words = np.arange(10, 16)
    scores = np.array([-1, 2, -1, 0, 0.1, -3], dtype=np.float32)
    assert lists(cut_at_scores(words, scores, 100)) == [[10], [11, 12, 13], [14, 15]]
    assert lists(cut_at_scores(words[:1], scores[:1], 100)) == [[10]]
    assert cut_at_scores(words[:0], scores[:0], 100) == []


def test_long_sentences_are_cut_at_their_best():
    words = np.arange(6)
    scores = np.array([-9, -5, -2, -4, -3, -1], dtype=np.float32)
    assert lists(cut_at_scores(words, scores, 4)) == [[0, 1], [2, 3, 4, 5]]
    assert lists(cut_at_scores(words, scores, 3)) == [[0, 1], [2, 3, 4], [5]]
    assert lists(cut_at_scores(words, scores, 1)) == [[w] for w in range(6)]


@pytest.mark.parametrize("score", [-1.0, -np.inf])
def test_equal_words_make_the_fewest_sentences(score):
    cuts = cut_at_scores(np.arange(1000), np.full(1000, score, dtype=np.float32), 300)
    assert [len(cut) for cut in cuts] == [300, 300, 300, 100]


@given(st.lists(st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 1.0]), max_size=40), st.integers(1, 12))
def test_cut_at_scores_keeps_words_and_starts(values, max_length):
    words = np.arange(len(values)) + 5
    scores = np.array(values, dtype=np.float32)
    cuts = cut_at_scores(words, scores, max_length)
    assert [w for cut in cuts for w in cut] == words.tolist()
    assert all(0 < len(cut) <= max_length for cut in cuts)
    starts = {int(cut[0]) for cut in cuts}
    assert {int(w) for w, s in zip(words[1:], scores[1:], strict=True) if s > 0} <= starts
    if len(words) <= max_length:
        assert len(cuts) == (scores[1:] > 0).sum() + bool(values)


def test_cut_overlong():
    assert lists(cut_overlong(np.arange(4), 4)) == [[0, 1, 2, 3]]
    assert lists(cut_overlong(np.arange(5), 4)) == [[0, 1, 2], [3, 4]]
    assert lists(cut_overlong(np.arange(9), 4)) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert lists(cut_overlong(np.arange(3), 1)) == [[0], [1], [2]]


@pytest.mark.parametrize(
    ("heads", "starts", "wanted"),
    [
        ([-1, 1, -1, 1, -1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 3]),
        ([0, -1, -1, 3], [0, 0, 0, 0], [0, 0, 0, 3]),
        # A sentence starts at the blank: it belongs to the right.
        ([0, -1, 2], [1, 1, 0], [0, 2, 2]),
        # Starts before and behind: the blank is alone.
        ([0, -1, 2], [1, 1, 1], [0, 1, 2]),
        # A sentence of blanks alone hangs on the first of them.
        ([0, -1, -1, -1, 4], [1, 1, 0, 0, 1], [0, 1, 1, 1, 4]),
        ([-1, -1, -1], [0, 0, 0], [0, 0, 0]),
        ([-1], [1], [0]),
        ([], [], []),
    ],
)
def test_attach_blanks(heads, starts, wanted):
    found = attach_blanks(np.array(heads, dtype=np.int64), np.array(starts, dtype=bool))
    assert found.tolist() == wanted


@st.composite
def forests(draw) -> tuple[list[int], list[int]]:
    """Heads of random trees side by side, however crossed, and where each tree starts."""
    heads: list[int] = []
    starts: list[int] = []
    for size in draw(st.lists(st.integers(1, 30), max_size=4)):
        starts.append(len(heads))
        order = draw(st.permutations(range(len(heads), len(heads) + size)))
        tree = {order[0]: order[0]}
        for i in range(1, size):
            tree[order[i]] = order[draw(st.integers(max(0, i - 2), i - 1))]
        heads += [tree[i] for i in sorted(tree)]
    return heads, starts


@given(forests())
def test_starts_of_trees(forest):
    heads, starts = forest
    assert np.flatnonzero(starts_of_trees(np.array(heads, dtype=np.int64))).tolist() == starts
