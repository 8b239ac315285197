"""Losses and their gradients, against numbers worked out by hand."""

import math
from typing import NamedTuple

import pytest
import torch
from torch import Tensor

from spacy_biaffine.nn import losses
from spacy_biaffine.nn.losses import (
    IGNORED,
    binary_cross_entropy,
    cross_entropy,
    multilabel_cross_entropy,
    span_cross_entropy,
    with_gradient,
)


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


def test_multilabel_by_hand(device):
    scores = torch.tensor([[math.log(2), math.log(3), 9.0, math.log(4)], [0.0] * 4])
    positive = torch.tensor([[True, False, False, False], [False] * 4])
    negative = torch.tensor([[False, True, False, True], [False] * 4])
    found = multilabel_cross_entropy(*(t.to(device) for t in (scores, positive, negative)))
    assert found.item() == pytest.approx(math.log(1 + 1 / 2) + math.log(1 + 3 + 4))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_multilabel_is_never_negative_and_finite(dtype):
    torch.manual_seed(0)
    for scale in (0.0, 1.0, 100.0, 30000.0):
        scores = (scale * torch.randn(5, 40)).clamp(-6e4, 6e4).to(dtype).requires_grad_()
        positive = torch.rand(5, 40) < 0.1
        positive[0] = False
        loss = multilabel_cross_entropy(scores, positive, ~positive)
        assert loss.isfinite()
        assert loss.item() >= 0
        loss.backward()
        assert scores.grad.isfinite().all()


def slow_span_loss(pairs, sides, gold, known) -> float:
    """From the formula, span by span, in double precision."""
    batch, groups, _, n, size = sides.shape
    there = {tuple(row) for row in gold.tolist()}
    total = 0.0
    for b in range(batch):
        for t in range(groups * size):
            p, g = divmod(t, size)
            wrong = right = 1.0
            for i in range(n):
                for j in range(n):
                    s = (pairs[b, p, i, j] + sides[b, p, 0, i, g] + sides[b, p, 1, j, g]).item()
                    if (b, t, i, j) in there:
                        right += math.exp(-s)
                    elif known[b, i, j]:
                        wrong += math.exp(s)
            total += math.log(wrong) + math.log(right)
    return total


GOLD = torch.tensor([[0, 0, 1, 2], [0, 0, 0, 3], [0, 3, 1, 2], [1, 2, 0, 0]])


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("chunk", [1, 70, losses.SPAN_CHUNK])
def test_span_loss_equals_the_formula(groups, chunk, monkeypatch, device):
    monkeypatch.setattr(losses, "SPAN_CHUNK", chunk)
    pairs = torch.randn(2, groups, 4, 4, dtype=torch.float64, requires_grad=True)
    sides = torch.randn(2, groups, 2, 4, 4 // groups, dtype=torch.float64, requires_grad=True)
    known = torch.rand(2, 4, 4) < 0.7
    found = span_cross_entropy(*(t.to(device) for t in (pairs, sides, GOLD, known)))
    assert found.item() == pytest.approx(slow_span_loss(pairs, sides, GOLD, known))
    if device.type == "cpu":
        assert torch.autograd.gradcheck(
            lambda p, s: span_cross_entropy(p, s, GOLD, known), (pairs, sides)
        )


@pytest.mark.parametrize("gold", [GOLD[:3], GOLD[:0]])
def test_span_loss_is_near_zero_for_perfect_scores_whatever_the_padding(gold):
    """Of two sentences, of three words and of one; without entities too."""
    values = []
    for n in (4, 9):
        pairs = torch.full((2, 2, n, n), -20.0)
        gold_pairs = gold[gold[:, 1] < 2]
        pairs[tuple(gold_pairs.T)] = 20.0
        pairs[0, :, 4:], pairs[0, :, :, 4:], pairs[1, :, 1:], pairs[1, :, :, 1:] = 4 * [-1e38]
        known = torch.ones(2, n, n, dtype=torch.bool)
        sides = torch.zeros(2, 2, 2, n, 1)
        values.append(span_cross_entropy(pairs, sides, gold_pairs, known).item())
    assert 0 <= values[0] < 1e-6
    assert values[1] == pytest.approx(values[0], abs=1e-5)


def test_span_loss_without_known_spans_is_zero_and_so_is_its_gradient():
    pairs, sides = (torch.randn(1, 1, 3, 3), torch.randn(1, 1, 2, 3, 5))
    tensors = [tensor.requires_grad_() for tensor in (pairs, sides)]
    known = torch.zeros(1, 3, 3, dtype=torch.bool)
    loss = span_cross_entropy(*tensors, torch.zeros(0, 4, dtype=torch.int64), known)
    assert loss.item() == 0.0
    loss.backward()
    assert all((tensor.grad == 0).all() for tensor in tensors)
