"""Graphs over spans and what they stand for: relations of entities, arcs of semantic or enhanced
dependencies, frames. `stored_graphs` says how a Doc keeps them."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from spacy.tokens import Doc, Span, Token

from .stored_graphs import DEP_GRAPH, ROOT, Edge, SpanGraph, graph_of, has_graph, set_graph

__all__ = [
    "DEP_GRAPH",
    "FRAMES",
    "RELATIONS",
    "ROOT",
    "WORD_FRAMES",
    "Arc",
    "Edge",
    "Frame",
    "Relation",
    "Role",
    "SpanGraph",
    "frames_of",
    "graph_of",
    "has_graph",
    "set_arcs",
    "set_frames",
    "set_graph",
    "set_relations",
]

RELATIONS = "relations"

FRAMES = "frames"

WORD_FRAMES = "word_frames"
"""Frames with arguments that are words, beside those whose arguments are spans."""


class Relation(NamedTuple):
    """A labelled relation from one entity to another one."""

    head: Span
    tail: Span
    label: str
    score: float | None = None


class Arc(NamedTuple):
    """An edge of a dependency graph, where a token has any number of heads; None is the root."""

    head: Token | None
    dependent: Token
    label: str
    score: float | None = None


class Role(NamedTuple):
    """An argument of a predicate; several spans where it is discontinuous."""

    label: str
    spans: tuple[Span, ...]
    score: float | None = None


class Frame(NamedTuple):
    """A predicate, of several spans where it is split ("wrote it down"), and its roles."""

    predicate: tuple[Span, ...]
    sense: str | None
    roles: tuple[Role, ...]
    score: float | None = None


def set_relations(doc: Doc, relations: Iterable[Relation]) -> None:
    """Write doc._.relations; entities are the same if their tokens, labels and kb_ids are."""
    relations = list(relations)
    spans = {_key(span): span for each in relations for span in (each.head, each.tail)}
    numbers = {key: number for number, key in enumerate(sorted(spans))}
    edges = [
        Edge(numbers[_key(each.head)], numbers[_key(each.tail)], each.label, each.score)
        for each in relations
    ]
    set_graph(doc, RELATIONS, [spans[key] for key in numbers], edges)


def _relations_of(doc: Doc) -> list[Relation]:
    """Relations by the places of their heads, then of their tails."""
    nodes, edges = graph_of(doc, RELATIONS)
    return [
        Relation(nodes[edge.head], nodes[edge.dependent], edge.label, edge.score)
        for edge in sorted(edges, key=lambda edge: edge[:2])
    ]


def _key(span: Span) -> tuple[int, int, str, str]:
    return span.start, span.end, span.label_, span.kb_id_


def set_arcs(doc: Doc, arcs: Iterable[Arc]) -> None:
    """Write doc._.dep_graph; only tokens that have arcs become nodes."""
    arcs = list(arcs)
    tokens = {token.i for arc in arcs for token in (arc.head, arc.dependent) if token is not None}
    numbers = {i: number for number, i in enumerate(sorted(tokens))}
    edges = [
        Edge(
            ROOT if arc.head is None else numbers[arc.head.i],
            numbers[arc.dependent.i],
            arc.label,
            arc.score,
        )
        for arc in arcs
    ]
    set_graph(doc, DEP_GRAPH, [doc[i : i + 1] for i in numbers], edges)


def _arcs_of(doc: Doc) -> list[Arc]:
    """Arcs by dependent, those of the same as they were given."""
    nodes, edges = graph_of(doc, DEP_GRAPH)
    tokens = [node[0] for node in nodes]
    return [
        Arc(
            None if edge.head == ROOT else tokens[edge.head],
            tokens[edge.dependent],
            edge.label,
            edge.score,
        )
        for edge in edges
    ]


def set_frames(doc: Doc, frames: Iterable[Frame], key: str = FRAMES) -> None:
    """Write doc._.frames, or doc._.word_frames, in the order given.

    Every frame has nodes of its own: its predicate's spans, then those of its roles. The root has
    an edge to the predicate, the sense is its label; the predicate has one to each role. Further
    spans of a predicate or a role hang on its first span by edges without a label.
    Raises ValueError for a predicate or role without spans, or a role without a label.
    """
    nodes: list[Span] = []
    edges: list[Edge] = []

    def add(spans: tuple[Span, ...], head: int, label: str, score: float | None) -> int:
        first = len(nodes)
        nodes.extend(spans)
        edges.append(Edge(head, first, label, score))
        edges.extend(Edge(first, number, "") for number in range(first + 1, len(nodes)))
        return first

    for frame in frames:
        if not frame.predicate or not all(role.label and role.spans for role in frame.roles):
            raise ValueError(f"{frame}: a predicate and each role need spans, a role a label.")
        predicate = add(frame.predicate, ROOT, frame.sense or "", frame.score)
        for role in frame.roles:
            add(role.spans, predicate, role.label, role.score)
    set_graph(doc, key, nodes, edges)


def frames_of(doc: Doc, key: str = FRAMES) -> list[Frame]:
    """The frames that `set_frames` has written, in the order given."""
    nodes, edges = graph_of(doc, key)
    frames: list[Frame] = []
    predicate = ROOT
    for edge in edges:
        spans = (nodes[edge.dependent],)
        if edge.head == ROOT:
            frames.append(Frame(spans, edge.label or None, (), edge.score))
            predicate = edge.dependent
            continue
        frame = frames[-1]
        if edge.label:
            roles = (*frame.roles, Role(edge.label, spans, edge.score))
            frames[-1] = frame._replace(roles=roles)
        elif edge.head == predicate:
            frames[-1] = frame._replace(predicate=frame.predicate + spans)
        else:
            *before, role = frame.roles
            frames[-1] = frame._replace(roles=(*before, role._replace(spans=role.spans + spans)))
    return frames


Doc.set_extension("relations", getter=_relations_of, setter=set_relations, force=True)
Doc.set_extension("dep_graph", getter=_arcs_of, setter=set_arcs, force=True)
for _key_of_frames in (FRAMES, WORD_FRAMES):
    Doc.set_extension(
        _key_of_frames,
        getter=partial(frames_of, key=_key_of_frames),
        setter=partial(set_frames, key=_key_of_frames),
        force=True,
    )
