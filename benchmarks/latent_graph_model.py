"""Latent graph inference: which nodes of a graph are joined, from their features alone (paper,
Appendix B). It needs no words, and no spaCy."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from spacy_biaffine.nn.biaffine import ArcBiaffine, Projection
from spacy_biaffine.nn.graph_attention import GraphAttention


class Graphs(NamedTuple):
    """A batch of graphs, padded.

    nodes: (B, m, features), zero where there is padding. mask: (B, m) bool, True at nodes. edges:
    (B, m, m) bool, [i, j] for an edge from node j to node i.
    """

    nodes: Tensor
    mask: Tensor
    edges: Tensor

    @classmethod
    def of(cls, graphs: Sequence[tuple[Tensor, Tensor]]) -> "Graphs":
        """From graphs of (n, features) nodes and (k, 2) edges, the numbers of i and of j."""
        nodes = nn.utils.rnn.pad_sequence([nodes for nodes, _ in graphs], batch_first=True)
        lengths = torch.tensor([len(nodes) for nodes, _ in graphs], device=nodes.device)
        places = torch.arange(nodes.shape[1], device=nodes.device)
        shape = (*nodes.shape[:2], nodes.shape[1])
        edges = torch.zeros(shape, dtype=torch.bool, device=nodes.device)
        for row, (_, pairs) in zip(edges, graphs, strict=True):
            row[pairs[:, 0], pairs[:, 1]] = True
        return cls(nodes, places < lengths.unsqueeze(1), edges)


class LatentGraph(nn.Module):
    """Graph attention layers over all pairs of nodes, then a biaffine score of every pair.

    A score above 0, a probability above one half, is an edge. No node is joined to itself.

    features: how many numbers a node has. size: width of states and of the biaffine. layers: how
    many graph attention layers. normalize: scale scores by 1 / sqrt(size).
    """

    def __init__(
        self, features: int, size: int, *, layers: int, heads: int = 4, normalize: bool = True
    ) -> None:
        super().__init__()
        widths = [features] + [size] * layers
        self.layers = nn.ModuleList(
            GraphAttention(width, size, heads=heads) for width in widths[:-1]
        )
        self.head = Projection(widths[-1], size, xavier_normal=False)
        self.dependent = Projection(widths[-1], size, xavier_normal=False)
        self.arc = ArcBiaffine(size, normalize=normalize, xavier_normal=False)

    def forward(self, nodes: Tensor, mask: Tensor) -> Tensor:
        """nodes (B, m, features), mask (B, m) -> scores (B, m, m) as in `Graphs.edges`."""
        everybody = torch.ones_like(mask, dtype=nodes.dtype).unsqueeze(1).expand(*mask.shape, -1)
        for layer in self.layers:
            nodes = layer(nodes, everybody, mask)
        return self.arc(self.head(nodes), self.dependent(nodes))

    @torch.inference_mode()
    def edges(self, nodes: Tensor) -> Tensor:
        """The edges of one graph: (n, features) nodes -> (k, 2) numbers of i and of j."""
        mask = torch.ones(1, len(nodes), dtype=torch.bool, device=nodes.device)
        return (possible_edges(mask) & (self(nodes.unsqueeze(0), mask) > 0))[0].nonzero()


def possible_edges(mask: Tensor) -> Tensor:
    """mask (B, m) -> (B, m, m), True at pairs of different nodes."""
    itself = torch.eye(mask.shape[1], dtype=torch.bool, device=mask.device)
    return mask.unsqueeze(1) & mask.unsqueeze(2) & ~itself


def edge_loss(scores: Tensor, graphs: Graphs) -> Tensor:
    """Binary cross-entropy, the mean over possible edges; 0 where there are none."""
    losses = nn.functional.softplus(torch.where(graphs.edges, -scores, scores))
    possible = possible_edges(graphs.mask)
    return losses.masked_fill(~possible, 0.0).sum() / possible.sum().clamp(min=1)


def edge_counts(scores: Tensor, graphs: Graphs) -> Tensor:
    """(3,) int64: how many edges were found, are there, and both. They add up over batches."""
    found = possible_edges(graphs.mask) & (scores > 0)
    there = possible_edges(graphs.mask) & graphs.edges
    return torch.stack([found.sum(), there.sum(), (found & there).sum()])


def unlabelled_f1(counts: Tensor) -> float:
    """Micro-averaged F1 of `edge_counts`; 0 where there is nothing."""
    found, there, right = counts.tolist()
    return 2 * right / max(1, found + there)
