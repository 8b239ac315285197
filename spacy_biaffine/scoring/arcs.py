"""Scoring of relations as the arcs between words that a graph parser has learned them as."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from spacy.scorer import PRFScore
from spacy.training import Example

from ..doc.graphs import RELATIONS, has_graph
from ..gold.graphs import relation_graph
from .counting import named
from .graphs import score_relations


def make_relation_arc_scorer(spans_key: str | None = None) -> Callable[..., dict[str, Any]]:
    """The registered scorer of relations that looks at their arcs too.

    spans_key: the group of the entities; None for doc.ents.
    """
    return partial(score_relation_arcs, spans_key=spans_key)


def score_relation_arcs(
    examples: Iterable[Example], *, spans_key: str | None = None, **_: Any
) -> dict[str, Any]:
    """Precision, recall and F1 of arcs, micro-averaged, as in the paper; and all `score_relations`.

    An arc is right if it joins the words that stand for the two entities of a gold relation in its
    direction, whether or not these entities were found: relation_arcs_p, _r, _f with their labels,
    relation_arcs_up, _ur, _uf without. The predicted arcs are those in doc._.dep_graph, where
    `EntityGraph` keeps them if it is told to.
    """
    examples = list(examples)
    labelled, unlabelled = PRFScore(), PRFScore()
    annotated = [example for example in examples if has_graph(example.reference, RELATIONS)]
    for example in annotated:
        gold = {arc[:2]: arc[2] for arc in relation_graph(example, spans_key, flat=True).arcs}
        arcs = [arc for arc in example.predicted._.dep_graph if arc.head is not None]
        found = {(arc.head.i, arc.dependent.i): arc.label for arc in arcs}
        pairs = {(relation.head, relation.tail) for relation in example.reference._.relations}
        hits = found.keys() & gold.keys()
        right = sum(found[arc] == gold[arc] for arc in hits)
        for score, count in ((labelled, right), (unlabelled, len(hits))):
            score.tp += count
            score.fp += len(found) - count
            # Entities that overlap others are not learned; relations of theirs are missed.
            score.fn += len(pairs) - count
    return {
        **named("relation_arcs_", labelled, bool(annotated)),
        **named("relation_arcs_u", unlabelled, bool(annotated)),
        **score_relations(examples, spans_key=spans_key),
    }
