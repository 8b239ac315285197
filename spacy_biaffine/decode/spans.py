"""Choosing among overlapping spans."""

import numpy as np
from numpy.typing import NDArray

from ..types import Floats, Ints


def choose_flat(starts: Ints, ends: Ints, scores: Floats, taken: NDArray[np.bool_]) -> Ints:
    """The numbers, in order, of the spans that no better one overlaps: greedily, the best first.

    Of all sets without overlap it is the one whose best score is highest, then its second best,
    and so on. Scores of spans are no log-probabilities, which a sum over the set would want; and
    what is chosen above a threshold is what is chosen without one and lies above it.

    starts, ends: (m,) first token, and the token after the last. scores: (m,); of equal ones the
    earlier span wins. taken: (tokens,) where no span may be.
    """
    free = ~taken
    chosen = []
    for span in np.argsort(-scores, kind="stable"):
        tokens = slice(starts[span], ends[span])
        if free[tokens].all():
            free[tokens] = False
            chosen.append(span)
    return np.sort(np.array(chosen, dtype=np.int64))
