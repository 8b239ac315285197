"""Trees against brute force over all of them."""

import itertools
import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_biaffine.decode.finite import NotFiniteError
from spacy_biaffine.decode.mst import FORBIDDEN, decode_forests, decode_trees, is_tree

MASKS = [-np.inf, float(np.finfo(np.float32).min), FORBIDDEN]


@cache
def all_trees(n: int) -> np.ndarray:
    """(trees, n) heads of every tree with one root, found without the code under test."""
    trees = [
        heads
        for heads in itertools.product(range(n + 1), repeat=n)
        if heads.count(0) == 1 and all(reaches_root(heads, word) for word in range(1, n + 1))
    ]
    return np.array(trees, dtype=np.int64).reshape(-1, n)


def reaches_root(heads: tuple[int, ...], word: int) -> bool:
    for _ in heads:
        if word:
            word = heads[word - 1]
    return word == 0


def best(scores: np.ndarray) -> tuple[int, float]:
    """The fewest forbidden arcs that a tree needs, and the best score of such a tree."""
    n = len(scores)
    arcs = scores.astype(np.float64)[np.arange(n), all_trees(n)]
    forbidden = (arcs <= FORBIDDEN).sum(axis=1)
    fewest = forbidden.min()
    totals = np.where(arcs <= FORBIDDEN, 0.0, arcs).sum(axis=1)
    return int(fewest), float(totals[forbidden == fewest].max())


def value(scores: np.ndarray, heads: np.ndarray) -> tuple[int, float]:
    arcs = scores.astype(np.float64)[np.arange(len(heads)), heads]
    return int((arcs <= FORBIDDEN).sum()), float(arcs[arcs > FORBIDDEN].sum())


def decode(scores: np.ndarray) -> np.ndarray:
    (heads,) = decode_trees(scores[None], np.array([len(scores)]))
    return heads


def assert_best(scores: np.ndarray) -> None:
    heads = decode(scores)
    assert is_tree(heads)
    forbidden, total = value(scores, heads)
    fewest, highest = best(scores)
    assert forbidden == fewest
    assert total == pytest.approx(highest, rel=1e-6, abs=1e-6)


def test_there_are_n_to_the_n_minus_1_trees():
    """Cayley: as many trees with one root."""
    assert [len(all_trees(n)) for n in range(1, 7)] == [n ** (n - 1) for n in range(1, 7)]


def matrices(values: st.SearchStrategy[float], n_max: int = 6) -> st.SearchStrategy[np.ndarray]:
    def of_size(n: int) -> st.SearchStrategy[np.ndarray]:
        cells = st.lists(values, min_size=n * (n + 1), max_size=n * (n + 1))
        return cells.map(lambda c: np.array(c, dtype=np.float32).reshape(n, n + 1))

    return st.integers(1, n_max).flatmap(of_size)


@given(matrices(st.floats(-20, 20, width=32)))
@settings(max_examples=150)
def test_best_tree(scores):
    assert_best(scores)


@given(matrices(st.integers(-2, 2).map(float)))
@settings(max_examples=150)
def test_best_tree_with_ties(scores):
    assert_best(scores)


@given(matrices(st.one_of(st.integers(-3, 3).map(float), st.sampled_from(MASKS))))
@settings(max_examples=200)
def test_best_tree_with_forbidden_arcs(scores):
    """A forbidden arc is taken only where every tree needs one."""
    assert_best(scores)


@given(st.integers(0, 2**32 - 1), st.sampled_from([4, 5, 6]))
@settings(max_examples=100)
def test_best_tree_where_cycles_nest(seed, n):
    """Scores that fall in steps make cycles of cycles."""
    rng = np.random.default_rng(seed)
    scores = rng.permutation(n * (n + 1)).reshape(n, n + 1).astype(np.float32)
    scores[:, 0] -= 50
    assert_best(scores)


def test_by_hand():
    """Words 1 and 2 take each other greedily, which is a cycle."""
    scores = np.array([[0, -9, 8, 0], [1, 8, -9, 0], [2, 1, 1, -9]], dtype=np.float32)
    # With root 2: 1 + 8 + 1. With root 1: 0 + 8 + 1. With root 3: 2 + 8 + 0.
    assert value(scores, decode(scores)) == (0, 10.0)
    assert decode(scores).tolist() in ([2, 0, 1], [2, 0, 2], [2, 3, 0], [3, 1, 0])
    scores[2, 1:3] += 0.5, 0.25
    assert decode(scores).tolist() == [2, 0, 1]


def test_one_root_though_two_score_higher():
    scores = np.array([[5, 0, -9], [5, -9, 0]], dtype=np.float32)
    heads = decode(scores)
    assert sorted(heads == 0) == [False, True]


def test_small_margins_at_the_root():
    """The root arc is chosen by its score also where margins are near the limit of float32."""
    scores = np.full((4, 5), -1.0, dtype=np.float32)
    for root in range(4):
        scores[:, 0] = -1000.0
        scores[root, 0] = np.nextafter(np.float32(-1000.0), np.float32(0))
        assert decode(scores)[root] == 0


@pytest.mark.parametrize("offset", [0.0, -1e4, 1e4])
def test_a_constant_changes_nothing(offset):
    rng = np.random.default_rng(3)
    scores = rng.integers(-5, 5, size=(30, 31)).astype(np.float64)
    total = value(scores, decode(scores))[1]
    assert value(scores, decode(scores + offset))[1] == total


