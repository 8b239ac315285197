"""BiLSTM-LAN: layers that refine a distribution over labels by attention to label embeddings.

"Hierarchically-Refined Label Attention Network for Sequence Labeling", Section 4. Time and memory
grow with labels times words, O(|L| n): no transitions between labels are ever scored.
"""

import math
from typing import NamedTuple, cast

import torch
from torch import Tensor, nn

from ..types import SentenceBatch
from .dropout import Dropout
from .recurrent import BiLSTMLayer, reversal

MAX_WEIGHTS = 2**22
"""Attention weights (words times labels times heads) that are made at once."""


class LabelScores(NamedTuple):
    """scores: (N, L) over the words of a batch, sentence by sentence, without the padding.

    Their softmax over L is the distribution of a word's label.
    """

    scores: Tensor


class LabelAttention(nn.Module):
    """The label-attention inference sublayer of a hidden layer (Section 4.2):

        head_i = softmax(Q K^T / sqrt(d)) V,   Q = H^w W_i^Q, K = x^l W_i^K, V = x^l W_i^V
        H^l = concat(head_1, ..., head_k) + H^w

    d: the width of a head, size / k.
    """

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(size, size, bias=False)
        self.key = nn.Linear(size, size, bias=False)
        self.value = nn.Linear(size, size, bias=False)
        self.dropout = Dropout(0.0)

    def forward(self, words: Tensor, labels: Tensor) -> Tensor:
        """H^w (N, size), x^l (L, size) -> H^l (N, size)"""
        keys, values = self._per_head(self.key(labels)), self._per_head(self.value(labels))
        block = max(1, MAX_WEIGHTS // (len(labels) * self.heads))
        heads = [self.dropout(self._attend(part, keys)) @ values for part in words.split(block)]
        return torch.cat(heads, dim=1).transpose(0, 1).flatten(1) + words

    def weights(self, words: Tensor, labels: Tensor) -> Tensor:
        """The distributions over labels that the heads make, (k, N, L)."""
        return self._attend(words, self._per_head(self.key(labels)))

    def _attend(self, words: Tensor, keys: Tensor) -> Tensor:
        # Scaled before the product: words have fewer numbers than pairs of words and labels.
        queries = self._per_head(self.query(words) / math.sqrt(keys.shape[-1]))
        return torch.softmax(queries @ keys.transpose(1, 2), dim=-1)

    def _per_head(self, x: Tensor) -> Tensor:
        """(N, size) -> (k, N, size / k)"""
        return x.view(len(x), self.heads, -1).transpose(0, 1)


class LabelAttentionNetwork(nn.Module):
    """k BiLSTM-LAN layers over one table of label embeddings x^l, (L, size), size = 2 hidden.

    A hidden layer gives [H^w; H^l] to the next. The last one has a single head without
    projections, whose scores H^w x^l^T are the output. So one layer is BiLSTM-softmax with the
    weights x^l, and no bias (Section 4.5). These scores are not scaled by 1 / sqrt(size), and x^l
    starts as the weights of torch's linear layers do: Adam moves all weights by the same step, and
    after a scale this one would move the scores of the labels sqrt(size) times less.
    """

    def __init__(self, width: int, labels: int, *, layers: int, hidden: int, heads: int) -> None:
        super().__init__()
        size = 2 * hidden
        widths = [width] + [2 * size] * (layers - 1)
        spread = 1 / math.sqrt(size)
        self.labels = nn.Parameter(torch.empty(labels, size).uniform_(-spread, spread))
        self.lstms = nn.ModuleList(BiLSTMLayer(w, hidden, layer_norm=False) for w in widths)
        self.attentions = nn.ModuleList(LabelAttention(size, heads) for _ in widths[1:])
        self.dropout = Dropout(0.0)

    def forward(self, batch: SentenceBatch) -> LabelScores:
        """The scores of every label at every word."""
        return LabelScores(self._scores(self._states(batch)[-1]))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> LabelScores:
        """As `forward`, without a gradient."""
        return self.forward(batch)

    @torch.inference_mode()
    def attention(self, batch: SentenceBatch) -> list[Tensor]:
        """The label distributions of each layer, (N, L); in hidden layers the mean of the heads."""
        *hidden, last = self._states(batch)
        weights = [
            cast(LabelAttention, layer).weights(words, self.labels).mean(dim=0)
            for layer, words in zip(self.attentions, hidden, strict=True)
        ]
        return [*weights, torch.softmax(self._scores(last), dim=-1)]

    def _scores(self, words: Tensor) -> Tensor:
        """(N, size) -> (N, L)"""
        return words @ self.labels.T

    def _states(self, batch: SentenceBatch) -> list[Tensor]:
        """H^w of each layer, (N, size) over the words."""
        turn = reversal(batch.lengths.to(batch.x.device), batch.x.shape[1])
        rows = batch.mask.flatten().nonzero().squeeze(1)
        padded = self.dropout(self.lstms[0](batch.x, turn))
        states = [padded.flatten(0, 1).index_select(0, rows)]
        for lstm, attention in zip(self.lstms[1:], self.attentions, strict=True):
            refined = torch.zeros_like(padded).flatten(0, 1)
            refined = refined.index_copy(0, rows, attention(states[-1], self.labels))
            both = torch.cat([padded, refined.view_as(padded)], dim=-1)
            padded = self.dropout(lstm(both, turn))
            states.append(padded.flatten(0, 1).index_select(0, rows))
        return states
