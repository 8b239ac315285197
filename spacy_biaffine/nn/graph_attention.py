"""Graph attention over arcs that are only likely, and the hops of a k-hop parser made from it."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from .biaffine import ArcBiaffine, Projection, mask_arcs
from .dropout import Dropout

Likelihood = Callable[[Tensor], Tensor]
"""Arc scores (B, n, n + 1) to probabilities of arcs, of the same shape."""

MIN_WEIGHT = 1e-20
"""Weights below this count as this: their logarithm and its slope stay finite."""


class GraphAttention(nn.Module):
    """New states of nodes from those of their neighbours (Veličković et al. 2018, eq. 1 to 5):

        e_ij = LeakyReLU(a^T [W h_i; W h_j])
        alpha_ij = w_ij exp(e_ij) / sum_k w_ik exp(e_ik)
        h'_i = ELU(sum_j alpha_ij W h_j) + U h_i + u

    w_ij: how surely j is a neighbour of i, 0 to 1; with 0 and 1 alone it is their layer. Every node
    is its own neighbour, w_ii = 1, so that one without any other has a state too. Several heads
    stand side by side in h'. The last two terms are not theirs: attention to many neighbours makes
    nodes alike, and through U each keeps what tells it from the others.
    """

    def __init__(self, width: int, size: int, *, heads: int) -> None:
        super().__init__()
        if size % heads:
            raise ValueError(f"The size of a state ({size}) must be a multiple of heads ({heads}).")
        self.heads = heads
        self.linear = nn.Linear(width, size, bias=False)
        self.receives = nn.Parameter(torch.empty(heads, size // heads))
        self.sends = nn.Parameter(torch.empty(heads, size // heads))
        self.own = nn.Linear(width, size)
        self.dropout = Dropout(0.0)
        for weight in (self.linear.weight, self.own.weight, self.receives, self.sends):
            nn.init.xavier_uniform_(weight)

    def forward(self, nodes: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        """nodes (B, m, width), weights (B, m, m), mask (B, m) True at nodes -> (B, m, size)"""
        values = self.linear(nodes).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        alpha = self.dropout(self._attention(values, weights, mask)).to(values.dtype)
        heads = nn.functional.elu(alpha @ values)
        return heads.transpose(1, 2).flatten(2) + self.own(nodes)

    def _attention(self, values: Tensor, weights: Tensor, mask: Tensor) -> Tensor:
        """alpha of all heads, (B, heads, m, m), from W h of all heads, (B, heads, m, size / heads).

        Padding is its own neighbour and nobody else's.
        """
        receives = (values * self.receives.unsqueeze(1)).sum(-1)
        sends = (values * self.sends.unsqueeze(1)).sum(-1)
        e = nn.functional.leaky_relu(receives.unsqueeze(-1) + sends.unsqueeze(-2), 0.2).float()
        itself = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
        neighbours = (mask.unsqueeze(1) & mask.unsqueeze(2)) | itself
        likely = weights.float().masked_fill(itself, 1.0).clamp(min=MIN_WEIGHT).log()
        e = (e + likely.unsqueeze(1)).masked_fill(
            ~neighbours.unsqueeze(1), torch.finfo(e.dtype).min
        )
        return torch.softmax(e, dim=-1)


class Hop(nn.Module):
    """One biaffine and one graph attention layer: states that know of likely heads and dependents.

    L of them before the final biaffine are the k-hop parser of Appendix C (k = L + 1), after Ji
    et al. 2019. Two nodes are neighbours as surely as one is the head of the other.
    """

    def __init__(self, width: int, size: int, *, normalize: bool, xavier_normal: bool) -> None:
        super().__init__()
        self.head = Projection(width, size, xavier_normal=xavier_normal)
        self.dependent = Projection(width, size, xavier_normal=xavier_normal)
        self.arc = ArcBiaffine(size, normalize=normalize, xavier_normal=xavier_normal)
        self.attention = GraphAttention(width, width, heads=1)

    def forward(
        self, nodes: Tensor, mask: Tensor, likelihood: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """nodes (B, n + 1, width), the root and n words, mask (B, n) of words -> nodes, as wide.

        likelihood: arc scores (B, n, n + 1) to probabilities.
        """
        scores = self.arc(self.head(nodes), self.dependent(nodes[:, 1:]))
        arcs = likelihood(mask_arcs(scores, mask))
        arcs = nn.functional.pad(arcs, (0, 0, 1, 0))  # the root has no head
        back = arcs.transpose(1, 2)
        weights = arcs + back - arcs * back  # of either; 1 - (1 - p)(1 - q) would lose small ones
        return self.attention(nodes, weights, nn.functional.pad(mask, (1, 0), value=True))
