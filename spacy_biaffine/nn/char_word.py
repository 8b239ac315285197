"""Words as a learned vector beside what a BiLSTM reads in their characters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..types import Ints
from .dropout import Dropout
from .recurrent import BiLSTMLayer, reversal

UNKNOWN = 0
"""Number of all words, and of all characters, that training has not seen."""

REPLACED = 0.5
"""Share of the words, and of the characters, seen once that a training step takes for unknown."""


@dataclass(frozen=True)
class Spellings:
    """Some words of similar length, padded. chars: (u, c), UNKNOWN at padding; lengths: (u,)"""

    chars: Tensor
    lengths: Tensor


@dataclass(frozen=True)
class WordBatch:
    """The different words of some Docs, at least one, and where they stand.

    words: (U,) number of each. spellings: the same words in the same order, group by group.
    vectors: (U, V), what the vocab knows of them; None where it has no vectors.
    tokens: (N,) which of the words each token is.
    """

    words: Tensor
    spellings: list[Spellings]
    vectors: Tensor | None
    tokens: Tensor


class WordVectors(NamedTuple):
    """vectors: (N, width), one per token."""

    vectors: Tensor


class CharWordEncoder(nn.Module):
    """x_i = [e^w(w_i); x_i^c] with x_i^c = [h_m; h_1], the last states of a BiLSTM over e^c(c_ij).

    Section 3.1 of "Hierarchically-Refined Label Attention Network for Sequence Labeling". Where
    the vocab has vectors v, a projection of them is added: e^w(w_i) + W v(w_i).

    words, chars: the known ones, from the most frequent to those seen once; the numbers of the
    latter start at rare_word and rare_char. vectors: width of the vocab's vectors, 0 for none.
    """

    def __init__(
        self,
        words: list[str],
        rare_word: int,
        chars: str,
        rare_char: int,
        vectors: int,
        *,
        word_size: int,
        char_size: int,
        char_hidden: int,
    ) -> None:
        super().__init__()
        self.numbers: Mapping[str, int] = {word: n for n, word in enumerate(words, UNKNOWN + 1)}
        self.codes, self.code_numbers = _code_table(chars)
        self.rare_word, self.rare_char = rare_word, rare_char
        self.words = _embedding(len(words) + 1, word_size)
        self.chars = _embedding(len(chars) + 1, char_size)
        self.lstm = BiLSTMLayer(char_size, char_hidden, layer_norm=False)
        self.static = nn.Linear(vectors, word_size, bias=False) if vectors else None
        self.dropout = Dropout(0.0)

    def forward(self, batch: WordBatch) -> WordVectors:
        """One vector per token. In training, some rare words and characters become unknown."""
        words = self.words(self._forget(batch.words, self.rare_word))
        if self.static is not None and batch.vectors is not None:
            words = words + self.static(batch.vectors)
        spelled = torch.cat([self._spell(group) for group in batch.spellings])
        vectors = torch.cat([words, spelled], dim=-1).index_select(0, batch.tokens)
        return WordVectors(self.dropout(vectors))

    @torch.inference_mode()
    def predict(self, batch: WordBatch) -> Tensor:
        """(N, width)"""
        return self.forward(batch).vectors

    def char_numbers(self, text: str) -> Ints:
        """(len(text),) the number of each character."""
        codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
        at = np.searchsorted(self.codes, codes).clip(max=len(self.codes) - 1)
        return np.where(self.codes[at] == codes, self.code_numbers[at], UNKNOWN)

    def _spell(self, group: Spellings) -> Tensor:
        """(u, 2 hidden): the state of either direction after its last character."""
        chars = self.chars(self._forget(group.chars, self.rare_char))
        turn = reversal(group.lengths, group.chars.shape[1])
        ahead, back = self.lstm(self.dropout(chars), turn).chunk(2, dim=-1)
        firsts = torch.arange(len(ahead), device=ahead.device) * ahead.shape[1]
        last = ahead.flatten(0, 1).index_select(0, firsts + group.lengths - 1)
        return torch.cat([last, back[:, 0]], dim=-1)

    def _forget(self, numbers: Tensor, first_rare: int) -> Tensor:
        if not self.training:
            return numbers
        chance = torch.rand(numbers.shape, device=numbers.device)
        return numbers.masked_fill((numbers >= first_rare) & (chance < REPLACED), UNKNOWN)


def _embedding(rows: int, size: int) -> nn.Embedding:
    """Uniform with variance 1 / size, as is usual for taggers (Ma and Hovy 2016)."""
    embedding = nn.Embedding(rows, size)
    bound = (3 / size) ** 0.5
    nn.init.uniform_(embedding.weight, -bound, bound)
    return embedding


def _code_table(chars: str) -> tuple[np.ndarray, Ints]:
    """Sorted code points and the number of each; never empty, so that it can be searched."""
    codes = np.array([0xFFFFFFFF, *map(ord, chars)], dtype=np.uint32)
    order = np.argsort(codes)
    return codes[order], np.arange(len(codes))[order]
