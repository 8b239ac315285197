"""Scoring of predicted structures against gold ones."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, IS_SPACE
from spacy.scorer import PRFScore, Scorer
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.training import Example

from ..gold.alignment import partners

PUNCTUATION = ("punct", "p")
"""Labels of the gold arcs that the scores without punctuation leave out, as in spaCy's scorer."""


def make_parser_scorer() -> Callable[..., dict[str, Any]]:
    """The registered scorer of dependency trees and sentences."""
    return score_parser


def score_parser(examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
    """Attachment scores, F1 over words as in the CoNLL 2018 shared task, and sentence F1.

    dep_uas, dep_las: all words, full labels. dep_uas_nopunct, dep_las_nopunct: words whose gold
    label is no punctuation. dep_las_universal: labels up to the first colon, which is the LAS
    of the official script. All labels are lower-cased first, as in spaCy's scorer: its own parser
    calls every root "ROOT". dep_las_per_type: p, r, f by label. sents_p, sents_r, sents_f.
    Words without a gold label do not count, nor do Docs without any. None where nothing is
    annotated.
    """
    examples = list(examples)
    arcs = _collect(examples)
    arcs, names = _lowered(arcs, _label_names(examples, arcs))
    right = arcs.attached & (arcs.predicted == arcs.gold)
    universal = arcs.attached & (_universal(arcs.predicted, names) == _universal(arcs.gold, names))
    every = np.ones_like(right)
    words = ~np.isin(arcs.gold, [get_string_id(label) for label in PUNCTUATION])
    sents = Scorer.score_spans(examples, "sents", has_annotation=_has_sents, **kwargs)
    return {
        "dep_uas": _f1(arcs, arcs.attached, every),
        "dep_las": _f1(arcs, right, every),
        "dep_uas_nopunct": _f1(arcs, arcs.attached, words),
        "dep_las_nopunct": _f1(arcs, right, words),
        "dep_las_universal": _f1(arcs, universal, every),
        "dep_las_per_type": _per_type(arcs, right, names),
        **{name: sents[name] for name in ("sents_p", "sents_r", "sents_f")},
    }


class _Arcs(NamedTuple):
    """One row per word of either side: labels (0 where a side lacks the word), right heads."""

    predicted: NDArray[np.uint64]
    gold: NDArray[np.uint64]
    attached: NDArray[np.bool_]
    is_predicted: NDArray[np.bool_]
    is_gold: NDArray[np.bool_]


def _collect(examples: Sequence[Example]) -> _Arcs:
    rows = [_arcs(example) for example in examples]
    if not rows:
        rows = [_Arcs(*(np.zeros(0, t) for t in (np.uint64, np.uint64, bool, bool, bool)))]
    return _Arcs(*(np.concatenate(column) for column in zip(*rows, strict=True)))


def _arcs(example: Example) -> _Arcs:
    """The rows of one Example: matched words, words only predicted, words only gold."""
    predicted_heads, predicted_deps, predicted_words = _tree(example.predicted)
    gold_heads, gold_deps, gold_words = _tree(example.reference)
    gold_words &= gold_deps != 0
    partner = partners(example)
    matched = partner >= 0
    unmatched = ~np.isin(np.arange(len(gold_deps)), partner[matched]) & gold_words
    known = matched & gold_words[np.maximum(partner, 0)] if len(gold_words) else matched
    spurious = ~matched & predicted_words & gold_words.any()
    at = partner[known]
    nothing = np.zeros(int(spurious.sum()), np.uint64), np.zeros(int(unmatched.sum()), np.uint64)
    counts = [int(known.sum()), len(nothing[0]), len(nothing[1])]
    return _Arcs(
        predicted=np.concatenate([predicted_deps[known], predicted_deps[spurious], nothing[1]]),
        gold=np.concatenate([gold_deps[at], nothing[0], gold_deps[unmatched]]),
        attached=np.concatenate(
            [partner[predicted_heads[known]] == gold_heads[at], nothing[0] > 0, nothing[1] > 0]
        ),
        is_predicted=np.repeat([True, True, False], counts),
        is_gold=np.repeat([True, False, True], counts),
    )


def _tree(doc: Doc) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.bool_]]:
    """Heads as token numbers (the token itself at a root), labels, and which are no blanks."""
    heads, deps = doc.to_array([HEAD, DEP]).reshape(-1, 2).T
    words = doc.to_array([IS_SPACE]) == 0
    return np.arange(len(doc)) + heads.astype(np.int64), deps, words


def _f1(arcs: _Arcs, right: NDArray[np.bool_], counted: NDArray[np.bool_]) -> float | None:
    score = _prf(arcs.is_predicted & counted, arcs.is_gold & counted, right & counted)
    return score.fscore if arcs.is_gold.any() else None


def _per_type(
    arcs: _Arcs, right: NDArray[np.bool_], names: dict[int, str]
) -> dict[str, dict[str, float]] | None:
    scores = {}
    for label, name in sorted(names.items(), key=lambda item: item[1]):
        predicted = arcs.is_predicted & (arcs.predicted == label)
        gold = arcs.is_gold & (arcs.gold == label)
        scores[name] = _prf(predicted, gold, right & gold).to_dict()
    return scores or None


def _prf(
    predicted: NDArray[np.bool_], gold: NDArray[np.bool_], right: NDArray[np.bool_]
) -> PRFScore:
    hits = int(right.sum())
    return PRFScore(tp=hits, fp=int(predicted.sum()) - hits, fn=int(gold.sum()) - hits)


def _label_names(examples: Sequence[Example], arcs: _Arcs) -> dict[int, str]:
    """The labels that occur, by their hash."""
    vocabs = {id(doc.vocab): doc.vocab for eg in examples for doc in (eg.predicted, eg.reference)}
    hashes = np.unique(np.concatenate([arcs.predicted, arcs.gold]))
    return {
        int(h): next(v.strings[int(h)] for v in vocabs.values() if h in v.strings)
        for h in hashes
        if h
    }


def _lowered(arcs: _Arcs, names: dict[int, str]) -> tuple[_Arcs, dict[int, str]]:
    """The same arcs with labels in lower case."""
    lower = {h: name.lower() for h, name in names.items()}
    predicted, gold = (_renamed(labels, lower) for labels in (arcs.predicted, arcs.gold))
    lowered = {get_string_id(name): name for name in lower.values()}
    return arcs._replace(predicted=predicted, gold=gold), lowered


def _universal(labels: NDArray[np.uint64], names: dict[int, str]) -> NDArray[np.uint64]:
    """The hash of the part of each label before its first colon."""
    return _renamed(labels, {h: name.split(":")[0] for h, name in names.items()})


def _renamed(labels: NDArray[np.uint64], names: dict[int, str]) -> NDArray[np.uint64]:
    """The hash of the new name of each label; 0 stays 0."""
    unique, inverse = np.unique(labels, return_inverse=True)
    hashes = [get_string_id(names[int(h)]) if h else 0 for h in unique]
    return np.array(hashes, dtype=np.uint64)[inverse]


def _has_sents(doc: Doc) -> bool:
    # spaCy takes any Doc of one token for annotated.
    return doc.has_annotation("DEP" if len(doc) == 1 else "SENT_START")
