"""Predicates, their senses and their arguments: the scorer of semantic roles.

"Syntax-Aware Graph-to-Graph Transformer for Semantic Role Labelling", Appendix A. Predicates and
spans are first pruned by scores of their own, so that pairs are scored in bounded memory.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from ..types import Floats, Ints, SentenceBatch
from .dropout import Dropout

Decoder = Callable[[Ints, Ints, NDArray[np.floating]], NDArray[np.bool_]]
"""Starts (P, m), ends (P, m) and scores (P, m) of candidates to those that are chosen, (P, m)."""

MIN_SPANS = 10
"""Spans that are always kept: in a short sentence pruning saves nothing."""

UNLIKELY = -4.0
"""Score that spans and roles of a new model have: most spans and pairs have none."""

CHUNK = 2**22
"""Most numbers that the hidden layer of the span scorer holds at once."""

CACHE = 2**18
"""The same in prediction on a CPU, whose cache then holds them: several times faster."""


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
        return _share_of(lengths, self.predicate_share).clamp(max=self.max_predicates)


class RoleScores(NamedTuple):
    """Training scores of a batch, and of which candidates they are.

    predicates: (B, n) Phi_v of each word. spans: (B, S) what every span is pruned by; is_argument:
    (B, S) 1 for gold arguments, 0 for other spans of the sentence, -1 behind it. roles: (B, V, A,
    R) Phi of each pair and role; that of "none" is 0. senses: (B, V, m) of what each candidate may
    mean, see `RoleLabeller`. places: (B, V) the candidates for predicates; starts, ends: (B, A)
    those for arguments, first and last word. -1 where there is none.
    """

    predicates: Tensor
    spans: Tensor
    is_argument: Tensor
    roles: Tensor
    senses: Tensor
    places: Tensor
    starts: Tensor
    ends: Tensor


class FoundRoles(NamedTuple):
    """What was found in a batch.

    rows, places: (P,) the sentence, and the place in it, of each predicate. probs: (P,) of being
    one. senses: (P,) number of the sense, -1 where it may have none. arguments: (a, 4) number of
    the predicate, first word, word after the last, role. role_probs: (a,) of the role.
    """

    rows: Ints
    places: Ints
    probs: Floats
    senses: Ints
    arguments: Ints
    role_probs: Floats


class SpanProjection(nn.Module):
    """ReLU(W s_ij + b) over spans, s_ij = sr_j - sl_i the difference of end points (eq. 4, 5):

        sr_j = [f_{j+1}; f_j],   sl_i = [g_i; g_{i+1}]

    with f and g the halves of a word's vector, zero behind the last word. W is applied to the end
    points, so that a span costs one subtraction.
    """

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.size = (width + 1) // 2
        self.linear = nn.Linear(2 * self.size, size)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """x (B, n, width), zero at padding -> W sr + b and W sl, (B, n, size) each."""
        following = functional.pad(x, (0, 0, 0, 1))[:, 1:]
        right = torch.cat([following[..., : self.size], x[..., : self.size]], dim=-1)
        left = torch.cat([x[..., -self.size :], following[..., -self.size :]], dim=-1)
        return self.linear(right), functional.linear(left, self.linear.weight)


class SpanScorer(nn.Module):
    """Phi_a = w^T ReLU(W s_ij + b) of many spans, some at a time; and likewise, with another w, how
    likely each is an argument of any predicate."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__()
        self.projection = SpanProjection(width, size)
        self.output = nn.Linear(size, 2)
        with torch.no_grad():
            self.output.bias.copy_(torch.tensor([0.0, UNLIKELY]))

    def forward(self, x: Tensor, starts: Tensor, ends: Tensor) -> tuple[Tensor, ...]:
        """x (B, n, width); starts, ends (S,) first and last words -> (B, S) twice"""
        right, left = self.projection(x)
        in_cache = not torch.is_grad_enabled() and x.device.type == "cpu"
        step = max(1, (CACHE if in_cache else CHUNK) // (len(x) * right.shape[2]))
        parts = list(zip(starts.split(step), ends.split(step), strict=True))
        if len(parts) == 1 or not torch.is_grad_enabled():
            scored = [self._part(right, left, *part) for part in parts]
        else:
            scored = [
                checkpoint(self._part, right, left, *part, use_reentrant=False) for part in parts
            ]
        return torch.cat(scored, dim=1).unbind(-1)

    def _part(self, right: Tensor, left: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        spans = right.index_select(1, ends).sub_(left.index_select(1, starts))
        return self.output(spans.relu_())


class RoleLabeller(nn.Module):
    """Scores of predicates v, arguments a and their roles l:

        Phi(v, a, l) = Phi_v(v) + Phi_a(a) + Phi_l(v, a, l),   Phi(v, a, none) = 0
        Phi_l(v, a) = W_3 ReLU(LN(W_2 [a; v] + b_2)) + b_3

    (eq. 6 and 8; the ReLU is not in eq. 6, which without it has hardly anything to say of the pair
    beyond what it says of the two), with Phi_v a feed-forward network with one hidden layer, and
    the scores of senses another one over the predicate's vector. A word is a predicate where
    Phi_v > 0. Spans are pruned by a score of their own, learned from all of them: Phi_a, which is
    learned from pairs with spans that were not pruned, takes long to keep most arguments.

    Reads the features "predicate" (1 at given predicates, 0 at words that may be one, -1 at others)
    and "senses", (B, n, m), the senses that each word may have as a predicate, -1 for none; in
    training also "ends", (B, n, m), the last words of the gold arguments that begin at a word, -1
    for none. Given predicates and gold arguments are never pruned.

    roles, senses: how many there are. longest: the longest argument in words.
    """

    def __init__(
        self,
        width: int,
        roles: int,
        senses: int,
        longest: int,
        *,
        span_size: int,
        role_size: int,
        pruning: Pruning,
    ) -> None:
        super().__init__()
        self.pruning = pruning
        self.longest = min(longest, pruning.max_span_length or longest)
        self.dropout = Dropout(0.0)
        self.predicate = _two_layers(width, role_size, 1)
        self.sense = _two_layers(width, role_size, senses) if senses else None
        self.span = SpanScorer(width, role_size)
        self.argument = SpanProjection(width, span_size)
        self.argument_part = nn.Linear(span_size, role_size)
        self.predicate_part = nn.Linear(width, role_size, bias=False)
        self.norm = nn.LayerNorm(role_size)
        self.role = nn.Linear(role_size, roles)
        nn.init.constant_(self.role.bias, UNLIKELY)

    def forward(self, batch: SentenceBatch) -> RoleScores:
        """Scores for training, of gold and of the best other candidates."""
        x = self.dropout(batch.x)
        given = batch.features["predicate"]
        predicates = self._predicate_scores(x)
        places, is_place = self._best_predicates(predicates, given == 1, given >= 0, batch.lengths)
        starts, ends = _spans(x.shape[1], self.longest, x.device)
        of_arguments, spans = self.span(x, starts, ends)
        inside = _are_inside(ends, batch.lengths)
        gold = gold_spans(batch.features["ends"])[:, starts, ends] & inside
        chosen, is_span = self._best_spans(spans, gold, inside, batch.lengths)
        roles = self._role_scores(
            self._argument_parts(x, starts[chosen], ends[chosen]),
            _at(x, places),
            predicates.gather(1, places),
            of_arguments.gather(1, chosen),
        )
        return RoleScores(
            predicates,
            spans,
            gold.long().where(inside, -1),
            roles,
            self._sense_scores(_at(x, places), _at(batch.features["senses"], places)),
            places.where(is_place, -1),
            starts[chosen].where(is_span, -1),
            ends[chosen].where(is_span, -1),
        )

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch, decode: Decoder) -> FoundRoles:
        """Predicates, senses and arguments; the best scores of pairs leave the device once."""
        given = batch.features["predicate"]
        predicates = self._predicate_scores(batch.x)
        may_be = (given >= 0) & (predicates > 0)
        places, is_place = self._best_predicates(predicates, given == 1, may_be, batch.lengths)
        starts, ends = _spans(batch.x.shape[1], self.longest, batch.x.device)
        of_arguments, spans = self.span(batch.x, starts, ends)
        none = torch.zeros_like(spans, dtype=torch.bool)
        inside = _are_inside(ends, batch.lengths)
        chosen, is_span = self._best_spans(spans, none, inside, batch.lengths)
        starts, ends = starts[chosen], ends[chosen]
        # Each predicate is a row of its own: sentences have unequal numbers of them.
        rows, at = is_place.nonzero(as_tuple=True)
        words = places[rows, at]
        vectors, of_words = batch.x[rows, words], predicates[rows, words]
        roles = self._role_scores(
            self._argument_parts(batch.x, starts, ends)[rows],
            vectors.unsqueeze(1),
            of_words.unsqueeze(1),
            of_arguments.gather(1, chosen)[rows],
        )
        roles = roles.squeeze(1).float()
        best, labels = roles.max(dim=-1)
        probs = (best - functional.pad(roles, (0, 1)).logsumexp(dim=-1)).exp()
        best = best.masked_fill(~is_span[rows], -torch.inf)
        arguments, role_probs = choose_roles(
            starts[rows], ends[rows] + 1, best, labels, probs, decode
        )
        senses = batch.features["senses"][rows, words]
        sense = self._sense_scores(vectors, senses).argmax(dim=1, keepdim=True)
        return FoundRoles(
            rows.cpu().numpy(),
            words.cpu().numpy(),
            torch.sigmoid(of_words.float()).cpu().numpy(),
            senses.gather(1, sense).squeeze(1).cpu().numpy(),
            arguments,
            role_probs,
        )

    def _predicate_scores(self, x: Tensor) -> Tensor:
        return self.predicate(x).squeeze(-1)

    def _best_predicates(
        self, scores: Tensor, given: Tensor, may_be: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        return keep_best(scores, given, may_be, self.pruning.most_predicates(lengths))

    def _best_spans(
        self, scores: Tensor, gold: Tensor, inside: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        limits = _share_of(lengths, self.pruning.span_share)
        limits = limits.clamp(min=MIN_SPANS).clamp(max=self.pruning.max_spans)
        return keep_best(scores, gold, inside, limits)

    def _argument_parts(self, x: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """What Phi_l has of arguments before LN: (B, A, role_size). starts, ends (B, A)"""
        right, left = self.argument(x)
        arguments = self.dropout(torch.relu(_at(right, ends) - _at(left, starts)))
        return self.argument_part(arguments)

    def _role_scores(
        self, arguments: Tensor, words: Tensor, predicates: Tensor, spans: Tensor
    ) -> Tensor:
        """Phi (B, V, A, R). arguments (B, A, role_size), words (B, V, width), Phi_v (B, V), Phi_a
        (B, A)"""
        pairs = arguments.unsqueeze(1) + self.predicate_part(words).unsqueeze(2)
        labels = self.role(self.dropout(torch.relu(self.norm(pairs))))
        sides = predicates.unsqueeze(2) + spans.unsqueeze(1)
        return labels + sides.unsqueeze(3)

    def _sense_scores(self, words: Tensor, senses: Tensor) -> Tensor:
        """words (..., width), numbers of senses (..., m) -> (..., m), the lowest number of the
        dtype where there is no sense."""
        if self.sense is None:
            return words.new_zeros(senses.shape)
        scores = self.sense(words).gather(-1, senses.clamp(min=0))
        return scores.masked_fill(senses < 0, torch.finfo(scores.dtype).min)


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


def choose_roles(
    starts: Tensor, ends: Tensor, scores: Tensor, labels: Tensor, probs: Tensor, decode: Decoder
) -> tuple[Ints, Floats]:
    """Arguments (a, 4) and their probabilities (a,) of predicates; all (P, A), ends behind the last
    word. By predicate and start."""
    columns = [tensor.cpu().numpy() for tensor in (starts, ends, labels)]
    predicates, at = decode(columns[0], columns[1], scores.cpu().numpy()).nonzero()
    order = np.lexsort((columns[0][predicates, at], predicates))
    predicates, at = predicates[order], at[order]
    arguments = np.stack([predicates, *(column[predicates, at] for column in columns)], axis=1)
    return arguments, probs.cpu().numpy()[predicates, at]


def _spans(n: int, longest: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """First and last words (S,) of all spans in n words."""
    all_spans = torch.ones(n, n, dtype=torch.bool, device=device).triu().tril(longest - 1)
    starts, ends = all_spans.nonzero(as_tuple=True)
    return starts, ends


def _are_inside(ends: Tensor, lengths: Tensor) -> Tensor:
    """ends (S,) last words, lengths (B,) on the CPU -> (B, S) bool: the spans of each sentence."""
    return ends < lengths.to(ends.device).unsqueeze(1)


def _share_of(lengths: Tensor, share: float) -> Tensor:
    """A share of the words, rounded up; what float32 adds to a whole number is not another word."""
    return (lengths * share - 1e-4).ceil()


def _at(x: Tensor, places: Tensor) -> Tensor:
    """x (B, n, width), places (B, k) -> (B, k, width)"""
    return x.gather(1, places.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


def _two_layers(width: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, hidden), nn.ReLU(), Dropout(0.0), nn.Linear(hidden, outputs)
    )