@pytest.mark.parametrize("score", [np.nan, np.inf])
def test_nan_and_infinity_are_errors(score):
    scores = np.zeros((2, 3, 4), dtype=np.float32)
    scores[1, 1, 2] = score
    with pytest.raises(NotFiniteError, match=r"Arc scores contain (NaN|infinity)"):
        decode_trees(scores, np.array([3, 2]))
    # At padding, nobody reads it.
    scores[1, 1, 2], scores[1, 2, :] = 0.0, score
    assert decode_trees(scores, np.array([3, 2])).shape == (2, 3)


def test_no_words():
    assert decode_trees(np.zeros((0, 0, 1), np.float32), np.zeros(0, int)).shape == (0, 0)
    assert decode_trees(np.zeros((2, 0, 1), np.float32), np.zeros(2, int)).shape == (2, 0)
    heads = decode_trees(np.zeros((2, 3, 4), np.float32), np.array([0, 0]))
    assert (heads == 0).all()
    assert heads.shape == (2, 3)


def test_one_word():
    assert decode(np.array([[-3.0, 5.0]], dtype=np.float32)).tolist() == [0]
    assert decode(np.array([[-np.inf, 5.0]], dtype=np.float32)).tolist() == [0]


@pytest.mark.parametrize("score", [0.0, -5.0, -np.inf])
def test_a_thousand_equal_words(score):
    start = time.perf_counter()
    heads = decode(np.full((1000, 1001), score, dtype=np.float32))
    assert is_tree(heads)
    assert time.perf_counter() - start < 10


def test_long_chains_of_cycles_are_fast():
    """Neighbours that prefer each other: cycles all the way up."""
    n = 800
    scores = np.full((n, n + 1), -10.0, dtype=np.float32)
    distance = np.abs(np.arange(n)[:, None] - np.arange(n)[None, :])
    scores[:, 1:] = -np.log1p(distance.astype(np.float32))
    start = time.perf_counter()
    assert is_tree(decode(scores))
    assert time.perf_counter() - start < 10


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=40)
def test_batch_equals_single(seed, tied):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 7, size=5)
    scores = rng.normal(size=(5, 6, 7)).astype(np.float32)
    if tied:
        scores = scores.round()
    batch = decode_trees(scores, lengths)
    for row, n, heads in zip(scores, lengths, batch, strict=True):
        assert (heads[n:] == 0).all()
        if n:
            assert heads[:n].tolist() == decode(row[:n, : n + 1]).tolist()


def test_padding_is_never_read():
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(3, 6, 7)).astype(np.float32)
    lengths = np.array([6, 4, 1])
    heads = decode_trees(scores, lengths)
    for row, n in zip(scores, lengths, strict=True):
        row[n:] = 1e6
        row[:, n + 1 :] = 1e6
    assert (decode_trees(scores, lengths) == heads).all()


def test_scores_are_left_alone():
    rng = np.random.default_rng(6)
    scores = rng.normal(size=(4, 8, 9)).astype(np.float32)
    before = scores.copy()
    decode_trees(scores, np.array([8, 8, 5, 2]))
    assert (scores == before).all()


@pytest.mark.parametrize(
    ("heads", "answer"),
    [
        ([0], True),
        ([1], False),
        ([0, 1, 2], True),
        ([0, 0], False),
        ([2, 1], False),
        ([0, 3, 2], False),
        ([2, 3, 1, 0], False),
        ([4, 1, 2, 0], True),
    ],
)
def test_is_tree(heads, answer):
    assert is_tree(np.array(heads)) is answer


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.integers(0, n), min_size=n, max_size=n)))
@settings(max_examples=200)
def test_is_tree_agrees_with_the_list_of_all_trees(heads):
    assert is_tree(np.array(heads)) == (heads in all_trees(len(heads)).tolist())


@cache
def all_forests(n: int) -> np.ndarray:
    """(forests, n) heads of every set of trees."""
    forests = [
        heads
        for heads in itertools.product(range(n + 1), repeat=n)
        if all(reaches_root(heads, word) for word in range(1, n + 1))
    ]
    return np.array(forests, dtype=np.int64).reshape(-1, n)


@given(matrices(st.floats(-20, 20, width=32), n_max=5))
@settings(max_examples=100)
def test_best_forest(scores):
    n = len(scores)
    (heads,) = decode_forests(scores[None], np.array([n]))
    assert heads.tolist() in all_forests(n).tolist()
    totals = scores.astype(np.float64)[np.arange(n), all_forests(n)].sum(axis=1)
    assert value(scores, heads)[1] == pytest.approx(totals.max(), rel=1e-6, abs=1e-6)


def test_there_are_n_plus_1_to_the_n_minus_1_forests():
    """Cayley: trees over the words and the root."""
    assert [len(all_forests(n)) for n in range(1, 6)] == [(n + 1) ** (n - 1) for n in range(1, 6)]


def test_a_forest_breaks_a_cycle_and_keeps_its_roots():
    scores = np.array([[0, -9, 5, -9], [1, 5, -9, -9], [3, 2, 2, -9]], dtype=np.float32)
    forests = decode_forests(np.stack([scores, scores]), np.array([3, 1]))
    assert forests.tolist() == [[2, 0, 0], [0, 0, 0]]
    assert decode_forests(np.zeros((2, 0, 1), dtype=np.float32), np.array([0, 0])).shape == (2, 0)
    with pytest.raises(ValueError, match="NaN"):
        decode_forests(np.full_like(scores, np.nan)[None], np.array([3]))
