"""The loss of the role labeller, and its targets as they stand in batches."""

from collections.abc import Sequence

import numpy as np
import torch

from ..doc.segments import token_index
from ..models.torch_layer import Scored
from ..nn.losses import IGNORED, binary_cross_entropy, cross_entropy, on_device, with_gradient
from ..nn.roles import RoleScores
from ..types import Ints, RoleTargets

NONE = 0
"""Number of no role among the targets of pairs; the roles follow."""


def role_loss(
    batches: Sequence[Scored[RoleScores]], targets: RoleTargets, senses: Ints
) -> tuple[float, list[tuple[torch.Tensor, ...]]]:
    """The loss per word whose annotation is known, and the gradients of the scores.

    It is the sum of four cross-entropies: of each candidate pair's role or none (eq. 8), of each
    word, predicate or not, of each span, argument of any predicate or not, and of each predicate's
    sense among those of its lemma. Pairs and spans of which it is not known whether there is a role
    have none.

    senses: (p,) place of each predicate's sense in the feature "senses", -1 where it has none.
    """
    gold = [_gold(batch, targets, senses) for batch in batches]
    words = sum(len(cut) for cut in targets.cuts if targets.known[cut].any())

    def loss(scores: list[RoleScores]) -> torch.Tensor:
        each = []
        for batch, (predicates, spans, roles, sense) in zip(scores, gold, strict=True):
            with_none = torch.nn.functional.pad(batch.roles, (1, 0))
            each.append(cross_entropy(with_none, on_device(roles, batch.roles)))
            each.append(
                binary_cross_entropy(batch.predicates, on_device(predicates, batch.predicates))
            )
            each.append(binary_cross_entropy(batch.spans, on_device(spans, batch.spans)))
            each.append(cross_entropy(batch.senses, on_device(sense, batch.senses)))
        return torch.stack(each).sum() / max(1, words)

    return with_gradient(loss, [batch.scores for batch in batches])


def last_words(targets: RoleTargets) -> Ints:
    """(tokens, m) places in the sentence of the last words of the gold arguments that begin at each
    token, -1 for none."""
    place = token_index(targets.cuts, len(targets.known)).place
    ends: list[set[int]] = [set() for _ in targets.known]
    for _, start, end, _ in targets.arguments.tolist():
        ends[start].add(int(place[end - 1]))
    return padded_rows([sorted(each) for each in ends])


def padded_rows(rows: Sequence[Sequence[int]]) -> Ints:
    """(len(rows), m), m at least 1, -1 behind shorter rows."""
    width = max([1, *map(len, rows)])
    padded = np.full((len(rows), width), -1, dtype=np.int64)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return padded


def _gold(batch: Scored[RoleScores], targets: RoleTargets, senses: Ints) -> tuple[Ints, ...]:
    """The targets of a batch: of predicates (B, n), of spans (B, S), of roles (B, V, A), of senses
    (B, V)."""
    tokens = batch.tokens
    places, starts, ends = (
        _tokens_at(tokens, each.cpu().numpy())
        for each in (batch.scores.places, batch.scores.starts, batch.scores.ends)
    )
    is_predicate = np.isin(tokens, targets.predicates).astype(np.int64)
    is_known = (tokens >= 0) & np.append(targets.known, False)[tokens]
    predicates = np.where(is_known, is_predicate, IGNORED)

    is_argument = batch.scores.is_argument.cpu().numpy()
    # Where a word's predicates are not known, or one's arguments, other spans may be arguments.
    is_whole = targets.known.copy()
    is_whole[targets.predicates] &= targets.complete
    all_known = np.append(is_whole, True)[tokens].all(axis=1, keepdims=True)
    spans = np.where((is_argument == 0) & ~all_known, IGNORED, is_argument)

    numbers = np.full(len(targets.known) + 1, -1, dtype=np.int64)
    numbers[targets.predicates] = np.arange(len(targets.predicates))
    predicate = numbers[places]
    sense = np.where(predicate >= 0, np.append(senses, IGNORED)[predicate], IGNORED)
    # A candidate that is no gold predicate has no roles; of an incomplete one that is not known.
    complete = np.append(targets.complete, True)[predicate]
    pairs = _pair_numbers(
        predicate[:, :, None], starts[:, None, :], ends[:, None, :], len(targets.known)
    )
    rows, first, end, labels = targets.arguments.T
    keys = _pair_numbers(rows, first, end - 1, len(targets.known))
    order = np.argsort(keys, kind="stable")
    at = np.searchsorted(keys[order], pairs)
    keys, labels = np.append(keys[order], -1), np.append(labels[order], 0)
    roles = np.where(keys[at] == pairs, labels[at] + 1, NONE)
    unknown = (roles == NONE) & ~complete[:, :, None]
    missing = (places < 0)[:, :, None] | (starts < 0)[:, None, :]
    return predicates, spans, np.where(unknown | missing, IGNORED, roles), sense


def _pair_numbers(predicates: Ints, firsts: Ints, lasts: Ints, tokens: int) -> Ints:
    """One number for a predicate and a span, -2 for no predicate."""
    numbers = (predicates * tokens + firsts) * tokens + lasts
    return np.where(predicates >= 0, numbers, -2)


def _tokens_at(tokens: Ints, places: Ints) -> Ints:
    """tokens (B, n), places (B, k) -> (B, k), -1 where the place is -1."""
    found = np.take_along_axis(tokens, places.clip(min=0), axis=1)
    return np.where(places >= 0, found, -1)
