"""How a graph over spans is kept on a Doc, and when it is no longer there.

A graph is the span group `doc.spans["spacy_biaffine.graph.NAME"]`. All its spans stand on the Doc's
first token, for that one is there whatever is merged or split. What they say is in their labels
and kb_ids, for `Doc.from_docs` and `Doc.to_json` keep these too:

    label     kb_id
    "graph"   number of nodes           once; in Docs that were joined, once for each
    label     kb_id                     of the first node
    edges     place                     of the first node
    ...                                 and so on, two spans a node

`edges` are those that lead to the node, a JSON list of [how many nodes before it the head stands,
label], null for the root. `place` is how many characters after the node before it (the first one:
after the start of its Doc) the node begins, and how many it has, as in "12 5". All this is
relative, so it stays right when groups are joined; and these strings are short and come again, so
the vocab does not grow with every Doc. Scores are in the group's attrs, which `Doc.from_docs` and
`Doc.to_json` drop: such edges have none.

A graph is read whole or not at all. Its nodes are the spans with the same characters as before. If
one begins or ends inside a token now, or a node that has to be one token is several, or spans of
the group were changed, then the Doc is not annotated with the graph: there is a warning,
`has_graph` is False, and training, scorers and writers see no annotation.

A Doc that spaCy has loaded or joined has ordinary span groups. Reading a graph makes them safe
again; until then, `Doc.copy` refuses a loaded Doc whose first token was merged, and a joined Doc
with merged tokens can't be written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span, SpanGroup

from .kept import (
    CHANGED,
    CHARACTERS,
    MERGED,
    PREFIX,
    UnreadableError,
    check_text,
    end_of,
    warn_absent,
)
from .nodes import KeptNode, packed_spans, read_edges, write_edges
from .old_graphs import is_old_graph, old_nodes

DEP_GRAPH = "dep_graph"
"""A graph whose nodes are single tokens."""

ROOT = -1
"""The head of an edge from the root, which is no node."""

HEADER = "graph"


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


def set_graph(
    doc: Doc, key: str, nodes: Sequence[Span], edges: Iterable[Edge], **attrs: Any
) -> None:
    """Keep a graph on a Doc under a name, in place of what was there.

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
    for node in nodes:
        if node.doc is not doc or node.end <= node.start:
            raise ValueError(f"The node {node!r} of the graph {key!r} has no tokens of this Doc.")
    flat = [score for each in scores for score in each]
    if any(score is not None for score in flat):
        attrs["scores"] = flat
    attrs[CHARACTERS] = end_of(doc)
    name = graph_group(key)
    records = _records(nodes, [write_edges(tuple(each)) for each in incoming]) if len(doc) else []
    doc.spans[name] = _FirstToken.of(doc, name, attrs, records)
    if key in doc.spans and is_old_graph(doc.spans[key]):
        del doc.spans[key]


def graph_of(doc: Doc, key: str) -> SpanGraph:
    """The graph of this name: nodes as given, edges by dependent, of the same as given.

    Empty where the Doc is not annotated with it; see `has_graph`.
    """
    return _read(doc, key) or SpanGraph([], [])


def has_graph(doc: Doc, key: str) -> bool:
    """Whether the Doc is annotated with a graph, be it empty; not where it can't be read."""
    return _read(doc, key) is not None


def graph_group(key: str) -> str:
    """The key of a graph in `doc.spans`."""
    return f"{PREFIX}graph.{key}"


def graph_key(name: str, group: SpanGroup) -> str | None:
    """The key of the graph that a group in `doc.spans` keeps, None if it is another group."""
    if name.startswith(graph_group("")):
        return name.removeprefix(graph_group(""))
    return name if is_old_graph(group) else None


