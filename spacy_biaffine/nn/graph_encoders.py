"""Encoders that condition on a tree and tags: BERT's own layers, or some over other vectors.

"Syntax-Aware Graph-to-Graph Transformer for Semantic Role Labelling", Section 2: with BERT
initialisation and without. With relation and tag embeddings of zero, `GraphBert` is BERT (Devlin et
al. 2019).
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..types import SentenceBatch
from .dropout import Dropout
from .graph_transformer import SPREAD, GraphTransformer, Interactions


class TagVectors(nn.Module):
    """A vector for each tag, to be added to a word's; tag 0 is none and has zeros."""

    def __init__(self, tags: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tags + 1, width, padding_idx=0)
        with torch.no_grad():
            self.embedding.weight.normal_(std=SPREAD)[0] = 0

    def forward(self, tags: Tensor) -> Tensor:
        """tags (B, n), 0 or below for none -> (B, n, width)"""
        return self.embedding(tags.clamp(min=0))


class NodeStates(NamedTuple):
    """states: (B, n, width), void at padding."""

    states: Tensor


class GraphNetwork(nn.Module):
    """The common part of both encoders: embedded nodes and their tree through graph layers.

    Reads the features "head" (place of the head in the sentence, -1 for none), "label" (its
    number) and "tag" (0 for none).
    """

    transformer: GraphTransformer

    def embed(self, batch: SentenceBatch) -> Tensor:
        """(B, n, width)"""
        raise NotImplementedError

    def forward(self, batch: SentenceBatch) -> NodeStates:
        """One state per node."""
        return NodeStates(self.transformer(self.embed(batch), *_tree(batch)))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> NodeStates:
        """As `forward`, in full precision, without a gradient."""
        return NodeStates(self.forward(batch).states.float())

    @torch.inference_mode()
    def attention(self, batch: SentenceBatch) -> Tensor:
        """(layers, B, n, n), the mean of the heads."""
        return self.transformer.attention(self.embed(batch), *_tree(batch))


def _tree(batch: SentenceBatch) -> tuple[Tensor, Tensor, Tensor]:
    return batch.mask, batch.features["head"], batch.features["label"]


class GraphLayers(GraphNetwork):
    """x_i = LN(W z_i + b + p_i + t_i) over the vectors z of any encoder, then graph layers.

    p are the sinusoids of "Attention Is All You Need" (Vaswani et al. 2017, Section 3.5), at the
    size of a projected vector; t the embeddings of tags, if any.
    """

    def __init__(
        self,
        width: int,
        labels: int,
        tags: int,
        *,
        size: int,
        layers: int,
        heads: int,
        reads: Interactions,
    ) -> None:
        super().__init__()
        self.projection = nn.Linear(width, size)
        self.tags = TagVectors(tags, size) if tags else None
        self.norm = nn.LayerNorm(size)
        self.dropout = Dropout(0.0)
        self.transformer = GraphTransformer(
            size, labels, layers=layers, heads=heads, hidden=4 * size, reads=reads
        )

    def embed(self, batch: SentenceBatch) -> Tensor:
        """(B, n, size)"""
        x = self.projection(batch.x)
        x = x + sinusoids(x.shape[1], x.shape[2], x.device)
        if self.tags is not None:
            x = x + self.tags(batch.features["tag"])
        return self.dropout(self.norm(x))


def sinusoids(n: int, size: int, device: torch.device) -> Tensor:
    """(n, size) sin and cos of i * 10000^(-2m / size), scaled to a length of about 1."""
    rates = 10000.0 ** (-torch.arange(0, size, 2, device=device) / size)
    angles = torch.arange(n, device=device).unsqueeze(1) * rates
    both = torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
    return both[:, :size] / math.sqrt(size / 2)


class BertSizes(NamedTuple):
    """What is to be known of a BERT: how its pieces are embedded, and its layers.

    pieces, positions: rows of the embedding tables, of size `embedding`; first: the position of
    the first piece. width: that of the layers, to which embeddings of another one are projected.
    """

    pieces: int
    positions: int
    first: int
    embedding: int
    width: int
    layers: int
    heads: int
    hidden: int
    activation: str
    norm_eps: float


