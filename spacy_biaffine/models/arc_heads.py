"""Registered arc heads of the graph parser: one head per word, or any number of them."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..decode.mst import decode_forests
from ..nn import graph_parser
from ..nn.graph_parser import ArcPlaces
from ..nn.losses import IGNORED, cross_entropy
from ..types import Floats, Ints


class ArcHead(graph_parser.ArcHead, Protocol):
    """An arc head that can be trained."""

    def loss(self, scores: Tensor, heads: Tensor, known: Tensor) -> Tensor:
        """The loss of arcs, summed over the words that are known.

        scores: (B, n, n + 1). heads: (B, n, K) gold heads of each word from 1, 0 for the root, -1
        for none. known: (B, n) bool, whether it is known which arcs the word has.
        """


@dataclass(frozen=True)
class TreeArcs:
    """One head per word, a softmax over heads. Words without an arc hang on the root.

    Of several gold heads the first one is learned. Prediction gives the best trees, so there are no
    cycles (paper, Section 4.2; the paper asks for one root, we for as many as there are).
    """

    def log_probs(self, scores: Tensor) -> Tensor:
        """(B, n, n + 1)"""
        return torch.log_softmax(scores, dim=-1)

    def decode(self, log_probs: Floats, lengths: Ints) -> ArcPlaces:
        """One arc for each word, those from the root as well."""
        heads = decode_forests(log_probs, lengths)
        sentences, words = np.nonzero(np.arange(heads.shape[1]) < lengths[:, None])
        return ArcPlaces(sentences, words, heads[sentences, words])

    def loss(self, scores: Tensor, heads: Tensor, known: Tensor) -> Tensor:
        """Cross-entropy of the first head, or else of the root."""
        first = heads[..., 0].clamp(min=0)
        return cross_entropy(scores, first.masked_fill(~known, IGNORED))


START = 3.0
"""The score of an arc that is as likely as not. Before anything is learned scores are about 0, and
an arc has the probability 0.05: of many words few are heads of a given one. Without it hundreds of
steps go by before the first of rare relations is found."""


@dataclass(frozen=True)
class GraphArcs:
    """Any number of heads per word, also none: sigmoid(score - START) for every arc.

    threshold: probability above which there is an arc. positive_weight: how much more the loss of
    an arc that is there weighs than that of one that is not. Above 1 rare arcs are learned sooner
    and more of them are found, and probabilities are higher than they should be. every_word: a word
    without an arc above the threshold gets its likeliest one, for graphs that leave no word out.
    """

    threshold: float = 0.5
    positive_weight: float = 5.0
    every_word: bool = False

    def __post_init__(self) -> None:
        """Raises ValueError for a threshold that is no probability."""
        if not 0.0 < self.threshold < 1.0:
            raise ValueError(f"threshold must be above 0 and below 1, not {self.threshold}.")

    def log_probs(self, scores: Tensor) -> Tensor:
        """(B, n, n + 1)"""
        return functional.logsigmoid(scores - START)

    def decode(self, log_probs: Floats, lengths: Ints) -> ArcPlaces:
        """The arcs above the threshold, and the likeliest of each word that is to have one."""
        words = np.arange(log_probs.shape[1]) < lengths[:, None]
        above = (log_probs > math.log(self.threshold)) & words[:, :, None]
        if self.every_word:
            sentences, left = np.nonzero(words & ~above.any(axis=-1))
            above[sentences, left, log_probs[sentences, left].argmax(axis=-1)] = True
        return ArcPlaces(*np.nonzero(above))

    def loss(self, scores: Tensor, heads: Tensor, known: Tensor) -> Tensor:
        """Binary cross-entropies of each word's arcs from the root and from known words, summed."""
        gold = torch.zeros_like(scores, dtype=torch.bool)
        at = (heads >= 0).nonzero(as_tuple=True)
        gold[at[0], at[1], heads[at]] = True
        itself = torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
        heads_known = known.unsqueeze(1) & ~itself
        counts = known.unsqueeze(2) & functional.pad(heads_known, (1, 0), value=True)
        above = scores - START
        losses = functional.softplus(torch.where(gold, -above, above))
        weighted = torch.where(gold, self.positive_weight * losses, losses)
        return weighted.masked_fill(~counts, 0.0).sum()
