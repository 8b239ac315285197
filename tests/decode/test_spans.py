"""Choosing spans, against all sets of spans without overlap."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_biaffine.decode.spans import choose_flat

N = 6
ALL = [(start, end) for start in range(N) for end in range(start + 1, N + 1)]


def choose(spans, scores, taken=()):
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    mask = np.isin(np.arange(N), taken)
    return choose_flat(starts, ends, np.array(scores, dtype=np.float32), mask).tolist()


def best_set(spans, scores, taken):
    """Among all sets without overlap the one whose scores, the best first, are highest."""

    def is_flat(chosen):
        tokens = [t for n in chosen for t in range(*spans[n])]
        return len(tokens) == len({*tokens}) and not {*tokens} & {*taken}

    subsets = (c for size in range(len(spans) + 1) for c in combinations(range(len(spans)), size))
    flat = (list(c) for c in subsets if is_flat(c))
    return max(flat, key=lambda chosen: sorted((scores[n] for n in chosen), reverse=True))


@given(
    st.lists(st.sampled_from(ALL), max_size=8),
    st.permutations(range(8)),
    st.sets(st.integers(0, N - 1), max_size=2),
)
def test_equals_brute_force(spans, ranks, taken):
    scores = [float(rank) for rank in ranks[: len(spans)]]
    assert choose(spans, scores, sorted(taken)) == best_set(spans, scores, taken)


@given(st.lists(st.sampled_from(ALL), max_size=8), st.permutations(range(8)), st.integers(0, 8))
def test_a_threshold_may_come_before_or_after(spans, ranks, threshold):
    scores = ranks[: len(spans)]
    above = [n for n, score in enumerate(scores) if score >= threshold]
    before = [above[n] for n in choose([spans[n] for n in above], [scores[n] for n in above])]
    assert before == [n for n in choose(spans, scores) if scores[n] >= threshold]


@pytest.mark.parametrize(
    ("spans", "scores", "chosen"),
    [
        ([], [], []),
        ([(0, 3), (2, 3)], [1.0, 2.0], [1]),
        ([(0, 3), (2, 3)], [2.0, 1.0], [0]),
        ([(0, 2), (2, 4)], [1.0, 2.0], [0, 1]),
        ([(0, 2), (0, 2)], [1.0, 1.0], [0]),
        # The middle one is best, though the outer two have more in sum.
        ([(0, 2), (1, 4), (3, 5)], [2.0, 3.0, 2.0], [1]),
    ],
)
def test_by_hand(spans, scores, chosen):
    assert choose(spans, scores) == chosen
