"""Losses on torch scores, as a float and the gradient that Thinc's backprop wants."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor
from torch.nn import functional

ScoresT = TypeVar("ScoresT", bound=tuple[Tensor, ...])

IGNORED = -1
"""Target of a word that has no gold annotation."""


def with_gradient(
    loss: Callable[[list[ScoresT]], Tensor], scores: Sequence[ScoresT]
) -> tuple[float, list[tuple[Tensor, ...]]]:
    """The value of a loss, and its gradient with respect to each batch of scores.

    The gradient is zero where the loss does not depend on the scores: shared encoders still get
    their backward pass.
    """
    leaves = [type(batch)(*(t.detach().requires_grad_() for t in batch)) for batch in scores]
    flat = [tensor for batch in leaves for tensor in batch]
    if not flat:
        return 0.0, []
    with torch.enable_grad():
        value = loss(leaves)
        gradients = (
            torch.autograd.grad(value, flat, allow_unused=True, materialize_grads=True)
            if value.requires_grad
            else [torch.zeros_like(tensor) for tensor in flat]
        )
    rest = iter(gradients)
    return value.item(), [tuple(next(rest) for _ in batch) for batch in leaves]


def cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    """Sum of -log softmax(scores)[target] over the words that have a target; 0 where none has.

    scores: (..., classes); targets: (...) int64, IGNORED where there is none.
    """
    return functional.cross_entropy(
        scores.flatten(0, -2), targets.flatten(), ignore_index=IGNORED, reduction="sum"
    )


def binary_cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    """Sum of -log sigmoid(+-score) over the words that have a target, 0 or 1.

    scores: (...); targets: (...) int64, IGNORED where there is none.
    """
    losses = functional.binary_cross_entropy_with_logits(
        scores, targets.clamp(min=0).to(scores.dtype), reduction="none"
    )
    return losses[targets != IGNORED].sum()
