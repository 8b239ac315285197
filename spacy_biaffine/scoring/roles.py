"""Scoring of predicted frames: arguments as in CoNLL-2005, roles and senses as in CoNLL-2009."""

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from spacy.scorer import PRFScore
from spacy.training import Example

from ..decode.pieces import PREDICATE, bare_label
from ..doc.graphs import FRAMES, WORD_FRAMES, has_graph
from ..gold.roles import TokenFrame, TokenSpan, frames_in_tokens, gold_frames, pieces_of
from .counting import by_label, compare, named

Frames = list[tuple[int, TokenFrame]]
"""Frames, each with the number of its Doc."""

RoleItem = tuple[int, int, str, tuple[TokenSpan, ...]]
"""Number of the Doc, predicate, label, spans."""


def make_role_scorer() -> Callable[..., dict[str, Any]]:
    """The registered scorer of frames."""
    return score_roles


def score_roles(
    examples: Iterable[Example], *, word_frames: bool = False, **_: Any
) -> dict[str, Any]:
    """Precision, recall and F1 of predicates and of their arguments.

    A predicate is the first token of its first span; what else it has counts in roles_per_type
    alone, under V.

    predicates_p, predicates_r, predicates_f. senses_acc: how many senses are right, of the
    predicates that were found and have a gold sense.
    roles_p, roles_r, roles_f: as in CoNLL-2005, whole arguments, whose predicate, label and spans
    are all right; one that begins with C-X is an X. roles_per_type: p, r, f by label, and of
    predicates with all their spans.
    role_words_p, ..._r, ..._f: as in CoNLL-2009 without senses. Each span of an argument counts by
    itself, under its label X or C-X: with arguments that are words, labelled dependencies.
    semantic_p, semantic_r, semantic_f: the same, with one item more for each sense.
    word_frames: score doc._.word_frames instead of doc._.frames; all names then begin with word_.

    Where predicates were given, these are the scores for given predicates, else end-to-end ones.
    Docs without gold frames (none is annotated, which is not the same as none in the text) do not
    count; None where there are no others. Gold that the predicted tokens don't have is missed.
    """
    key = WORD_FRAMES if word_frames else FRAMES
    predicted: Frames = []
    gold: Frames = []
    n_docs = 0
    for example in examples:
        if has_graph(example.reference, key):
            predicted += [(n_docs, frame) for frame in frames_in_tokens(example.predicted, key)]
            gold += [(n_docs, frame) for frame in gold_frames(example, key)]
            n_docs += 1
    senses = compare(_senses(predicted), _senses(gold))
    words = compare(_words(predicted), _words(gold))
    scores: dict[str, Any] = {}
    for name, score in {
        "predicates": compare(_predicates(predicted), _predicates(gold)),
        "roles": compare(_roles(predicted), _roles(gold)),
        "role_words": words,
        "semantic": words + senses,
    }.items():
        scores |= named(f"{name}_", score, bool(n_docs))
    has_senses = any(frame.sense for _, frame in gold)
    scores["senses_acc"] = _accuracy(senses, predicted, gold) if has_senses else None
    items = [(*_roles(frames), *_whole_predicates(frames)) for frames in (predicted, gold)]
    scores["roles_per_type"] = by_label([(items[0], items[1])], itemgetter(2)) if n_docs else None
    return {f"word_{name}": value for name, value in scores.items()} if word_frames else scores


def _predicates(frames: Frames) -> Iterator[tuple[int, int]]:
    return ((doc, frame.predicate) for doc, frame in frames)


def _senses(frames: Frames) -> Iterator[tuple[int, int, str]]:
    return ((doc, frame.predicate, frame.sense) for doc, frame in frames if frame.sense)


def _roles(frames: Frames) -> Iterator[RoleItem]:
    for doc, frame in frames:
        for label, spans in frame.roles:
            yield doc, frame.predicate, bare_label(label), tuple(spans)


def _whole_predicates(frames: Frames) -> Iterator[RoleItem]:
    for doc, frame in frames:
        yield doc, frame.predicate, PREDICATE, tuple(frame.further)


def _words(frames: Frames) -> Iterator[RoleItem]:
    for doc, frame in frames:
        for label, span in pieces_of(frame):
            yield doc, frame.predicate, label, (span,)


def _accuracy(senses: PRFScore, predicted: Frames, gold: Frames) -> float:
    """The share of right senses; 0 where no predicate that has one was found."""
    with_sense = [(doc, frame) for doc, frame in gold if frame.sense]
    n_found = compare(_predicates(predicted), _predicates(with_sense)).tp
    return senses.tp / n_found if n_found else 0.0
