"""Biaffine scores of head and dependent pairs, with and without normalization."""

import math

import torch
from torch import Tensor, nn

from .dropout import Dropout


class Projection(nn.Module):
    """ELU(W x + c) with dropout: one of the four views of a word (paper, Section 4.2)."""

    def __init__(self, width: int, size: int, *, xavier_normal: bool) -> None:
        super().__init__()
        self.linear = nn.Linear(width, size)
        self.dropout = Dropout(0.0)
        _xavier(self.linear.weight, normal=xavier_normal)
        nn.init.zeros_(self.linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(..., width) -> (..., size)"""
        return self.dropout(nn.functional.elu(self.linear(x)))


class ArcBiaffine(nn.Module):
    """s(h, d) = a (x_h^T W x_d + x_h^T b), a = 1 / sqrt(size) where normalized, else 1.

    The score f of Section 4.2 of "Dependency Parsing is More Parameter-Efficient with
    Normalization", with W of one output.
    """

    def __init__(self, size: int, *, normalize: bool, xavier_normal: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size, size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.scale = 1.0 / math.sqrt(size) if normalize else 1.0
        _xavier(self.weight, normal=xavier_normal)

    def forward(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """heads (B, m, size), dependents (B, n, size) -> scores (B, n, m)"""
        pairs = dependents @ (heads @ self.weight).transpose(1, 2)
        return (pairs + (heads @ self.bias).unsqueeze(1)) * self.scale


def mask_arcs(scores: Tensor, mask: Tensor) -> Tensor:
    """The lowest number of the dtype at padding, and at the word itself.

    scores: (B, n, n + 1), column 0 the root; mask: (B, n) True on words.
    """
    n = scores.shape[1]
    itself = torch.eye(n, n + 1, dtype=torch.bool, device=scores.device).roll(1, dims=1)
    padding = nn.functional.pad(~mask, (1, 0)).unsqueeze(1)
    return scores.masked_fill(itself | padding, torch.finfo(scores.dtype).min)


class LabelBiaffine(nn.Module):
    """s(r) = r_h^T W_r r_d + r_h^T b_r for every label r of given arcs."""

    def __init__(self, size: int, labels: int) -> None:
        super().__init__()
        bound = 1.0 / math.sqrt(size)
        self.weight = nn.Parameter(torch.empty(size, labels, size).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(size, labels).uniform_(-bound, bound))

    @property
    def per_arc(self) -> int:
        """How many numbers stand in memory for an arc while its labels are scored."""
        size, labels = self.bias.shape
        return size * min(size, labels)

    def forward(self, heads: Tensor, dependents: Tensor) -> Tensor:
        """heads (..., size), their dependents (..., size) -> scores (..., labels)"""
        size, labels = self.bias.shape
        if labels > size:  # then an arc's pairs of numbers are fewer than its views of the labels
            pairs = (heads.unsqueeze(-1) * dependents.unsqueeze(-2)).flatten(-2)
            scores = pairs @ self.weight.transpose(1, 2).reshape(size * size, labels)
        else:
            views = heads @ self.weight.view(size, labels * size)
            views = views.view(*heads.shape[:-1], labels, size)
            scores = (views @ dependents.unsqueeze(-1)).squeeze(-1)
        return scores + heads @ self.bias


def _xavier(weight: Tensor, *, normal: bool) -> None:
    (nn.init.xavier_normal_ if normal else nn.init.xavier_uniform_)(weight)
