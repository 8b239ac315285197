import numpy as np
import pytest
from scipy.stats import wilcoxon

from spacy_biaffine.experiments.statistics import compare, is_too_few, rank_biserial, smallest_p


def test_wilcoxon_by_hand() -> None:
    # Differences 1, 2, -3, 4: W+ = 1 + 2 + 4 = 7. Of the 16 ways to sign the ranks 1 to 4, five
    # have W+ >= 7: {3,4}, {1,2,4}, {1,3,4}, {2,3,4}, {1,2,3,4}.
    result = compare([2, 4, 1, 5], [1, 2, 4, 1])
    assert result.p == pytest.approx(5 / 16)
    assert result.effect == pytest.approx((7 - 3) / 10)
    assert result.wins == 3
    assert result.pairs == 4
    assert result.difference == pytest.approx(1.0)


def test_wilcoxon_is_scipys() -> None:
    rng = np.random.default_rng(0)
    for n in (5, 12, 30, 80):
        x, y = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
        assert compare(x, y).p == wilcoxon(x, y, alternative="greater").pvalue


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 5, 10])
def test_least_p_is_that_of_all_pairs_won(pairs: int) -> None:
    x = [i + 1.0 for i in range(pairs)]
    result = compare(x, [0.0] * pairs)
    assert result.p == pytest.approx(smallest_p(pairs))
    assert result.effect == 1.0
    assert is_too_few(pairs) == (pairs < 5)


def test_no_difference_has_no_p() -> None:
    result = compare([0.5, 0.6], [0.5, 0.6])
    assert (result.p, result.effect, result.difference) == (None, None, 0.0)


def test_rank_biserial_shares_ranks_of_ties_and_leaves_zeros_out() -> None:
    # Ranks of |1|, |-1|, |2|: 1.5, 1.5, 3.
    assert rank_biserial(np.array([1.0, -1.0, 0.0, 2.0])) == pytest.approx(3 / 6)
