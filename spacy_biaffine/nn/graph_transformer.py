"""Transformer layers whose attention reads a tree.

"Syntax-Aware Graph-to-Graph Transformer for Semantic Role Labelling", Section 2; the nodes are
words or their pieces. With relation embeddings of zero, or without any, a layer is one of BERT's.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from .dropout import Dropout

SPREAD = 0.02
"""Standard deviation of relation embeddings at the start, as of all of BERT's."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": functional.gelu,
    "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": torch.relu,
}
"""Of the feed-forward part, by the names of Hugging Face configs."""


class Interactions(NamedTuple):
    """What of attention the relations of the tree are read by; the paper's model reads query and
    key, -key the query alone, -key-query nothing, +value all three."""

    query: bool
    key: bool
    value: bool


class Arcs(NamedTuple):
    """The arcs of padded trees, each node with at most one head; (B, n) int64 each.

    heads: place of the head, any where there is none. up: the relation of a node to its head,
    label + 1. down: of the head to the node, label + 1 + L. Both are 0, none, without a head.
    """

    heads: Tensor
    up: Tensor
    down: Tensor

    @classmethod
    def of(cls, heads: Tensor, labels: Tensor, n_labels: int) -> "Arcs":
        """heads: (B, n) places, -1 for none. labels: (B, n) numbers below n_labels."""
        there = heads >= 0
        up = (labels + 1).where(there, 0)
        return cls(heads.where(there, 0), up, (up + n_labels).where(there, 0))


