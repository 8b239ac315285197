"""Losses and their gradients, against numbers worked out by hand."""

import math
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from spacy_biaffine.losses import IGNORED, binary_cross_entropy, cross_entropy, with_gradient


class Pair(NamedTuple):
    a: Tensor
    b: Tensor


def test_cross_entropy_by_hand(device):
    scores = torch.tensor([[[0.0, math.log(3)], [5.0, 7.0]], [[1.0, 1.0], [2.0, 2.0]]])
    targets = torch.tensor([[1, IGNORED], [0, IGNORED]])
    loss = cross_entropy(scores.to(device), targets.to(device))
    assert loss.item() == pytest.approx(-math.log(3 / 4) - math.log(1 / 2))


def test_binary_cross_entropy_by_hand(device):
    scores = torch.tensor([[math.log(3), 0.0, 100.0], [math.log(3), -100.0, 100.0]])
    targets = torch.tensor([[1, 0, IGNORED], [0, 0, 1]])
    loss = binary_cross_entropy(scores.to(device), targets.to(device))
    assert loss.item() == pytest.approx(-math.log(3 / 4) - math.log(1 / 2) - math.log(1 / 4))


def test_binary_cross_entropy_of_extreme_scores_is_finite():
    scores = torch.tensor([1e4, -1e4])
    assert binary_cross_entropy(scores, torch.tensor([0, 1])).item() == pytest.approx(2e4)
    assert binary_cross_entropy(scores, torch.tensor([1, 0])).item() == 0.0


@pytest.mark.parametrize("loss", [cross_entropy, binary_cross_entropy])
def test_without_targets_loss_and_gradient_are_zero(loss):
    shape = (2, 3, 4) if loss is cross_entropy else (2, 3)
    scores = torch.randn(shape, requires_grad=True)
    value = loss(scores, torch.full((2, 3), IGNORED))
    assert value.item() == 0.0
    value.backward()
    assert (scores.grad == 0).all()


def test_cross_entropy_with_masked_classes():
    """What is masked has no gradient, and padding that is masked all over does no harm."""
    lowest = torch.finfo(torch.float32).min
    scores = torch.tensor([[0.0, lowest, 1.0], [lowest] * 3], requires_grad=True)
    cross_entropy(scores, torch.tensor([0, IGNORED])).backward()
    assert scores.grad.isfinite().all()
    assert scores.grad[0, 1] == 0
    assert (scores.grad[1] == 0).all()
    assert scores.grad[0, 0] < 0 < scores.grad[0, 2]


def test_with_gradient_equals_autograd():
    batches = [Pair(torch.randn(2, 3), torch.randn(4)), Pair(torch.randn(1, 3), torch.randn(2))]

    def loss(scores: list[Pair]) -> Tensor:
        return sum((p.a**2).sum() + (p.a[0, :2].sum() * p.b).sum() for p in scores)

    value, gradients = with_gradient(loss, batches)
    leaves = [Pair(*(t.clone().requires_grad_() for t in p)) for p in batches]
    wanted = loss(leaves)
    wanted.backward()
    assert value == pytest.approx(wanted.item())
    assert len(gradients) == 2
    for leaf, gradient in zip(leaves, gradients, strict=True):
        for tensor, g in zip(leaf, gradient, strict=True):
            torch.testing.assert_close(g, tensor.grad)
    # The scores themselves are left alone.
    assert not any(t.requires_grad or t.grad is not None for p in batches for t in p)


def test_scores_that_the_loss_does_not_read_get_zeros():
    batches = [Pair(torch.randn(2), torch.randn(3)), Pair(torch.randn(2), torch.randn(3))]
    value, gradients = with_gradient(lambda scores: (2 * scores[0].a).sum(), batches)
    assert value == pytest.approx(2 * batches[0].a.sum().item())
    assert (gradients[0][0] == 2).all()
    assert all((g == 0).all() for g in (gradients[0][1], *gradients[1]))
    value, gradients = with_gradient(lambda scores: torch.tensor(3.0), batches)
    assert value == 3.0
    assert [g.shape for p in gradients for g in p] == [t.shape for p in batches for t in p]
    assert all((g == 0).all() for p in gradients for g in p)


def test_no_batches():
    assert with_gradient(lambda scores: torch.tensor(1.0), []) == (0.0, [])


def test_gradients_inside_no_grad():
    """Thinc trains in whatever mode the caller is in."""
    with torch.no_grad():
        _, gradients = with_gradient(
            lambda s: (s[0].a ** 2).sum(), [Pair(torch.ones(2), torch.ones(1))]
        )
    assert gradients[0][0].tolist() == [2.0, 2.0]
