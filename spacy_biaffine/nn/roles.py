"""Predicates, their senses and their arguments: the scorer of semantic roles.

"Syntax-Aware Graph-to-Graph Transformer for Semantic Role Labelling", Appendix A. Predicates and
spans are first pruned by scores of their own, so that pairs are scored in bounded memory.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from ..types import Floats, Ints, SentenceBatch
from .dropout import Dropout
from .role_candidates import (
    MIN_SPANS,
    Pruning,
    are_inside,
    gold_spans,
    keep_best,
    share_of,
    spans_of,
)
from .span_scorer import UNLIKELY, SpanProjection, SpanScorer

Decoder = Callable[[Ints, Ints, NDArray[np.floating]], NDArray[np.bool_]]
"""Starts (P, m), ends (P, m) and scores (P, m) of candidates to those that are chosen, (P, m)."""


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
        starts, ends = spans_of(x.shape[1], self.longest, x.device)
        of_arguments, spans = self.span(x, starts, ends)
        inside = are_inside(ends, batch.lengths)
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
        starts, ends = spans_of(batch.x.shape[1], self.longest, batch.x.device)
        of_arguments, spans = self.span(batch.x, starts, ends)
        none = torch.zeros_like(spans, dtype=torch.bool)
        inside = are_inside(ends, batch.lengths)
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
        limits = share_of(lengths, self.pruning.span_share)
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


def _at(x: Tensor, places: Tensor) -> Tensor:
    """x (B, n, width), places (B, k) -> (B, k, width)"""
    return x.gather(1, places.unsqueeze(-1).expand(-1, -1, x.shape[-1]))


def _two_layers(width: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, hidden), nn.ReLU(), Dropout(0.0), nn.Linear(hidden, outputs)
    )
