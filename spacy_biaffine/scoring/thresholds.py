"""The score above which a span is an entity, chosen on annotated Docs."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.training import Example

from ..doc.scores import entities_of, scored_spans
from ..gold.alignment import placing, touching
from ..gold.spans import unannotated
from ..types import Floats


class Judged(NamedTuple):
    """Predicted spans, the best first, and how many there are in the gold standard.

    scores: (m,), infinite for those that are there at any threshold; right: (m,) bool; gold: a
    number.
    """

    scores: Floats
    right: NDArray[np.bool_]
    gold: int


def judge(examples: Sequence[Example], predicted_key: str, gold_key: str | None) -> Judged:
    """The spans of a predicted group with scores, against gold ones, None for doc.ents.

    Spans that hold a token of which the annotation is missing are left out, as in the scorer. With
    doc.ents, those that are not in the group are there at any threshold.
    """
    right: list[bool] = []
    scores: list[float] = []
    golds = 0
    for example in examples:
        gold = entities_of(example.reference, gold_key)
        golds += len({(span.start, span.end, span.label) for span in gold})
        place = placing(example)
        there = {(place(span), span.label_) for span in gold}
        missing = touching(example, unannotated(example.reference, gold_key))
        found = scored_spans(example.predicted, predicted_key)
        if gold_key is None:
            written = {(span.start, span.end, span.label) for span, _ in found}
            found += [
                (ent, math.inf)
                for ent in example.predicted.ents
                if (ent.start, ent.end, ent.label) not in written
            ]
        for span, score in found:
            if not missing[span.start : span.end].any():
                right.append(((span.start, span.end), span.label_) in there)
                scores.append(score)
    order = np.argsort(-np.array(scores), kind="stable")
    return Judged(np.array(scores)[order], np.array(right, dtype=bool)[order], golds)


def f1_above(judged: Judged, threshold: float) -> float:
    """Micro F1 of the spans whose scores are above a threshold; 0 without any."""
    found = judged.scores > threshold
    return 2 * float(judged.right[found].sum()) / max(1, int(found.sum()) + judged.gold)


def best_threshold(judged: Judged, lowest: float) -> float:
    """The threshold with the highest F1, the lowest of several; halfway between two scores.

    lowest: the threshold at which the spans were predicted; what is below it is not known.

    Of flat output too: the best spans are chosen first, so that a higher threshold only takes away
    from what a lower one has chosen. Raises ValueError where no span is right.
    """
    scores, right, gold = judged
    own = np.isfinite(scores)
    if not right[own].any():
        raise ValueError(
            f"none of the {own.sum()} spans that the component finds is one of the {gold} that "
            f"are annotated: there is nothing to choose by"
        )
    # F1 = 2 tp / (predicted + gold), of the spans down to each one.
    f1 = 2 * np.cumsum(right) / (np.arange(1, len(scores) + 1) + gold)
    f1[:-1][scores[1:] == scores[:-1]] = 0.0  # no threshold lies between equal scores
    last = len(f1) - 1 - int(f1[::-1].argmax())
    below = scores[last + 1] if last + 1 < len(scores) else max(scores[last] - 1.0, lowest)
    above = scores[last] if own[last] else below + 1.0
    return float((above + below) / 2)
