"""Graphs over spans in forms that a Doc keeps when it is saved, copied, joined to others by
`Doc.from_docs`, or sent to another process; and what they stand for: relations of entities, arcs of
semantic or enhanced dependencies, frames.

A graph is a span group. Its spans are the nodes; the edges that lead to a node are written in the
node's id, a JSON list of [how many nodes before it the head stands, label], null for the root. All
this is relative, so it stays right when groups are joined. Scores are in the group's attrs, which
`Doc.from_docs` drops: edges of joined Docs have none.
"""

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup, Token

RELATIONS = "relations"

FRAMES = "frames"

WORD_FRAMES = "word_frames"
"""Frames with arguments that are words, beside those whose arguments are spans."""

DEP_GRAPH = "dep_graph"

ROOT = -1
"""The head of an edge from the root, which is no node."""


class Edge(NamedTuple):
    """A labelled edge between nodes, by their numbers; head may be `ROOT`."""

    head: int
    dependent: int
    label: str
    score: float | None = None


class SpanGraph(NamedTuple):
    """Nodes, of which several may have the same tokens, and edges between them."""

    nodes: list[Span]
    edges: list[Edge]


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


def set_graph(
    doc: Doc, key: str, nodes: Sequence[Span], edges: Iterable[Edge], **attrs: Any
) -> None:
    """Keep a graph in doc.spans[key], in place of what was there.

    attrs: further plain data for the group. A node keeps its label and kb_id, but not its id.
    Raises ValueError for an edge to no node, and for nodes of another Doc or without tokens.
    """
    incoming: list[list[tuple[int | None, str]]] = [[] for _ in nodes]
    scores: list[list[float | None]] = [[] for _ in nodes]
    for edge in edges:
        if not (ROOT <= edge.head < len(nodes) and 0 <= edge.dependent < len(nodes)):
            raise ValueError(f"{edge}: there are {len(nodes)} nodes in the graph {key!r}")
        offset = None if edge.head == ROOT else edge.dependent - edge.head
        incoming[edge.dependent].append((offset, edge.label))
        scores[edge.dependent].append(None if edge.score is None else float(edge.score))
    spans = []
    for node, heads in zip(nodes, incoming, strict=True):
        if node.doc is not doc or node.end <= node.start:
            raise ValueError(f"The node {node!r} of the graph {key!r} has no tokens of this Doc.")
        written = _written(tuple(heads)) if heads else ""
        spans.append(Span(doc, node.start, node.end, node.label, kb_id=node.kb_id, span_id=written))
    attrs |= {"tokens": len(doc), "nodes": len(nodes)}
    flat = [score for each in scores for score in each]
    if any(score is not None for score in flat):
        attrs["scores"] = flat
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs, spans=spans)


def graph_of(doc: Doc, key: str) -> SpanGraph:
    """The graph in doc.spans[key]: nodes as given, edges by dependent, of the same as given.

    Empty without one, and where the Doc's tokens or the group's spans have changed since.
    """
    if key not in doc.spans:
        return SpanGraph([], [])
    group = doc.spans[key]
    try:
        return _read(doc, group)
    # A span beyond the end, an id that is no string of this vocab or not one of ours.
    except (IndexError, KeyError, TypeError, ValueError):
        return SpanGraph([], [])


def has_graph(doc: Doc, key: str) -> bool:
    """Whether the Doc is annotated with a graph, be it empty."""
    return key in doc.spans


def _read(doc: Doc, group: SpanGroup) -> SpanGraph:
    sizes = (group.attrs.get("tokens", len(doc)), group.attrs.get("nodes", len(group)))
    if sizes != (len(doc), len(group)):
        raise ValueError("tokens were merged or split, or spans added or removed")
    nodes = []
    ends: list[tuple[int, int, str]] = []
    for number, span in enumerate(group):
        node = Span(doc, span.start, span.end, span.label, kb_id=span.kb_id)
        if (node.start_char, node.end_char) != (span.start_char, span.end_char):
            raise ValueError("tokens were merged or split")
        nodes.append(node)
        for offset, label in _heads(span.id_):
            head = ROOT if offset is None else number - offset
            if offset is not None and not 0 <= head < len(group):
                raise ValueError("spans were removed")
            ends.append((head, number, label))
    scores = group.attrs.get("scores", ())
    if len(scores) != len(ends):
        scores = [None] * len(ends)
    edges = [Edge(*end, score) for end, score in zip(ends, scores, strict=True)]
    return SpanGraph(nodes, edges)


@lru_cache(maxsize=100_000)
def _written(heads: tuple[tuple[int | None, str], ...]) -> str:
    return json.dumps(heads, ensure_ascii=False)


@lru_cache(maxsize=100_000)
def _heads(written: str) -> tuple[tuple[int | None, str], ...]:
    """What is written in a node's id. Raises TypeError or ValueError for something else."""
    heads = tuple((offset, label) for offset, label in json.loads(written or "[]"))
    for offset, label in heads:
        if not (offset is None or type(offset) is int) or not isinstance(label, str):
            raise ValueError(f"{written!r} holds no edges")
    return heads


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
