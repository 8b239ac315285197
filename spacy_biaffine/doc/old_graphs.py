"""Graphs as earlier versions have kept them: in `doc.spans[NAME]`, each node a span on its own
tokens, and the edges that lead to it in its id."""

from collections.abc import Iterator

from spacy.tokens import SpanGroup

from .kept import CHANGED, MERGED, UnreadableError
from .nodes import Incoming, KeptNode, packed_spans, read_edges


def is_old_graph(group: SpanGroup) -> bool:
    """Whether a group is a graph, and not one that a user has given the same name.

    Graphs that `Doc.from_docs` has joined have no attrs; they are known by their edges.
    """
    if "nodes" in group.attrs:
        return True
    try:
        return any(list(map(_edges, _nodes(group))))  # all of them must be read
    except (KeyError, TypeError, ValueError):
        return False


def old_nodes(group: SpanGroup) -> list[KeptNode]:
    """The nodes of a graph. Raises UnreadableError where spans were added, removed or changed."""
    doc = group.doc
    if doc.has_unknown_spaces and len(doc) > group.attrs.get("tokens", len(doc)):
        raise UnreadableError(MERGED)  # see `check_text`
    if group.attrs.get("nodes", len(group)) != len(group):
        raise UnreadableError(CHANGED)
    try:
        return list(_nodes(group))
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableError(CHANGED) from error


def _edges(node: KeptNode) -> Incoming:
    return node.edges


def _nodes(group: SpanGroup) -> Iterator[KeptNode]:
    strings = group.doc.vocab.strings
    for span in packed_spans(group):
        yield KeptNode(span.start, span.end, span.label, span.kb_id, read_edges(strings[span.id]))
