"""GlobalPointer and Efficient GlobalPointer: a score for every span and type of a sentence.

"Efficient GlobalPointer: Fewer Parameters, Better Results" (Su 2022; Su et al. 2022,
arXiv:2208.03054), with the rotary positions of "GlobalPointer: A Unified Approach to Nested and
Flat NER" (Su 2021).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..types import Floats, Ints, SentenceBatch
from .dropout import Dropout
from .recurrent import BiLSTM

UNLIKELY = -4.0
"""Score that spans of a new model have: most are no entities."""

SPANS_PER_WORD = 32
"""Most spans a sentence can have, per word. Only untrained models reach it."""

CHUNK = 2**22
"""Most scores that are worked out at once where a span is looked at with all its types."""

MAX_SCORES = 2**29
"""Most scores that GlobalPointer holds at once: 2 GiB in full precision."""


class SpanScores(NamedTuple):
    """The scores of all spans in parts: s(i, j, t) = pairs[p, i, j] + start[p, i, g] + end[p, j, g]

    with the types in P groups of G, t = p G + g: one group in EfficientGlobalPointer, groups of one
    in GlobalPointer.

    pairs: (B, P, n, n), first word by last word; very low where no span can be.
    sides: (B, P, 2, n, G), start and end.
    """

    pairs: Tensor
    sides: Tensor


class FoundSpans(NamedTuple):
    """The spans of a batch whose scores are above the threshold, (m,) each.

    rows: the sentence. firsts, lasts: places of the first and the last word in it.
    """

    rows: Ints
    firsts: Ints
    lasts: Ints
    types: Ints
    scores: Floats


class EfficientGlobalPointer(nn.Module):
    """s(i, j, t) = (R_i q_i)^T (R_j k_j) / sqrt(d) + w_t^T [q_i; k_i; q_j; k_j] + b_t

    with q, k of size d, and R_i the rotation of position i. A type has 4 d weights and a bias.
    """

    def __init__(self, width: int, types: int, size: int) -> None:
        super().__init__()
        self.views = nn.Linear(width, 2 * size)
        self.types = nn.Linear(2 * size, 2 * types, bias=False)
        self.bias = nn.Parameter(torch.full((types,), UNLIKELY))

    def forward(self, x: Tensor, allowed: Tensor) -> SpanScores:
        """x (B, n, width), allowed (B, n, n) bool: the spans that can be. One group of types."""
        views = self.views(x)
        q, k = views.chunk(2, dim=-1)
        starts, ends = self.types(views).chunk(2, dim=-1)
        sides = torch.stack([starts + self.bias, ends], dim=1)
        return SpanScores(_pair_scores(q, k, allowed).unsqueeze(1), sides.unsqueeze(1))


class GlobalPointer(nn.Module):
    """s(i, j, t) = (R_i q_i,t)^T (R_j k_j,t) / sqrt(d) + b_t, with a q and a k for each type.

    A type has 2 d (width + 1) weights and a bias. Memory grows as n^2 times types.
    """

    def __init__(self, width: int, types: int, size: int) -> None:
        super().__init__()
        self.views = nn.Linear(width, 2 * types * size)
        self.bias = nn.Parameter(torch.full((types,), UNLIKELY))

    def forward(self, x: Tensor, allowed: Tensor) -> SpanScores:
        """x (B, n, width), allowed (B, n, n) bool: the spans that can be. Groups of one type.

        Raises ValueError where there would be more than MAX_SCORES.
        """
        batch, n, _ = x.shape
        types = len(self.bias)
        if batch * types * n * n > MAX_SCORES:
            raise ValueError(
                f"GlobalPointer can't hold the scores of {batch} x {n} x {n} spans with {types} "
                f"types: set efficient = true, or lower max_length."
            )
        views = self.views(x).view(batch, n, 2, types, -1).permute(2, 0, 3, 1, 4)
        starts = self.bias.view(-1, 1, 1).expand(batch, -1, n, 1)
        sides = torch.stack([starts, torch.zeros_like(starts)], dim=2)
        return SpanScores(_pair_scores(views[0], views[1], allowed.unsqueeze(1)), sides)


class SpanPointer(nn.Module):
    """N BiLSTM layers, then GlobalPointer or its efficient form, over padded sentences.

    max_span_length: longest span in words; None for any.
    """

    def __init__(
        self,
        width: int,
        types: int,
        *,
        layers: int,
        hidden: int,
        size: int,
        efficient: bool,
        max_span_length: int | None,
    ) -> None:
        super().__init__()
        self.max_span_length = max_span_length
        self.dropout = Dropout(0.0)
        self.lstm = BiLSTM(width, hidden, layers)
        pointer = EfficientGlobalPointer if efficient else GlobalPointer
        self.pointer = pointer(self.lstm.width, types, size)

    def forward(self, batch: SentenceBatch) -> SpanScores:
        """Scores of all spans in the batch."""
        states = self.lstm(self.dropout(batch.x), batch.lengths)
        return self.pointer(states, allowed_spans(batch.mask, self.max_span_length))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch, threshold: float) -> FoundSpans:
        """The spans above the threshold; no other score leaves the device."""
        scores = self.forward(batch)
        limits = SPANS_PER_WORD * batch.lengths
        return find_spans(SpanScores(*(t.float() for t in scores)), limits, threshold)


def rotate(x: Tensor) -> Tensor:
    """R_i x_i at every position i: x (..., n, d), d even -> (..., n, d).

    Dimensions 2m and 2m + 1 are turned by the angle i * 10000^(-2m / d) ("RoFormer", Su et al.
    2021, eq. 15). The dot product of two rotated vectors depends on the distance of their
    positions, and not on the positions.
    """
    n, d = x.shape[-2:]
    rates = 10000.0 ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float32) / d)
    angles = torch.arange(n, device=x.device, dtype=torch.float32).unsqueeze(1) * rates
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = torch.stack([even * cos - odd * sin, odd * cos + even * sin], dim=-1)
    return turned.flatten(-2).to(x.dtype)


def allowed_spans(mask: Tensor, max_length: int | None) -> Tensor:
    """mask (B, n) of words -> (B, n, n) bool: from a word to itself or a later one, not too far."""
    n = mask.shape[1]
    ahead = torch.ones(n, n, dtype=torch.bool, device=mask.device).triu()
    if max_length is not None:
        ahead = ahead.tril(max_length - 1)
    return ahead & mask.unsqueeze(1) & mask.unsqueeze(2)


def _pair_scores(q: Tensor, k: Tensor, allowed: Tensor) -> Tensor:
    """(..., n, d) twice -> (..., n, n), scaled before the product: halves overflow at 65504."""
    pairs = rotate(q / math.sqrt(q.shape[-1])) @ rotate(k).transpose(-1, -2)
    # Half of the lowest number: what the sides add to it stays finite in any precision.
    return pairs.masked_fill(~allowed, torch.finfo(pairs.dtype).min / 2)


def find_spans(scores: SpanScores, limits: Tensor, threshold: float) -> FoundSpans:
    """All spans whose score is above the threshold, exactly, without scoring all spans.

    limits: (B,) how many spans of a sentence are looked at, the most promising ones.
    """
    groups, size = scores.pairs.shape[1], scores.sides.shape[-1]
    parts = [
        (rows, firsts, lasts, types + group * size, found)
        for group in range(groups)
        for rows, firsts, lasts, types, found in _find_in_group(
            scores.pairs[:, group], scores.sides[:, group], limits, threshold
        )
    ]
    return FoundSpans(*(torch.cat(column).cpu().numpy() for column in zip(*parts, strict=True)))


def _find_in_group(
    pairs: Tensor, sides: Tensor, limits: Tensor, threshold: float
) -> Iterator[tuple[Tensor, ...]]:
    """pairs (B, n, n), sides (B, 2, n, G) -> rows, firsts, lasts, types and scores, in chunks."""
    starts, ends = sides.unbind(1)
    # Added in the order of the scores themselves, so that rounding can't lift one above its bound.
    bounds = pairs + starts.amax(-1).unsqueeze(2)
    bounds += ends.amax(-1).unsqueeze(1)
    places = _promising(bounds, limits, threshold)
    for rows, firsts, lasts in (c.unbind(1) for c in places.split(CHUNK // starts.shape[-1] + 1)):
        scores = pairs[rows, firsts, lasts].unsqueeze(1) + starts[rows, firsts]
        scores += ends[rows, lasts]
        at, types = (scores > threshold).nonzero(as_tuple=True)
        yield rows[at], firsts[at], lasts[at], types, scores[at, types]


def _promising(bounds: Tensor, limits: Tensor, threshold: float) -> Tensor:
    """(m, 3) sentence, first and last word of the spans whose bound (B, n, n) is high enough."""
    above = bounds > threshold
    counts = above.flatten(1).sum(dim=1).cpu()
    for row in (counts > limits).nonzero().flatten().tolist():
        best = bounds[row].flatten().topk(int(limits[row])).indices
        above[row] = False
        above[row].view(-1)[best] = True
    return above.nonzero()
