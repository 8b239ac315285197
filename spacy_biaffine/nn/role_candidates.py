"""Which predicates and spans of a sentence are looked at: the best ones, and in training gold."""

from dataclasses import dataclass

import torch
from torch import Tensor

MIN_SPANS = 10
"""Spans that are always kept: in a short sentence pruning saves nothing."""


@dataclass(frozen=True)
class Pruning:
    """How many candidates a sentence of n words keeps: n times the share, and at most the limit.

    max_span_length: longest argument in words; None for any, 1 where arguments are words.
    """

    predicate_share: float
    max_predicates: int
    span_share: float
    max_spans: int
    max_span_length: int | None

    def most_predicates(self, lengths: Tensor) -> Tensor:
        """How many predicates are found at most in sentences of so many words."""
        return share_of(lengths, self.predicate_share).clamp(max=self.max_predicates)


def keep_best(
    scores: Tensor, forced: Tensor, allowed: Tensor, limits: Tensor
) -> tuple[Tensor, Tensor]:
    """The best of each row: (B, k) their numbers, and (B, k) bool where there is one.

    scores (B, m); forced, allowed (B, m) bool: those that are kept in any case, and those that may
    be. limits: (B,) on the CPU, most that are kept beside more forced ones.
    """
    allowed = allowed | forced
    counts = torch.minimum(limits.to(scores.device), allowed.sum(dim=1))
    counts = torch.maximum(counts, forced.sum(dim=1))
    ranks = scores.detach().float().masked_fill(~allowed, -torch.inf)
    best = ranks.masked_fill(forced, torch.inf).topk(int(counts.max()), dim=1).indices
    return best, torch.arange(best.shape[1], device=best.device) < counts.unsqueeze(1)


def gold_spans(ends: Tensor) -> Tensor:
    """(B, n, m) last words of the spans that begin at each word, -1 for none -> (B, n, n) bool."""
    sentences, n, _ = ends.shape
    marks = torch.zeros(sentences, n, n + 1, dtype=torch.bool, device=ends.device)
    return marks.scatter_(2, ends + 1, True)[..., 1:]


def spans_of(n: int, longest: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """First and last words (S,) of all spans in n words."""
    all_spans = torch.ones(n, n, dtype=torch.bool, device=device).triu().tril(longest - 1)
    starts, ends = all_spans.nonzero(as_tuple=True)
    return starts, ends


def are_inside(ends: Tensor, lengths: Tensor) -> Tensor:
    """ends (S,) last words, lengths (B,) on the CPU -> (B, S) bool: the spans of each sentence."""
    return ends < lengths.to(ends.device).unsqueeze(1)


def share_of(lengths: Tensor, share: float) -> Tensor:
    """A share of the words, rounded up; what float32 adds to a whole number is not another word."""
    return (lengths * share - 1e-4).ceil()
