"""Scores that nothing can be decoded from."""

import numpy as np
from numpy.typing import NDArray


class NotFiniteError(ValueError):
    """Scores are NaN or positive infinity."""


def check_finite(what: str, scores: NDArray[np.floating]) -> None:
    """Raise NotFiniteError where a score is NaN or +inf; -inf is a choice that is ruled out."""
    if not (scores < np.inf).all():
        found = "NaN" if np.isnan(scores).any() else "infinity"
        raise NotFiniteError(
            f"{what} scores contain {found}: the model's weights or its input vectors are not "
            f"finite. Lower the learning rate or clip the gradients."
        )
