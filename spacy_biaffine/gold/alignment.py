"""From Examples to targets and masks: the only room that knows about alignment."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ORTH
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.training.alignment_array import AlignmentArray

from ..doc.segments import words_of
from ..types import Ints

TokenSpan = tuple[int, int]
"""First token, and the token after the last."""


def partners(example: Example) -> Ints:
    """Per predicted token, the number of the gold token that it is exactly, -1 where none is."""
    if same_tokens(example):
        return np.arange(len(example.predicted))
    forth, back = example.alignment.x2y, example.alignment.y2x
    lengths = np.asarray(forth.lengths)
    single = lengths == 1
    gold = np.asarray(forth.data)[(np.cumsum(lengths) - lengths)[single]]
    found = np.full(len(lengths), -1, dtype=np.int64)
    found[single] = np.where(np.asarray(back.lengths)[gold] == 1, gold, -1)
    return found


def misaligned(example: Example) -> int:
    """How many predicted tokens, blank ones left out, are not exactly one gold token."""
    (words,) = words_of([example.predicted])
    return int((partners(example)[words] < 0).sum())


def placing(example: Example) -> Callable[[Span], TokenSpan | None]:
    """What finds gold spans on the predicted tokens, `trimmed`; None for one whose edges are inside
    of them. Blanks that only the predicted Doc has may be within."""
    trim = trimmed(example.predicted)
    if same_tokens(example):
        return lambda span: trim(span.start, span.end)
    forth, back = _shared(example.alignment.x2y), _shared(example.alignment.y2x)

    def place(span: Span) -> TokenSpan | None:
        touched = [token for gold in back[span.start : span.end] for token in gold]
        if not touched:
            return None
        start, end = min(touched), max(touched) + 1
        gold = [token for each in forth[start:end] for token in each]
        return trim(start, end) if span.start <= min(gold) and max(gold) < span.end else None

    return place


def trimmed(doc: Doc) -> Callable[[int, int], TokenSpan]:
    """What takes blanks from the edges of a Doc's spans; one of blanks alone is left as it is."""
    words = np.append(words_of([doc])[0], len(doc))

    def trim(start: int, end: int) -> TokenSpan:
        low, high = np.searchsorted(words, [start, end])
        return (int(words[low]), int(words[high - 1]) + 1) if low < high else (start, end)

    return trim


def touching(example: Example, gold: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which predicted tokens share characters with some of the gold tokens, (gold tokens,) bool."""
    if same_tokens(example):
        return gold
    back = example.alignment.y2x
    touched = np.zeros(len(example.predicted), dtype=bool)
    touched[np.asarray(back.data)[np.repeat(gold, back.lengths)]] = True
    return touched


def _shared(alignment: AlignmentArray) -> list[list[int]]:
    """Per token of one side, the tokens of the other side that it shares characters with."""
    ends = np.cumsum(alignment.lengths)
    return [part.tolist() for part in np.split(np.asarray(alignment.data), ends[:-1])]


def same_tokens(example: Example) -> bool:
    """Whether predicted and gold tokens are the same, word for word."""
    predicted, reference = example.predicted, example.reference
    return len(predicted) == len(reference) and bool(
        (predicted.to_array(ORTH) == reference.to_array(ORTH)).all()
    )
