"""The sentence splitter that stands before the parser."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..types import Floats, SentenceBatch
from .dropout import Dropout


class StartScores(NamedTuple):
    """starts: (B, n), above 0 where a sentence starts."""

    starts: Tensor


class SentenceSplitter(nn.Module):
    """One score a word: above 0, it starts a sentence.

    Each layer adds to a word's state what a convolution sees of its neighbours, the next layer
    those twice as far away: four layers see 15 words on either side, all words of a batch at once.
    """

    distances = (1, 2, 4, 8)

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.input = nn.Linear(width, hidden)
        self.layers = nn.ModuleList(_Neighbours(hidden, distance) for distance in self.distances)
        self.dropout = Dropout(0.0)
        self.output = nn.Linear(hidden, 1)

    def forward(self, batch: SentenceBatch) -> StartScores:
        """Scores for training."""
        x = self.input(self.dropout(batch.x))
        for layer in self.layers:
            x = x + self.dropout(layer(x, batch.mask))
        return StartScores(self.output(self.dropout(x)).squeeze(-1))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> Floats:
        """(B, n)"""
        return self.forward(batch).starts.float().cpu().numpy()


class _Neighbours(nn.Module):
    """LayerNorm, then a convolution over each word and the words at a distance to either side."""

    def __init__(self, hidden: int, distance: int) -> None:
        super().__init__()
        self.distance = distance
        self.norm = nn.LayerNorm(hidden)
        self.convolution = nn.Conv1d(hidden, hidden, 3, padding=distance, dilation=distance)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """x (B, n, hidden), mask (B, n) -> (B, n, hidden). Padding is as nothing beyond the end."""
        # One product with the neighbours side by side: faster than a convolution on a CPU, which
        # prepares one anew for each length.
        apart = self.distance
        x = nn.functional.pad(self.norm(x) * mask.unsqueeze(-1), (0, 0, apart, apart))
        n = mask.shape[1]
        seen = torch.cat([x[:, :n], x[:, apart : n + apart], x[:, 2 * apart :]], dim=-1)
        weight = self.convolution.weight.permute(0, 2, 1).flatten(1)
        return nn.functional.gelu(nn.functional.linear(seen, weight, self.convolution.bias))
