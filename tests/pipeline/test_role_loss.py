"""The loss of roles: of which spans it speaks."""

import math

import numpy as np
import torch

from spacy_biaffine.gold.roles import RoleTargets
from spacy_biaffine.models.torch_layer import Scored
from spacy_biaffine.nn.roles import RoleScores
from spacy_biaffine.pipeline.role_loss import role_loss

SPANS = [(0, 0), (0, 1), (1, 1)]
"""All spans of two words; (0, 1) is a gold argument in each sentence."""


def span_gradient(*, known: list[bool], complete: bool) -> tuple[float, torch.Tensor]:
    """The loss, and its gradient at the spans of two sentences of two words.

    Their second words are predicates, of which there are no candidates. known: by word. complete:
    whether all arguments of the first predicate are known.
    """
    scores = RoleScores(
        predicates=torch.full((2, 2), -9.0),
        spans=torch.zeros(2, len(SPANS)),
        is_argument=torch.tensor([[0, 1, 0], [0, 1, -1]]),
        roles=torch.zeros(2, 0, 0, 4),
        senses=torch.zeros(2, 0, 1),
        places=torch.zeros(2, 0, dtype=torch.long),
        starts=torch.zeros(2, 0, dtype=torch.long),
        ends=torch.zeros(2, 0, dtype=torch.long),
    )
    targets = RoleTargets(
        cuts=[np.array([0, 1]), np.array([2, 3])],
        predicates=np.array([1, 3]),
        senses=[None, None],
        arguments=np.array([[0, 0, 2, 1], [1, 2, 4, 1]]),
        known=np.array(known),
        complete=np.array([complete, True]),
    )
    batch = Scored(np.array([[0, 1], [2, 3]]), scores)
    loss, (gradients,) = role_loss([batch], targets, np.array([-1, -1]))
    return loss, RoleScores(*gradients).spans


def test_all_spans_are_told_from_arguments():
    """A cross-entropy for each, per word; none behind the sentence."""
    loss, gradient = span_gradient(known=[True] * 4, complete=True)
    torch.testing.assert_close(gradient * 4, torch.tensor([[0.5, -0.5, 0.5], [0.5, -0.5, 0.0]]))
    of_predicates = 2 * math.log1p(math.exp(9)) + 2 * math.log1p(math.exp(-9))
    assert math.isclose(loss * 4, of_predicates + 5 * math.log(2), rel_tol=1e-6)


def test_what_is_not_known_to_be_no_argument():
    """Where predicates, or arguments of one, are not known, other spans may be arguments."""
    wanted = torch.tensor([[0.0, -0.5, 0.0], [0.5, -0.5, 0.0]])
    for known, complete in (([True, True], False), ([False, True], True)):
        _, gradient = span_gradient(known=[*known, True, True], complete=complete)
        torch.testing.assert_close(gradient * 4, wanted)
