"""Choosing the arguments of predicates: the best sum without overlap."""

import numpy as np
from numpy.typing import NDArray

from ..types import Ints
from .finite import check_finite


def choose_arguments(starts: Ints, ends: Ints, scores: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Per predicate, the set of spans without overlap whose scores have the highest sum.

    The dynamic programme of "Syntax-Aware Graph-to-Graph Transformer for Semantic Role Labelling",
    Appendix A (Decoders), whose one constraint is that arguments do not overlap: the label of one
    says nothing of the others', so a span competes under its best label. An argument that is a
    word is a span of one word.

    starts, ends: (P, m), or (m,) where all predicates have the same candidates: the first word,
    and the word after the last. scores: (P, m), the score of the best label less that of "none".
    Spans at or below 0 are never chosen, so padding has 0 or -inf.
    Returns (P, m), True where a span is chosen, whatever the order of the candidates. Of two sets
    with equal sums, look at the last span in which they differ, by end, then by start, then by
    number: the set without it is chosen. Raises ValueError where a score is NaN or +inf.
    """
    check_finite("Role", scores)
    chosen = np.zeros(scores.shape, dtype=bool)
    useful = scores > 0
    width = int(useful.sum(axis=1).max(initial=0))
    if not width:
        return chosen
    starts, ends = np.broadcast_to(starts, scores.shape), np.broadcast_to(ends, scores.shape)
    order = np.lexsort((starts, ends, ~useful), axis=1)[:, :width]
    starts, ends = (np.take_along_axis(each, order, axis=1) for each in (starts, ends))
    gains, useful = np.take_along_axis(scores, order, axis=1), np.take_along_axis(useful, order, 1)
    before = _count_before(starts, np.where(useful, ends, ends.max()))
    gains = np.where(useful, gains, 0.0)
    taken = np.zeros(gains.shape, dtype=bool)
    rows = np.arange(len(gains))
    best = np.zeros((len(gains), width + 1))
    for k in range(width):
        with_span = best[rows, before[:, k]] + gains[:, k]
        taken[:, k] = useful[:, k] & (with_span > best[:, k])
        best[:, k + 1] = np.where(taken[:, k], with_span, best[:, k])
    limit = np.full(len(gains), width)
    for k in reversed(range(width)):
        here = taken[:, k] & (k < limit)
        chosen[rows[here], order[here, k]] = True
        limit = np.where(here, before[:, k], limit)
    return chosen


def _count_before(starts: Ints, ends: Ints) -> Ints:
    """(P, m), how many of a row's spans, sorted by ends, end where each begins, or earlier."""
    rows = np.arange(len(starts))[:, None]
    # Each row is moved behind the one before, so that all are one sorted array.
    shift = rows * (int(ends.max()) + 1)
    counts = np.searchsorted((ends + shift).ravel(), (starts + shift).ravel(), side="right")
    return counts.reshape(starts.shape) - rows * starts.shape[1]
