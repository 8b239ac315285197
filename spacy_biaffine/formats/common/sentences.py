"""Sentences as Docs of their own, with all that the components keep in span groups."""

from collections.abc import Iterator
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup

from ...doc.graphs import ROOT, Edge, SpanGraph, graph_of, set_graph


def sentence_docs(doc: Doc) -> Iterator[Doc]:
    """A Doc for each sentence: attributes of tokens, entities, and the spans and edges within it.

    What a group's attrs hold for each of its spans, or without spans for each token, is cut too.
    Raises ValueError for a Doc without sentence starts.
    """
    graphs = {key: graph_of(doc, key) for key, group in doc.spans.items() if "nodes" in group.attrs}
    others = {key: (group, list(group)) for key, group in doc.spans.items() if key not in graphs}
    for sent in doc.sents:
        part = sent.as_doc()
        for key, graph in graphs.items():
            _cut_graph(graph, key, sent, part)
        for key, (group, spans) in others.items():
            part.spans[key] = _cut_group(group, spans, sent, part)
        yield part


def _cut_graph(graph: SpanGraph, key: str, sent: Span, part: Doc) -> None:
    nodes, edges = graph
    numbers = [number for number, node in enumerate(nodes) if _within(node, sent)]
    new = {number: place for place, number in enumerate(numbers)} | {ROOT: ROOT}
    kept = [
        Edge(new[edge.head], new[edge.dependent], edge.label, edge.score)
        for edge in edges
        if edge.head in new and edge.dependent in new
    ]
    set_graph(part, key, [_moved(nodes[number], sent, part) for number in numbers], kept)


def _cut_group(group: SpanGroup, spans: list[Span], sent: Span, part: Doc) -> SpanGroup:
    if spans:
        chosen = [number for number, span in enumerate(spans) if _within(span, sent)]
    else:
        chosen = list(range(sent.start, sent.end))
    size = len(spans) or len(group.doc)
    attrs: dict[str, Any] = {
        name: [value[number] for number in chosen]
        if isinstance(value, list) and len(value) == size
        else value
        for name, value in group.attrs.items()
    }
    moved = [_moved(spans[number], sent, part) for number in chosen] if spans else []
    return SpanGroup(part, name=group.name, attrs=attrs, spans=moved)


def _within(span: Span, sent: Span) -> bool:
    return sent.start <= span.start and span.end <= sent.end


def _moved(span: Span, sent: Span, part: Doc) -> Span:
    start, end = span.start - sent.start, span.end - sent.start
    return Span(part, start, end, span.label, kb_id=span.kb_id, span_id=span.id)
