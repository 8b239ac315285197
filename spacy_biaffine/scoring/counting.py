"""How scorers count: precision, recall and F1 of items that were found and that are there."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

from spacy.scorer import PRFScore

Item = TypeVar("Item")
"""What can be found; hashable."""


def compare(predicted: Iterable[Item], gold: Iterable[Item]) -> PRFScore:
    """Items that are there twice have to be found twice."""
    found, wanted = Counter(predicted), Counter(gold)
    hits = (found & wanted).total()
    return PRFScore(tp=hits, fp=found.total() - hits, fn=wanted.total() - hits)


def by_label(
    pairs: Iterable[tuple[Iterable[Item], Iterable[Item]]], label_of: Callable[[Item], str]
) -> dict[str, dict[str, float]]:
    """The same for each label, over all pairs of predicted and gold items."""
    scores: dict[str, PRFScore] = {}
    for pair in pairs:
        predicted, gold = map(Counter, pair)
        for item in predicted | gold:
            score = scores.setdefault(label_of(item), PRFScore())
            hits = min(predicted[item], gold[item])
            score += PRFScore(tp=hits, fp=predicted[item] - hits, fn=gold[item] - hits)
    return {label: scores[label].to_dict() for label in sorted(scores)}


def named(prefix: str, score: PRFScore, is_annotated: bool) -> dict[str, float | None]:
    """PREFIXp, PREFIXr and PREFIXf; None where no Doc is annotated."""
    return {
        f"{prefix}{name}": value if is_annotated else None
        for name, value in score.to_dict().items()
    }
