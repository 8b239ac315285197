"""From Examples to targets of graph parsers: relations of entities, or arcs between tokens."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import filter_spans

from ..decode.bioes import bioes_labels, tags_of_spans
from ..doc.graphs import DEP_GRAPH, RELATIONS, ROOT, has_graph
from ..doc.scores import entities_of, has_entities
from ..doc.segments import token_index
from ..types import Ints
from .alignment import partners
from .spans import place_entities


@dataclass(frozen=True)
class GoldGraph:
    """A gold graph on the tokens of a predicted Doc.

    arcs: (head, dependent, label), each pair once; head may be `ROOT`. known: (tokens,) bool,
    whether it is known which arcs a token has. tags: one per token, "" where it is not known.
    """

    arcs: list[tuple[int, int, str]]
    known: NDArray[np.bool_]
    tags: list[str]


@dataclass(frozen=True)
class GraphTargets:
    """Gold graphs of a batch, by token, counted over all its Docs.

    heads: (tokens, K) positions of the heads in the sentence, from 1; 0 for the root, -1 for none.
    labels: (tokens, K) numbers of their labels, -1 where there is none or it is unknown.
    known: (tokens,) bool, as in `GoldGraph`. tags: (tokens,) number of the tag, -1 where unknown.
    """

    heads: Ints
    labels: Ints
    known: NDArray[np.bool_]
    tags: Ints


def anchors_of(entities: Iterable[Span]) -> dict[int, Span]:
    """The entity that each token stands for in a graph: of every entity one token.

    It is the last one that is not blank; of entities that end together, the shorter one has it, the
    longer one the next to the left that is free. One that has none stands in no graph.
    """
    anchors: dict[int, Span] = {}
    for entity in sorted(entities, key=lambda span: (len(span), span.start, span.label_)):
        free = (t.i for t in reversed(entity) if not t.is_space and t.i not in anchors)
        token = next(free, None)
        if token is not None:
            anchors[token] = entity
    return anchors


def relation_labels(example: Example) -> set[str]:
    """The labels of the gold relations."""
    return {relation.label for relation in example.reference._.relations} - {""}


def arc_labels(example: Example) -> set[str]:
    """The labels of the gold arcs between tokens."""
    return {arc.label for arc in example.reference._.dep_graph} - {""}


def root_labels(example: Example) -> set[str]:
    """The labels of the gold arcs from the root."""
    return {arc.label for arc in example.reference._.dep_graph if arc.head is None} - {""}


def entity_tags(example: Example, spans_key: str | None) -> set[str]:
    """All tags that the types of the gold entities can give rise to; none without annotation."""
    if not has_entities(example.reference, spans_key):
        return set()
    types = {span.label_ for span in entities_of(example.reference, spans_key)}
    return bioes_labels(types - {""})


def relation_graph(example: Example, spans_key: str | None, *, flat: bool) -> GoldGraph:
    """The gold relations as arcs between the `anchors_of` their entities.

    The arc leads from the second argument to the first, for in a tree a word has one head, and
    fewer entities are the first argument of several relations than the second.

    spans_key: the group of the entities; None for doc.ents. flat: only entities that tags can
    mark; of those that overlap the longest. Relations of others are left out. Tokens of entities
    that the predicted tokens don't have, and those where the annotation is missing, are unknown.
    """
    reference, n = example.reference, len(example.predicted)
    entities = entities_of(reference, spans_key)
    entities = filter_spans(entities) if flat else entities
    placed, known = place_entities(example, entities, spans_key)
    places = dict(zip(map(_key, entities), placed, strict=True))
    found = [place for place in places.values() if place is not None]
    tags = tags_of_spans(((s.start, s.end, s.label_) for s in found) if flat else (), n)
    return GoldGraph(
        list(_relation_arcs(reference, places, anchors_of(found))),
        known if has_graph(reference, RELATIONS) else np.zeros_like(known),
        [tag if flat and is_known else "" for tag, is_known in zip(tags, known, strict=True)],
    )


def token_graph(example: Example) -> GoldGraph:
    """The gold arcs between tokens, doc._.dep_graph. A token that is not exactly one gold token is
    unknown, and so is one with a head that is not."""
    reference, n = example.reference, len(example.predicted)
    if not has_graph(reference, DEP_GRAPH):
        return GoldGraph([], np.zeros(n, dtype=bool), [""] * n)
    gold = partners(example)
    known = gold >= 0
    tokens = {int(gold[i]): i for i in np.flatnonzero(known).tolist()}
    arcs: dict[tuple[int, int], str] = {}
    for arc in reference._.dep_graph:
        if arc.dependent.i not in tokens:
            continue
        dependent = tokens[arc.dependent.i]
        head = ROOT if arc.head is None else tokens.get(arc.head.i)
        if head is None:
            known[dependent] = False
        elif head != dependent:
            arcs.setdefault((head, dependent), arc.label)
    return GoldGraph([(*ends, label) for ends, label in arcs.items()], known, [""] * n)


def graph_targets(
    graphs: Sequence[GoldGraph],
    cuts: Sequence[Ints],
    labels: Mapping[str, int],
    tags: Mapping[str, int],
) -> GraphTargets:
    """The targets of the graphs of some Docs. Arcs between different cuts are left out."""
    offsets = np.cumsum([0, *(len(graph.known) for graph in graphs)])
    rows = [
        (head if head == ROOT else head + offset, dependent + offset, labels.get(label, -1))
        for graph, offset in zip(graphs, offsets[:-1], strict=True)
        for head, dependent, label in graph.arcs
    ]
    heads, dependents, numbers = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    sentence, place = token_index(cuts, offsets[-1])
    # The position of the root, whose number is -1, is at the end.
    sentence, position = np.append(sentence, -1), np.append(place + 1, 0)
    inside = (sentence[dependents] >= 0) & (
        (heads == ROOT) | (sentence[heads] == sentence[dependents])
    )
    heads, dependents, numbers = heads[inside], dependents[inside], numbers[inside]
    order = np.argsort(dependents, kind="stable")
    counts = np.bincount(dependents, minlength=offsets[-1])
    slots = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    shape = (offsets[-1], max(1, counts.max(initial=0)))
    positions, labels_there = np.full((2, *shape), -1, dtype=np.int64)
    positions[dependents[order], slots] = position[heads[order]]
    labels_there[dependents[order], slots] = numbers[order]
    return GraphTargets(
        heads=positions,
        labels=labels_there,
        known=np.concatenate([np.zeros(0, dtype=bool), *(graph.known for graph in graphs)]),
        tags=np.array([tags.get(tag, -1) for graph in graphs for tag in graph.tags], np.int64),
    )


EntityKey = tuple[int, int, str]


def _key(span: Span) -> EntityKey:
    return span.start, span.end, span.label_


def _relation_arcs(
    reference: Doc, places: Mapping[EntityKey, Span | None], anchors: Mapping[int, Span]
) -> Iterator[tuple[int, int, str]]:
    """One arc for each pair of entities that is related, the first relation of several.

    Its dependent is the relation's first argument: a tree, with one head a word, then loses 574 of
    the 3,215 relations of SciERC's train set, and 676 the other way round.
    """
    tokens = {_key(entity): token for token, entity in anchors.items()}

    def anchor(entity: Span) -> int | None:
        place = places.get(_key(entity))
        return None if place is None else tokens.get(_key(place))

    seen = set()
    for relation in reference._.relations:
        head, dependent = anchor(relation.tail), anchor(relation.head)
        if head is None or dependent is None or head == dependent or (head, dependent) in seen:
            continue
        seen.add((head, dependent))
        yield head, dependent, relation.label
