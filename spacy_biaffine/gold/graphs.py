"""From Examples to targets of graph parsers: relations of entities, or arcs between tokens."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
from .left_out import (
    ARC_NO_LABEL,
    ARC_OTHER_TOKENS,
    ARC_OUTSIDE,
    ARC_SECOND,
    ARC_TO_ITSELF,
    RELATION_NO_ENTITY,
    RELATION_NO_TOKEN,
    RELATION_OTHER_TOKENS,
    RELATION_OVERLAPS,
    RELATION_SECOND,
    RELATION_TO_ITSELF,
    Kind,
    LeftOut,
)
from .spans import place_entities

TokenArc = tuple[int, int, str]
"""Head, dependent, label."""


@dataclass(frozen=True)
class GoldGraph:
    """A gold graph on the tokens of a predicted Doc.

    arcs: (head, dependent, label), each pair once; head may be `ROOT`. known: (tokens,) bool,
    whether it is known which arcs a token has. tags: one per token, "" where it is not known.
    left_out: gold arcs and relations that are not among the arcs.
    """

    arcs: list[TokenArc]
    known: NDArray[np.bool_]
    tags: list[str]
    left_out: LeftOut = field(default_factory=Counter)


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
    every_entity = entities_of(reference, spans_key)
    entities = filter_spans(every_entity) if flat else every_entity
    placed, known = place_entities(example, entities, spans_key)
    places = dict(zip(map(_key, entities), placed, strict=True))
    found = [place for place in places.values() if place is not None]
    tags = tags_of_spans(((s.start, s.end, s.label_) for s in found) if flat else (), n)
    overlapping = {*map(_key, every_entity)} - set(places)
    arcs, left_out = _split(_relation_arcs(reference, places, overlapping, anchors_of(found)))
    return GoldGraph(
        arcs,
        known if has_graph(reference, RELATIONS) else np.zeros_like(known),
        [tag if flat and is_known else "" for tag, is_known in zip(tags, known, strict=True)],
        left_out,
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
    arcs, left_out = _split(_token_arcs(reference, tokens, known))
    return GoldGraph(arcs, known, [""] * n, left_out)


def arcs_left_out(graph: GoldGraph, cuts: Sequence[Ints]) -> LeftOut:
    """What can't be learned of the graph of a Doc that is read in cuts."""
    sentence = np.append(token_index(cuts, len(graph.known)).segment, -1)
    outside = sum(
        sentence[dependent] < 0 or (head != ROOT and sentence[head] != sentence[dependent])
        for head, dependent, _ in graph.arcs
    )
    no_label = sum(not label for _, _, label in graph.arcs)
    return graph.left_out + Counter({ARC_OUTSIDE: int(outside), ARC_NO_LABEL: no_label})


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


def _split(found: Iterable[TokenArc | Kind]) -> tuple[list[TokenArc], LeftOut]:
    arcs: list[TokenArc] = []
    left_out: LeftOut = Counter()
    for each in found:
        if isinstance(each, Kind):
            left_out[each] += 1
        else:
            arcs.append(each)
    return arcs, left_out


def _token_arcs(
    reference: Doc, tokens: Mapping[int, int], known: NDArray[np.bool_]
) -> Iterator[TokenArc | Kind]:
    """Each gold arc on the predicted tokens, or what it is left out as. tokens: of gold ones.
    Tokens with a head that is none of them become unknown."""
    seen = set()
    for arc in reference._.dep_graph:
        dependent = tokens.get(arc.dependent.i)
        head = ROOT if arc.head is None else tokens.get(arc.head.i)
        if dependent is None or head is None:
            if dependent is not None:
                known[dependent] = False
            yield ARC_OTHER_TOKENS
        elif head == dependent:
            yield ARC_TO_ITSELF
        elif (head, dependent) in seen:
            yield ARC_SECOND
        else:
            seen.add((head, dependent))
            yield head, dependent, arc.label


def _relation_arcs(
    reference: Doc,
    places: Mapping[EntityKey, Span | None],
    overlapping: Collection[EntityKey],
    anchors: Mapping[int, Span],
) -> Iterator[TokenArc | Kind]:
    """One arc for each pair of entities that is related, the first relation of several; of others
    what they are left out as. overlapping: entities that have no place, for a longer one has it.

    Its dependent is the relation's first argument: a tree, with one head a word, then loses 574 of
    the 3,215 relations of SciERC's train set, and 676 the other way round.
    """
    tokens = {_key(entity): token for token, entity in anchors.items()}

    def anchor(entity: Span) -> int | Kind:
        key = _key(entity)
        if key not in places:
            return RELATION_OVERLAPS if key in overlapping else RELATION_NO_ENTITY
        place = places[key]
        return (
            RELATION_OTHER_TOKENS if place is None else tokens.get(_key(place), RELATION_NO_TOKEN)
        )

    seen = set()
    for relation in reference._.relations:
        head, dependent = anchor(relation.tail), anchor(relation.head)
        if isinstance(head, Kind) or isinstance(dependent, Kind):
            yield head if isinstance(head, Kind) else dependent  # type: ignore[misc]
        elif head == dependent:
            yield RELATION_TO_ITSELF
        elif (head, dependent) in seen:
            yield RELATION_SECOND
        else:
            seen.add((head, dependent))
            yield head, dependent, relation.label
