"""The normalized biaffine parser."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ..types import Floats, Ints, SentenceBatch
from .arc_label import ArcLabelScorer, Rows, padded

TreeDecoder = Callable[[Floats, Ints], Ints]
"""Arc log-probabilities (B, n, n + 1) and lengths (B,) to heads (B, n), 0 for the root."""


class ArcScores(NamedTuple):
    """Training scores. arcs: (B, n, n + 1), column 0 the root; labels: (B, n, L) at gold heads."""

    arcs: Tensor
    labels: Tensor


class Arcs(NamedTuple):
    """One parsed batch, (B, n) each: heads (0 for the root), labels, and their probabilities."""

    heads: Ints
    labels: Ints
    head_probs: Floats
    label_probs: Floats


class BiaffineParser(ArcLabelScorer):
    """Arc and label scores of the words of a sentence, one head a word.

    roots, inner: the labels that root arcs, and all other arcs, can have; empty for any. The other
    sizes and settings are those of `ArcLabelScorer`.
    """

    barred: Tensor

    def __init__(
        self,
        width: int,
        labels: int,
        tags: int,
        roots: Sequence[int],
        inner: Sequence[int],
        *,
        hops: int = 0,
        **settings: Any,
    ) -> None:
        super().__init__(width, labels, tags, hops=hops, **settings)
        self.register_buffer("barred", _barred(labels, inner, roots), persistent=False)

    def forward(self, batch: SentenceBatch) -> ArcScores:
        """Scores for training; the gold heads are ``batch.features["head"]``, -1 where unknown."""
        states, rows = self._states(batch)
        heads = batch.features["head"].clamp(min=0)
        return ArcScores(
            self.arc_scores(batch, states, rows), self._label_scores(states, rows, heads)
        )

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch, decode: TreeDecoder) -> Arcs:
        """Parse a batch. Arc scores leave the device once; label scores never do."""
        states, rows = self._states(batch)
        arcs = torch.log_softmax(self.arc_scores(batch, states, rows).float(), dim=-1)
        log_probs = arcs.cpu().numpy()
        heads = decode(log_probs, batch.lengths.numpy())
        at = torch.from_numpy(heads).to(states.device)
        scores = self._label_scores(states, rows, at).float()
        scores = scores.masked_fill(self.barred[(at == 0).long()], -torch.inf)
        label_probs, labels = torch.softmax(scores, dim=-1).max(dim=-1)
        head_probs = np.exp(np.take_along_axis(log_probs, heads[..., None], axis=-1)[..., 0])
        return Arcs(heads, labels.cpu().numpy(), head_probs, label_probs.cpu().numpy())

    def _states(self, batch: SentenceBatch) -> tuple[Tensor, Rows]:
        return self.states(batch, batch.features.get("tag"), _head_probabilities)

    def _label_scores(self, states: Tensor, rows: Rows, heads: Tensor) -> Tensor:
        """(B, n, L): one arc a word, so that no n x n x L scores are ever made."""
        head_rows = rows.nodes.gather(1, heads).flatten().index_select(0, rows.words)
        words = states[len(states) - len(rows.words) :]
        scores = self.label(
            self.projections["label_head"](states).index_select(0, head_rows),
            self.projections["label_dependent"](words),
        )
        return padded(scores, rows.dependents)


def _head_probabilities(scores: Tensor) -> Tensor:
    """Arc scores (B, n, n + 1) to probabilities of each word's head."""
    return torch.softmax(scores.float(), dim=-1)


def _barred(labels: int, *seen: Sequence[int]) -> Tensor:
    """(2, L) bool: labels that arcs inside a sentence, and root arcs, never have."""
    barred = torch.zeros(len(seen), labels, dtype=torch.bool)
    for row, allowed in zip(barred, seen, strict=True):
        if allowed:
            row.fill_(True)
            row[list(allowed)] = False
    return barred
