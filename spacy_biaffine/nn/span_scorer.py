"""Scores of all spans of sentences, in bounded memory."""

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

UNLIKELY = -4.0
"""Score that spans and roles of a new model have: most spans and pairs have none."""

CHUNK = 2**22
"""Most numbers that the hidden layer of the span scorer holds at once."""

CACHE = 2**18
"""The same in prediction on a CPU, whose cache then holds them: several times faster."""


class SpanProjection(nn.Module):
    """ReLU(W s_ij + b) over spans, s_ij = sr_j - sl_i the difference of end points (eq. 4, 5):

        sr_j = [f_{j+1}; f_j],   sl_i = [g_i; g_{i+1}]

    with f and g the halves of a word's vector, zero behind the last word. W is applied to the end
    points, so that a span costs one subtraction.
    """

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.size = (width + 1) // 2
        self.linear = nn.Linear(2 * self.size, size)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, n, width), zero at padding -> W sr + b and W sl, (B, n, size) each."""
        following = functional.pad(x, (0, 0, 0, 1))[:, 1:]
        right = torch.cat([following[..., : self.size], x[..., : self.size]], dim=-1)
        left = torch.cat([x[..., -self.size :], following[..., -self.size :]], dim=-1)
        return self.linear(right), functional.linear(left, self.linear.weight)


class SpanScorer(nn.Module):
    """Phi_a = w^T ReLU(W s_ij + b) of many spans, some at a time; and likewise, with another w, how
    likely each is an argument of any predicate."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.projection = SpanProjection(width, size)
        self.output = nn.Linear(size, 2)
        with torch.no_grad():
            self.output.bias.copy_(torch.tensor([0.0, UNLIKELY]))

    def forward(self, x: Tensor, starts: Tensor, ends: Tensor) -> tuple[Tensor, ...]:
        """x (B, n, width); starts, ends (S,) first and last words -> (B, S) twice"""
        right, left = self.projection(x)
        in_cache = not torch.is_grad_enabled() and x.device.type == "cpu"
        step = max(1, (CACHE if in_cache else CHUNK) // (len(x) * right.shape[2]))
        parts = list(zip(starts.split(step), ends.split(step), strict=True))
        if len(parts) == 1 or not torch.is_grad_enabled():
            scored = [self._part(right, left, *part) for part in parts]
        else:
            scored = [
                checkpoint(self._part, right, left, *part, use_reentrant=False) for part in parts
            ]
        return torch.cat(scored, dim=1).unbind(-1)

    def _part(self, right: Tensor, left: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        spans = right.index_select(1, ends).sub_(left.index_select(1, starts))
        return self.output(spans.relu_())
