"""Losses on torch scores, as a float and the gradient that Thinc's backprop wants."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from ..types import Ints

ScoresT = TypeVar("ScoresT", bound=tuple[Tensor, ...])

IGNORED = -1
"""Target of a word that has no gold annotation."""


def with_gradient(
    loss: Callable[[list[ScoresT]], Tensor], scores: Sequence[ScoresT]
) -> tuple[float, list[tuple[Tensor, ...]]]:
    """The value of a loss, and its gradient with respect to each batch of scores.

    The gradient is zero where the loss does not depend on the scores, or they are integers: shared
    encoders still get their backward pass.
    """
    leaves = [
        type(batch)(*(t.detach().requires_grad_(t.is_floating_point()) for t in batch))
        for batch in scores
    ]
    flat = [tensor for batch in leaves for tensor in batch if tensor.requires_grad]
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
    return value.item(), [
        tuple(next(rest) if t.requires_grad else torch.zeros_like(t) for t in batch)
        for batch in leaves
    ]


def targets_at(targets: Ints, tokens: Sequence[Ints]) -> list[Ints]:
    """Targets (all tokens,) as they stand in padded batches (B, n), IGNORED at padding."""
    return [np.append(targets, IGNORED)[numbers] for numbers in tokens]


def count_known(targets: Sequence[Ints]) -> int:
    """How many there are, at least 1: a mean over none is 0."""
    return max(1, sum(int((batch != IGNORED).sum()) for batch in targets))


def on_device(targets: Ints, scores: Tensor) -> Tensor:
    """The targets where the scores are."""
    return torch.from_numpy(targets).to(scores.device)


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


def multilabel_cross_entropy(scores: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """Sum over the rows of log(1 + sum_neg exp(s)) + log(1 + sum_pos exp(-s)).

    The cross-entropy of several right classes among many, with 0 as the threshold between right
    and wrong (Su 2020; "ZLPR", Su et al. 2022, eq. 5). Never negative; 0 for a row of nothing.

    scores: (..., classes); positive, negative: (..., classes) bool. Classes that are neither have
    no part in it.
    """
    lowest = torch.finfo(scores.dtype).min / 2
    wrong = scores.masked_fill(~negative, lowest).logsumexp(dim=-1)
    right = (-scores).masked_fill(~positive, lowest).logsumexp(dim=-1)
    # A sum of halves would soon be infinite.
    wide = torch.promote_types(scores.dtype, torch.float32)
    return (functional.softplus(wrong.to(wide)) + functional.softplus(right.to(wide))).sum()


SPAN_CHUNK = 2**22
"""Most span scores that the loss works out at once, where a type alone does not have more."""


def span_cross_entropy(pairs: Tensor, sides: Tensor, gold: Tensor, known: Tensor) -> Tensor:
    """`multilabel_cross_entropy` of all spans of a sentence with a type, summed over both.

    The scores are pairs[p, i, j] + sides[p, 0, i, g] + sides[p, 1, j, g], worked out for some types
    at a time and again for the gradient, so that they never stand in memory for all.

    pairs: (B, P, n, n); sides: (B, P, 2, n, G); gold: (m, 4) int64, the spans there are: sentence,
    type p G + g, first and last word. known: (B, n, n) bool, spans that are gold or surely not.
    """
    batch, groups, _, n, size = sides.shape
    step = max(1, SPAN_CHUNK // (batch * n * n))
    rows, types, firsts, lasts = gold.unbind(1)
    total = sides.new_zeros(())
    for group in range(groups):
        for low in range(0, size, step):
            part = sides[:, group, :, :, low : low + step]
            numbers = types - group * size - low
            here = (numbers >= 0) & (numbers < part.shape[-1])
            places = rows[here], numbers[here], firsts[here], lasts[here]
            total = total + checkpoint(
                _part_of_types, pairs[:, group], part, places, known, use_reentrant=False
            )
    return total


def _part_of_types(
    pairs: Tensor, sides: Tensor, places: tuple[Tensor, ...], known: Tensor
) -> Tensor:
    """pairs (B, n, n), sides (B, 2, n, G): all G types at once."""
    starts, ends = sides.transpose(2, 3).unbind(1)
    scores = pairs.unsqueeze(1) + starts.unsqueeze(3) + ends.unsqueeze(2)
    positive = torch.zeros_like(scores, dtype=torch.bool)
    positive[places] = True
    negative = known.unsqueeze(1) & ~positive
    flat = (tensor.flatten(2) for tensor in (scores, positive, negative))
    return multilabel_cross_entropy(*flat)