class GraphAttention(nn.Module):
    """Self-attention over the nodes of a tree, with relations r_ij of size d shared by all heads:

        e_ij = [q_i k_j^T + q_i r_ij^T + r_ij k_j^T] / sqrt(d)    a_ij = softmax_j(e_ij)
        o_i = sum_j a_ij (v_j + r'_ij)

    (the paper's equations 2 and 3, r' only with its +value), worked out without n^2 relations:
    r_ij is r_0 but at the arcs, so that

        e_ij = [q_i + r_0] k_j^T + (r_ij - r_0) (q_i + k_j)^T    up to a constant of the row,
        o_i = sum_j a_ij (v_j + r'_0) + sum_j a_ij (r'_ij - r'_0)

    where the second terms are zero but at the 2 n arcs.
    """

    def __init__(self, width: int, heads: int, reads: Interactions) -> None:
        super().__init__()
        self.heads = heads
        self.reads = reads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.dropout = Dropout(0.0)

    def forward(self, x: Tensor, mask: Tensor, arcs: Arcs, relations: "Relations") -> Tensor:
        """x (B, n, width), mask (B, n) -> (B, n, width)"""
        if relations == (None, None):
            return self._plain(x, mask)
        weights = self.dropout(self.weights(x, mask, arcs, relations))
        values = self._per_head(self.value(x))
        if relations.value is None:
            mixed = weights @ values
        else:
            mixed = _add_values(weights, values, arcs, relations.value)
        return mixed.transpose(1, 2).flatten(2)

    def _plain(self, x: Tensor, mask: Tensor) -> Tensor:
        """Attention without relations, by torch's fused kernel; no dropout on its weights, for
        which there is none on a CPU."""
        q, k, v = (self._per_head(layer(x)) for layer in (self.query, self.key, self.value))
        mixed = functional.scaled_dot_product_attention(q, k, v, mask[:, None, None, :])
        return mixed.transpose(1, 2).flatten(2)

    def weights(self, x: Tensor, mask: Tensor, arcs: Arcs, relations: "Relations") -> Tensor:
        """a (B, H, n, n), zero in the columns of padding; the rows of padding are void."""
        q, k = self._per_head(self.query(x)), self._per_head(self.key(x))
        scale = 1 / math.sqrt(q.shape[-1])
        if relations.score is None:
            scores = (q * scale) @ k.transpose(2, 3)
        else:
            none = relations.score[0]
            base = (q + none if self.reads.key else q) * scale
            up, down = self._arc_scores(q * scale, k * scale, arcs, relations.score - none)
            scores = base @ k.transpose(2, 3)
            places = arcs.heads.unsqueeze(1).expand(-1, self.heads, -1)
            # In place: on long sentences copies of n^2 scores would cost more than the sums.
            scores.scatter_add_(3, places.unsqueeze(3), up.unsqueeze(3).to(scores.dtype))
            scores.scatter_add_(2, places.unsqueeze(2), down.unsqueeze(2).to(scores.dtype))
        padding = ~mask[:, None, None, :]
        return torch.softmax(scores.masked_fill_(padding, torch.finfo(scores.dtype).min), dim=-1)

    def _arc_scores(
        self, q: Tensor, k: Tensor, arcs: Arcs, relations: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(B, H, n) twice: (r_ij - r_0) (q_i + k_j)^T from each node to its head, and back."""
        at = arcs.heads[:, None, :, None].expand_as(q)
        if self.reads.query and self.reads.key:
            ups, downs = q + k.gather(2, at), q.gather(2, at) + k
        elif self.reads.query:
            ups, downs = q, q.gather(2, at)
        else:
            ups, downs = k.gather(2, at), k
        up, down = (relations[numbers].unsqueeze(1) for numbers in (arcs.up, arcs.down))
        return (ups * up).sum(dim=-1), (downs * down).sum(dim=-1)

    def _per_head(self, x: Tensor) -> Tensor:
        """(B, n, width) -> (B, H, n, width / H)"""
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


def _add_values(weights: Tensor, values: Tensor, arcs: Arcs, relations: Tensor) -> Tensor:
    """o (B, H, n, d) with relations (R, d): those of arcs are added, less that of none."""
    none = relations[0]
    mixed = weights @ (values + none).to(weights.dtype)
    places = arcs.heads.unsqueeze(1).expand(-1, weights.shape[1], -1)
    to_heads = weights.gather(3, places.unsqueeze(3))
    to_nodes = weights.gather(2, places.unsqueeze(2)).transpose(2, 3)
    up, down = ((relations - none)[numbers].unsqueeze(1) for numbers in (arcs.up, arcs.down))
    mixed = mixed + (to_heads * up).to(mixed.dtype)
    at = places.unsqueeze(3).expand_as(mixed)
    return mixed.scatter_add(2, at, (to_nodes * down).to(mixed.dtype))


class Relations(NamedTuple):
    """The relation embeddings of a layer, (2 L + 1, d): of the scores and of the values; row 0
    is none, then come the labels from node to head, then those from head to node."""

    score: Tensor | None
    value: Tensor | None


class GraphTransformerLayer(nn.Module):
    """Attention and feed-forward part, each with dropout, residual and LayerNorm after it:

    y = LN(x + W A(x) + b),  z = LN(y + W_2 f(W_1 y + b_1) + b_2)
    """

    def __init__(
        self,
        width: int,
        heads: int,
        hidden: int,
        reads: Interactions,
        *,
        activation: str,
        norm_eps: float,
    ) -> None:
        super().__init__()
        self.attention = GraphAttention(width, heads, reads)
        self.attention_output = nn.Linear(width, width)
        self.attention_norm = nn.LayerNorm(width, eps=norm_eps)
        self.feed_in = nn.Linear(width, hidden)
        self.feed_out = nn.Linear(hidden, width)
        self.feed_norm = nn.LayerNorm(width, eps=norm_eps)
        self.dropout = Dropout(0.0)
        self.activation = ACTIVATIONS[activation]

    def forward(self, x: Tensor, mask: Tensor, arcs: Arcs, relations: Relations) -> Tensor:
        """x (B, n, width), mask (B, n) -> (B, n, width)"""
        attended = self.attention_output(self.attention(x, mask, arcs, relations))
        x = self.attention_norm(x + self.dropout(attended))
        fed = self.feed_out(self.activation(self.feed_in(x)))
        return self.feed_norm(x + self.dropout(fed))


class GraphTransformer(nn.Module):
    """A stack of layers over one tree, each with relation embeddings of its own.

    labels: L, how many labels an arc can have. hidden: width of the feed-forward parts.
    """

    def __init__(
        self,
        width: int,
        labels: int,
        *,
        layers: int,
        heads: int,
        hidden: int,
        reads: Interactions,
        activation: str = "gelu",
        norm_eps: float = 1e-12,
    ) -> None:
        super().__init__()
        self.labels = labels
        self.layers = nn.ModuleList(
            GraphTransformerLayer(
                width, heads, hidden, reads, activation=activation, norm_eps=norm_eps
            )
            for _ in range(layers)
        )
        shape = (2 * labels + 1, width // heads)
        self.relations = _tables(layers if reads.query or reads.key else 0, shape)
        self.value_relations = _tables(layers if reads.value else 0, shape)

    def forward(self, x: Tensor, mask: Tensor, heads: Tensor, labels: Tensor) -> Tensor:
        """x (B, n, width); mask, heads (-1 for none) and labels (B, n) -> (B, n, width)"""
        arcs = Arcs.of(heads, labels, self.labels)
        for number, layer in enumerate(self.layers):
            x = layer(x, mask, arcs, self.relations_of(number))
        return x

    def attention(self, x: Tensor, mask: Tensor, heads: Tensor, labels: Tensor) -> Tensor:
        """The attention weights of all layers, the mean of their heads: (layers, B, n, n)"""
        arcs = Arcs.of(heads, labels, self.labels)
        weights = []
        for number, layer in enumerate(self.layers):
            relations = self.relations_of(number)
            attention = cast(GraphTransformerLayer, layer).attention
            weights.append(attention.weights(x, mask, arcs, relations).mean(dim=1))
            x = layer(x, mask, arcs, relations)
        return torch.stack(weights)

    def relations_of(self, layer: int) -> Relations:
        """The embeddings of one layer, None for those that it does not have."""
        score, value = (
            tables[layer] if len(tables) else None
            for tables in (self.relations, self.value_relations)
        )
        return Relations(score, value)


def _tables(number: int, shape: tuple[int, int]) -> nn.ParameterList:
    return nn.ParameterList(
        nn.Parameter(torch.empty(shape).normal_(std=SPREAD)) for _ in range(number)
    )
