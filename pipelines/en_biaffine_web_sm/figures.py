"""What is counted on each document, F1 over all of them, and how sure that is."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from spacy.tokens import Doc, Token

from spacy_biaffine.decode.pieces import bare_label
from spacy_biaffine.gold.roles import TokenFrame

DRAWS = 1000


class Counts(NamedTuple):
    """Of one document: items that are right, that were found, and that are there."""

    right: int
    found: int
    wanted: int


class Figure(NamedTuple):
    """F1 over all documents, 0 to 1, and the middle 95 % of F1 over documents drawn at random,
    as many as there are."""

    value: float
    low: float
    high: float


def figure_of(documents: list[Counts]) -> Figure:
    """Where as many items were found as there are, F1 is the share of right ones."""
    counts = np.array(documents, dtype=np.int64)
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(counts), size=(DRAWS, len(counts)))
    low, high = np.percentile(f1(counts[drawn].sum(axis=1)), [2.5, 97.5])
    return Figure(float(f1(counts.sum(axis=0))), float(low), float(high))


def f1(sums: np.ndarray) -> np.ndarray:
    """(..., 3) counts to (...) F1, 0 where nothing was found and nothing is there."""
    return 2 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 2], 1)


def compare(found: Iterable[Any], wanted: Iterable[Any]) -> Counts:
    """Items that are there twice have to be found twice."""
    ours, theirs = Counter(found), Counter(wanted)
    return Counts((ours & theirs).total(), ours.total(), theirs.total())


def on_tokens(read: Callable[[Token], Any]) -> Callable[[Doc, Doc], Counts]:
    """Counts of a label that every token has. Both Docs have the same tokens."""

    def counted(doc: Doc, gold: Doc) -> Counts:
        right = sum(read(ours) == read(theirs) for ours, theirs in zip(doc, gold, strict=True))
        return Counts(right, len(doc), len(gold))

    return counted


def sentences(doc: Doc, gold: Doc) -> Counts:
    return compare(*([(sent.start, sent.end) for sent in each.sents] for each in (doc, gold)))


class Layer(NamedTuple):
    """attr: the attribute of tokens that a Doc has where the layer was predicted."""

    attr: str
    count: Callable[[Doc, Doc], Counts]


LAYERS = {
    "UPOS": Layer("POS", on_tokens(lambda token: token.pos_)),
    "XPOS": Layer("TAG", on_tokens(lambda token: token.tag_)),
    "FEATS": Layer("MORPH", on_tokens(lambda token: str(token.morph))),
    "Lemmas": Layer("LEMMA", on_tokens(lambda token: token.lemma_)),
    "UAS": Layer("DEP", on_tokens(lambda token: token.head.i)),
    "LAS": Layer("DEP", on_tokens(lambda token: (token.head.i, token.dep_.lower()))),
    "LAS, labels without subtypes": Layer(
        "DEP", on_tokens(lambda token: (token.head.i, token.dep_.lower().partition(":")[0]))
    ),
    "Sentences": Layer("SENT_START", sentences),
}
"""Accuracy over all words, punctuation included; F1 of sentences."""


def roles(found: list[TokenFrame], wanted: list[TokenFrame]) -> dict[str, Counts]:
    """Predicates; senses of the predicates that were found; whole arguments as in CoNLL-2005."""
    senses = {frame.predicate: frame.sense for frame in wanted}
    hits = [frame for frame in found if frame.predicate in senses]
    right = sum(frame.sense == senses[frame.predicate] for frame in hits)
    return {
        "Predicates": compare(*([frame.predicate for frame in each] for each in (found, wanted))),
        "Senses of predicates found": Counts(right, len(hits), len(hits)),
        "Arguments": compare(arguments(found), arguments(wanted)),
    }


def arguments(frames: Iterable[TokenFrame]) -> list[tuple[int, str, tuple[tuple[int, int], ...]]]:
    return [
        (frame.predicate, bare_label(label), tuple(spans))
        for frame in frames
        for label, spans in frame.roles
    ]
