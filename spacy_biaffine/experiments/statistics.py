"""Paired comparison of two settings: the test and the effect size that the paper reports."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata, wilcoxon

ALPHA = 0.05


class Comparison(NamedTuple):
    """Of paired scores x and y.

    pairs: how many. wins: in how many x is above y. difference: mean of x - y.
    p: one-tailed Wilcoxon signed-rank test that x is above y; None where no pair differs.
    effect: matched-pairs rank-biserial correlation, from -1 to 1; None likewise.
    """

    pairs: int
    wins: int
    difference: float
    p: float | None
    effect: float | None


def compare(x: Sequence[float], y: Sequence[float]) -> Comparison:
    """Compare paired scores; at least one pair."""
    differences = np.array(x, dtype=float) - np.array(y, dtype=float)
    p = effect = None
    if differences.any():
        p = float(wilcoxon(differences, alternative="greater").pvalue)
        effect = rank_biserial(differences)
    return Comparison(
        pairs=len(differences),
        wins=int((differences > 0).sum()),
        difference=float(differences.mean()),
        p=p,
        effect=effect,
    )


def rank_biserial(differences: np.ndarray) -> float:
    """(W+ - W-) / (W+ + W-) over the signed ranks of the differences that are not 0."""
    kept = differences[differences != 0]
    ranks = rankdata(np.abs(kept))
    return float((ranks * np.sign(kept)).sum() / ranks.sum())


def smallest_p(pairs: int) -> float:
    """What p is if every pair differs the same way: 1 / 2^pairs."""
    return 0.5**pairs


def is_too_few(pairs: int) -> bool:
    """Whether so few pairs can't be significant, whatever their scores."""
    return smallest_p(pairs) >= ALPHA