class InputEmbeddings(nn.Module):
    """LN(piece_i + position_i + kind_0 + tag_i), projected where layers have another width."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.first = sizes.first
        self.positions = nn.Embedding(sizes.positions, sizes.embedding)
        self.kind = nn.Parameter(torch.zeros(sizes.embedding))
        self.norm = nn.LayerNorm(sizes.embedding, eps=sizes.norm_eps)
        self.dropout = Dropout(0.0)
        self.projection = (
            nn.Linear(sizes.embedding, sizes.width)
            if sizes.embedding != sizes.width
            else nn.Identity()
        )

    def forward(self, pieces: Tensor, tags: Tensor | None) -> Tensor:
        """pieces, tags (B, n, embedding) -> (B, n, width)"""
        places = torch.arange(pieces.shape[1], device=pieces.device) + self.first
        x = pieces + self.positions(places) + self.kind
        if tags is not None:
            x = x + tags
        return self.projection(self.dropout(self.norm(x)))


class PieceEmbeddings(InputEmbeddings):
    """The same with a table of pieces."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__(sizes)
        self.pieces = nn.Embedding(sizes.pieces, sizes.embedding)

    def forward(self, pieces: Tensor, tags: Tensor | None) -> Tensor:
        """numbers of pieces (B, n), tags (B, n, embedding) -> (B, n, width)"""
        return super().forward(self.pieces(pieces), tags)


class GraphBert(GraphNetwork):
    """BERT, whose attention reads a tree and whose input reads tags.

    Also reads the feature "piece", the number of the wordpiece, special ones included. The vectors
    of a batch are not read.
    """

    def __init__(self, sizes: BertSizes, labels: int, tags: int, reads: Interactions) -> None:
        super().__init__()
        self.embeddings = PieceEmbeddings(sizes)
        self.tags = TagVectors(tags, sizes.embedding) if tags else None
        self.transformer = GraphTransformer(
            sizes.width,
            labels,
            layers=sizes.layers,
            heads=sizes.heads,
            hidden=sizes.hidden,
            reads=reads,
            activation=sizes.activation,
            norm_eps=sizes.norm_eps,
        )

    def embed(self, batch: SentenceBatch) -> Tensor:
        """(B, n, width)"""
        tags = None if self.tags is None else self.tags(batch.features["tag"])
        return self.embeddings(batch.features["piece"].clamp(min=0), tags)


class TunedLayers(nn.Module):
    """BERT above the embeddings of its wordpieces, which it reads as the vectors of a batch:

    x_i = LN(piece_i + position_i + kind_0 + case_i), projected where layers have another width.

    What a checkpoint has weights for is called `pretrained.*`, so that it can have a rate of its
    own. cases: how many ways of writing a word there are, 0 to read none. Reads the feature
    "case", from 1, 0 for special pieces.
    """

    def __init__(self, sizes: BertSizes, cases: int) -> None:
        super().__init__()
        self.pretrained = PretrainedLayers(sizes)
        self.cases = TagVectors(cases, sizes.embedding) if cases else None

    def forward(self, batch: SentenceBatch) -> NodeStates:
        """One state per piece."""
        cases = None if self.cases is None else self.cases(batch.features["case"])
        return NodeStates(self.pretrained(batch.x, cases, batch.mask))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> NodeStates:
        """As `forward`, in full precision, without a gradient."""
        return NodeStates(self.forward(batch).states.float())


class PretrainedLayers(nn.Module):
    """The part of `TunedLayers` that a checkpoint has weights for."""

    def __init__(self, sizes: BertSizes) -> None:
        super().__init__()
        self.embeddings = InputEmbeddings(sizes)
        self.transformer = GraphTransformer(
            sizes.width,
            0,
            layers=sizes.layers,
            heads=sizes.heads,
            hidden=sizes.hidden,
            reads=Interactions(False, False, False),
            activation=sizes.activation,
            norm_eps=sizes.norm_eps,
        )

    def forward(self, pieces: Tensor, cases: Tensor | None, mask: Tensor) -> Tensor:
        """pieces, cases (B, n, embedding), mask (B, n) -> (B, n, width)"""
        no_tree = torch.full_like(mask, -1, dtype=torch.int64)
        return self.transformer(self.embeddings(pieces, cases), mask, no_tree, no_tree)