class _FirstToken(SpanGroup):
    """A group of spans on the first token, also after this one was merged or split."""

    @classmethod
    def of(
        cls, doc: Doc, name: str, attrs: dict[str, Any], records: Iterable[tuple[Any, Any]]
    ) -> "_FirstToken":
        """records: labels and kb_ids."""
        spans = [Span(doc, 0, 1, label, kb_id=kb_id) for label, kb_id in records]
        return cls(doc, name=name, attrs=attrs, spans=spans)

    def __getitem__(self, i: int) -> Span:
        span = super().__getitem__(i)
        return Span(self.doc, 0, 1, span.label, kb_id=span.kb_id)

    def copy(self, doc: Doc | None = None) -> "_FirstToken":
        """For another Doc with the same text."""
        records = [(span.label_, span.kb_id_) for span in self]
        return self.of(doc or self.doc, self.name, deepcopy(self.attrs), records)


def _records(nodes: Sequence[Span], edges: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield HEADER, str(len(nodes))
    before = 0
    for node, written in zip(nodes, edges, strict=True):
        yield node.label_, node.kb_id_
        yield written, f"{node.start_char - before} {node.end_char - node.start_char}"
        before = node.start_char


def _read(doc: Doc, key: str) -> SpanGraph | None:
    """The graph, None where there is none or it can't be read."""
    try:
        if graph_group(key) in doc.spans:
            return _new_graph(doc, key)
        if key in doc.spans and is_old_graph(doc.spans[key]):
            return _on_tokens(doc, key, old_nodes(doc.spans[key]), doc.spans[key].attrs)
    except UnreadableError as cause:
        warn_absent(f"doc._.{key}", cause)
    return None


def _new_graph(doc: Doc, key: str) -> SpanGraph:
    group = doc.spans[graph_group(key)]
    check_text(doc, group.attrs)
    graph = _on_tokens(doc, key, list(_kept_nodes(group)), group.attrs)
    if not isinstance(group, _FirstToken):
        own = {name: value for name, value in group.attrs.items() if name != "scores"}
        set_graph(doc, key, *graph, **own)
    return graph


def _kept_nodes(group: SpanGroup) -> Iterator[KeptNode]:
    """The nodes in a group. Raises UnreadableError where spans were added, removed or changed."""
    strings = group.doc.vocab.strings
    try:
        spans = iter(packed_spans(group))
        header = next(spans, None)
        if header is None and len(group.doc):
            raise UnreadableError(CHANGED)
        while header is not None:
            if strings[header.label] != HEADER:
                raise UnreadableError(CHANGED)
            start = header.start
            for _ in range(int(strings[header.kb_id])):
                node, more = next(spans), next(spans)
                distance, length = map(int, strings[more.kb_id].split())
                start += distance
                edges = read_edges(strings[more.label])
                yield KeptNode(start, start + length, node.label, node.kb_id, edges)
            header = next(spans, None)
    # Strings of another vocab or of other spans.
    except (KeyError, StopIteration, TypeError, ValueError) as error:
        raise error if isinstance(error, UnreadableError) else UnreadableError(CHANGED) from error


def _on_tokens(doc: Doc, key: str, kept: Sequence[KeptNode], attrs: Mapping[str, Any]) -> SpanGraph:
    """A graph on the tokens that there are. Raises UnreadableError where it does not fit them."""
    nodes: list[Span] = []
    edges: list[Edge] = []
    for number, node in enumerate(kept):
        span = doc.char_span(node.start, node.end, label=node.label, kb_id=node.kb_id)
        if span is None or (key == DEP_GRAPH and len(span) > 1):
            raise UnreadableError(MERGED)
        nodes.append(span)
        for offset, label in node.edges:
            head = ROOT if offset is None else number - offset
            if offset is not None and not 0 <= head < len(kept):
                raise UnreadableError(CHANGED)
            edges.append(Edge(head, number, label))
    return SpanGraph(nodes, _with_scores(edges, attrs))


def _with_scores(edges: list[Edge], attrs: Mapping[str, Any]) -> list[Edge]:
    scores = attrs.get("scores", ())
    if len(scores) != len(edges):
        return edges
    return [edge._replace(score=score) for edge, score in zip(edges, scores, strict=True)]
