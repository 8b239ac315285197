"""Windows over long texts, checked against their definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_biaffine.encoders.wordpieces import cut_windows, pooling_bags

COUNTS = st.lists(st.integers(0, 4), max_size=60)


def _starts(counts: list[int]) -> np.ndarray:
    return np.cumsum([0, *counts])


@given(COUNTS, st.integers(4, 12), st.integers(0, 8))
def test_every_word_is_whole_in_its_most_central_window(counts, stride, more):
    starts, size = _starts(counts), stride + more
    windows = cut_windows(starts, size, stride)
    owned = np.concatenate([np.zeros(0, int), *(window.words for window in windows)])
    assert sorted(owned) == [w for w, count in enumerate(counts) if count]
    for window in windows:
        assert 0 < window.end - window.start <= size
        for word in window.words:
            context = min(starts[word] - window.start, window.end - starts[word + 1])
            others = [min(starts[word] - w.start, w.end - starts[word + 1]) for w in windows]
            assert context == max(others)
            assert context >= 0


def test_short_text_is_one_window():
    (window,) = cut_windows(_starts([1, 0, 3]), size=4, stride=4)
    assert (window.start, window.end, list(window.words)) == (0, 4, [0, 2])


def test_windows_are_few_and_about_equal():
    """Eleven pieces: three windows at least, which share two pieces."""
    windows = cut_windows(_starts([1] * 11), size=6, stride=4)
    assert [(w.start, w.end) for w in windows] == [(0, 5), (3, 8), (6, 11)]


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(4, 12), st.integers(0, 8))
def test_neighbours_share_what_was_asked_for(counts, stride, more):
    windows = cut_windows(_starts(counts), stride + more, stride)
    for left, right in itertools.pairwise(windows):
        assert left.end - right.start >= more - 2


@pytest.mark.parametrize("counts", [[], [0], [0, 0]])
def test_no_pieces_no_window(counts):
    assert cut_windows(_starts(counts), size=8, stride=4) == []


def test_pooling_bags_by_hand():
    starts = _starts([2, 1, 0, 2])
    (window,) = cut_windows(starts, size=8, stride=4)
    positions, sizes = pooling_bags(window, starts)
    assert list(positions) == [0, 1, 2, 3, 4]
    assert list(sizes) == [2, 1, 2]
    second_half = window._replace(start=2, words=np.array([1, 3]))
    assert [list(x) for x in pooling_bags(second_half, starts)] == [[0, 1, 2], [1, 2]]
