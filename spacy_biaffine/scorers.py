"""Scoring of predicted structures."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.scorer import Scorer
from spacy.training import Example


def make_parser_scorer() -> Callable[..., dict[str, Any]]:
    return score_parser


def score_parser(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    examples = list(examples)
    right = wrong = las = 0
    for eg in examples:
        for p, g in zip(eg.predicted, eg.reference):
            if g.dep:
                right += p.head.i == g.head.i
                las += p.head.i == g.head.i and p.dep == g.dep
                wrong += 1
    return {"dep_uas": right / max(1, wrong), "dep_las": las / max(1, wrong), **Scorer.score_spans(examples, "sents", getter=lambda d, a: d.sents, has_annotation=lambda d: d.has_annotation("SENT_START"))}
