"""Choosing arguments, against all sets of spans without overlap."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_biaffine.decode.roles import choose_arguments

N = 6
ALL = [(start, end) for start in range(N) for end in range(start + 1, N + 1)]
CANDIDATES = st.lists(
    st.tuples(st.sampled_from(ALL), st.integers(-2, 4)), max_size=8, unique_by=lambda c: c[0]
)


def choose(spans, *scores) -> list[list[tuple[int, int]]]:
    """Per row of scores, the chosen spans."""
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    chosen = choose_arguments(starts, ends, np.array(scores, dtype=np.float32))
    return [[spans[m] for m in np.flatnonzero(row)] for row in chosen]


def best_set(spans, scores) -> list[tuple[int, int]]:
    """The set with the highest sum; of several, the one without the last span they differ in."""
    by_end = sorted(range(len(spans)), key=lambda m: (spans[m][1], spans[m][0]))

    def is_flat(chosen):
        words = [word for m in chosen for word in range(*spans[m])]
        return len(words) == len({*words})

    def key(chosen):
        return sum(scores[m] for m in chosen), [m not in chosen for m in reversed(by_end)]

    subsets = (c for size in range(len(spans) + 1) for c in combinations(range(len(spans)), size))
    return [spans[m] for m in max((c for c in subsets if is_flat(c)), key=key)]


@given(CANDIDATES)
def test_equals_brute_force(candidates):
    spans, scores = [c[0] for c in candidates], [c[1] for c in candidates]
    assert choose(spans, scores) == [best_set(spans, scores)]


@given(CANDIDATES.flatmap(st.permutations))
def test_the_order_of_candidates_does_not_matter(candidates):
    spans, scores = [c[0] for c in candidates], [c[1] for c in candidates]
    (chosen,) = choose(spans, scores)
    assert sorted(chosen) == sorted(
        best_set(*zip(*sorted(candidates), strict=True)) if spans else []
    )


@given(st.lists(CANDIDATES, min_size=1, max_size=4))
def test_predicates_do_not_see_each_other(rows):
    """Several with candidates of their own, padded, are as each by itself."""
    width = max(len(row) for row in rows)
    starts, ends = np.zeros((2, len(rows), width), dtype=np.int64)
    scores = np.full((len(rows), width), -np.inf)
    for number, row in enumerate(rows):
        for place, ((start, end), score) in enumerate(row):
            starts[number, place], ends[number, place] = start, end
            scores[number, place] = score
    for row, chosen in zip(rows, choose_arguments(starts, ends, scores), strict=True):
        spans = [c[0] for c in row]
        assert [spans[m] for m in np.flatnonzero(chosen)] == best_set(spans, [c[1] for c in row])


@pytest.mark.parametrize(
    ("spans", "scores", "chosen"),
    [
        ([], [], []),
        ([(0, 2)], [0.0], []),
        ([(0, 2)], [-1.0], []),
        ([(0, 3), (2, 3)], [1.0, 2.0], [(2, 3)]),
        ([(0, 2), (2, 4)], [1.0, 2.0], [(0, 2), (2, 4)]),
        # The outer two have more in sum than the middle one, which is the best by itself.
        ([(0, 2), (1, 4), (3, 5)], [2.0, 3.0, 2.0], [(0, 2), (3, 5)]),
        # Equal sums: (1, 2) is the last span in which the sets differ.
        ([(0, 1), (1, 2), (0, 2)], [1.0, 1.0, 2.0], [(0, 2)]),
        ([(0, 1), (0, 1)], [1.0, 1.0], [(0, 1)]),
    ],
)
def test_by_hand(spans, scores, chosen):
    assert choose(spans, scores) == [chosen]


def test_words_as_arguments_are_all_taken():
    words = [(i, i + 1) for i in range(4)]
    assert choose(words, [1, -1, 2, 0], [-1, -1, -1, -1]) == [[(0, 1), (2, 3)], []]


def test_no_predicates():
    nothing = np.zeros((0, 3), dtype=np.int64)
    assert choose_arguments(nothing, nothing, nothing.astype(np.float32)).shape == (0, 3)


@pytest.mark.parametrize("score", [float("nan"), float("inf")])
def test_nan_and_infinity_are_refused(score):
    with pytest.raises(ValueError, match=r"Role scores contain (NaN|infinity)"):
        choose([(0, 1)], [score])
