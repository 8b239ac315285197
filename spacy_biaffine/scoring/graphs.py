"""Scoring of predicted graphs: relations of entities, and dependency graphs."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np
from spacy.scorer import PRFScore
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..doc.graphs import DEP_GRAPH, RELATIONS, has_graph
from ..types import Ints
from .counting import by_label, compare, named
from .entities import score_entities

Place = tuple[int, int]
"""Where some tokens begin and end, counted in the characters of the Doc that are not blank: the
same for the same words, however they are cut into tokens."""

Item = tuple[Any, Any, str]
"""What an edge joins, head first, and its label. Ends are places, those of relations with a type,
None the root."""

LABEL = itemgetter(2)


def make_relation_scorer(spans_key: str | None = None) -> Callable[..., dict[str, Any]]:
    """The registered scorer of relations and their entities.

    spans_key: the group of the entities; None for doc.ents.
    """
    return partial(score_relations, spans_key=spans_key)


def score_relations(
    examples: Iterable[Example], *, spans_key: str | None = None, **_: Any
) -> dict[str, Any]:
    """Precision, recall and F1 of directed relations, over all of them (micro); and of entities.

    relations_p, relations_r, relations_f: strict, as Taille et al. (2020) name it; the tokens and
    types of both entities and the label are right. relations_per_type: p, r, f by label, strict.
    relations_boundaries_p, ..._r, ..._f: the same without the types of the entities. What is
    predicted twice counts once. ents_p and so on, or spans_KEY_p: see `score_entities`.
    Docs without gold relations (not annotated, which is not the same as none) do not count. 0 where
    nothing was found nor there to be found, None where no Doc is annotated.
    """
    examples = list(examples)
    pairs = [(_relations(x), _relations(y)) for x, y in _annotated(examples, RELATIONS)]
    strict = _sum(compare(*pair) for pair in pairs)
    loose = _sum(compare(*map(_untyped, pair)) for pair in pairs)
    entities = score_entities(examples, spans_key=spans_key, set_ents=spans_key is None)
    return {
        **named("relations_", strict, bool(pairs)),
        **named("relations_boundaries_", loose, bool(pairs)),
        "relations_per_type": by_label(pairs, LABEL) if pairs else None,
        **entities,
    }


def make_dep_graph_scorer() -> Callable[..., dict[str, Any]]:
    """The registered scorer of dependency graphs."""
    return score_dep_graph


def score_dep_graph(examples: Iterable[Example], **_: Any) -> dict[str, Any]:
    """Precision, recall and F1 over the arcs of dependency graphs, punctuation included.

    dep_graph_up, _ur, _uf: head and dependent are right. dep_graph_lp, _lr, _lf: the label too.
    Both leave out arcs from the root, as the semantic F1 of normalized biaffine parsing does, where
    these are words without a head. dep_graph_per_type: p, r, f by label, of the same arcs.

    dep_graph_euas, dep_graph_eulas, dep_graph_elas: F1 with those of the root, as in the IWPT 2020
    and 2021 shared tasks: without labels, with the universal part of each label in a path such as
    conj:and>nsubj, and with whole labels. Unlike in their script, an arc is right once at most.
    Docs without a gold graph do not count. 0 where nothing was found nor there to be found, None
    where no Doc has one.
    """
    examples = list(examples)
    pairs = [(_arcs(x), _arcs(y)) for x, y in _annotated(examples, DEP_GRAPH)]
    inner = [(_without_root(x), _without_root(y)) for x, y in pairs]
    unlabelled = _sum(compare(*map(_unlabelled, pair)) for pair in inner)
    labelled = _sum(compare(*pair) for pair in inner)
    enhanced = {
        "dep_graph_euas": _sum(compare(*map(_unlabelled, pair)) for pair in pairs),
        "dep_graph_eulas": _sum(compare(*map(_universal, pair)) for pair in pairs),
        "dep_graph_elas": _sum(compare(*pair) for pair in pairs),
    }
    return {
        **named("dep_graph_u", unlabelled, bool(pairs)),
        **named("dep_graph_l", labelled, bool(pairs)),
        "dep_graph_per_type": by_label(inner, LABEL) if pairs else None,
        **{name: score.fscore if pairs else None for name, score in enhanced.items()},
    }


def _annotated(examples: Iterable[Example], key: str) -> Iterator[tuple[Doc, Doc]]:
    """The predicted and the gold Doc, where the latter has a graph."""
    return ((eg.predicted, eg.reference) for eg in examples if has_graph(eg.reference, key))


def _relations(doc: Doc) -> list[Item]:
    starts, ends = _places(doc)

    def entity(span: Span) -> tuple[Place, str]:
        return (int(starts[span.start]), int(ends[span.end - 1])), span.label_

    items = [(entity(head), entity(tail), label) for head, tail, label, _ in doc._.relations]
    return list(dict.fromkeys(items))


def _arcs(doc: Doc) -> list[Item]:
    starts, ends = (places.tolist() for places in _places(doc))
    places = list(zip(starts, ends, strict=True))
    items = [
        (None if head is None else places[head.i], places[dependent.i], label)
        for head, dependent, label, _ in doc._.dep_graph
    ]
    return list(dict.fromkeys(items))


def _places(doc: Doc) -> tuple[Ints, Ints]:
    """Where each token begins and ends."""
    lengths = np.array([len("".join(token.text.split())) for token in doc], dtype=np.int64)
    ends = np.cumsum(lengths)
    return ends - lengths, ends


def _untyped(relations: list[Item]) -> list[Item]:
    return list({(head[0], tail[0], label) for head, tail, label in relations})


def _without_root(arcs: list[Item]) -> list[Item]:
    return [arc for arc in arcs if arc[0] is not None]


def _unlabelled(arcs: list[Item]) -> list[Item]:
    return list({(head, dependent, "") for head, dependent, _ in arcs})


def _universal(arcs: list[Item]) -> list[Item]:
    return [
        (head, dependent, ">".join(step.partition(":")[0] for step in label.split(">")))
        for head, dependent, label in arcs
    ]


def _sum(scores: Iterable[PRFScore]) -> PRFScore:
    return sum(scores, PRFScore())
