"""How scorers count: precision, recall and F1 of items that were found and that are there."""

from collections import Counter
from collections.abc import Hashable, Iterable

from spacy.scorer import PRFScore


def compare(predicted: Iterable[Hashable], gold: Iterable[Hashable]) -> PRFScore:
    """Items that are there twice have to be found twice."""
    found, wanted = Counter(predicted), Counter(gold)
    hits = (found & wanted).total()
    return PRFScore(tp=hits, fp=found.total() - hits, fn=wanted.total() - hits)


def named(prefix: str, score: PRFScore, is_annotated: bool) -> dict[str, float | None]:
    """PREFIXp, PREFIXr and PREFIXf; None where no Doc is annotated."""
    return {
        f"{prefix}{name}": value if is_annotated else None
        for name, value in score.to_dict().items()
    }
