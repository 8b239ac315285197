"""Sentences as Docs of their own, with all that the components keep in span groups."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup

from ...doc.graphs import ROOT, Edge, SpanGraph, graph_of, has_graph, set_graph
from ...doc.kept import CHARACTERS, PLACES
from ...doc.scores import STARTS, aligned
from ...doc.stored_graphs import graph_key


def sentence_docs(doc: Doc, lost: Counter[str]) -> Iterator[Doc]:
    """A Doc for each sentence: attributes of tokens, entities, and the spans and edges within it.

    lost: counts the spans and edges that are in no sentence, by kind.

    What a group's attrs hold for each of its spans, or without spans for each token, is cut too.
    Raises ValueError for a Doc without sentence starts.
    """
    groups = dict(doc.spans)
    keys = {name: graph_key(name, group) for name, group in groups.items()}
    graphs = {key: graph_of(doc, key) for key in keys.values() if key and has_graph(doc, key)}
    others = [name for name, key in keys.items() if key is None]
    for name in others:
        if STARTS in groups[name].attrs:
            groups[name] = aligned(doc, name)
    found: Counter[str] = Counter()
    for sent in doc.sents:
        part = sent.as_doc()
        for key, graph in graphs.items():
            _cut_graph(graph, key, sent, part)
        for name in others:
            part.spans[name] = _cut_group(groups[name], sent, part)
            found[name] += len(part.spans[name])
        found.update({key: len(graph_of(part, key).edges) for key in graphs})
        yield part
    for key, graph in graphs.items():
        lost[f"edges of {key} across sentences"] += len(graph.edges) - found[key]
    for name in others:
        lost[f"spans of {name!r} across sentences"] += len(groups[name]) - found[name]


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


def _cut_group(group: SpanGroup, sent: Span, part: Doc) -> SpanGroup:
    spans = list(group)
    places = [(span.start_char, span.end_char) for span in spans]
    places = places or [tuple(place[:2]) for place in group.attrs.get(PLACES, ())]
    chosen = [n for n, (start, end) in enumerate(places) if _has(sent, start, end)]
    size = len(places)
    if not places:
        chosen, size = list(range(sent.start, sent.end)), len(group.doc)
    attrs: dict[str, Any] = {
        name: [value[number] for number in chosen]
        if isinstance(value, list) and len(value) == size
        else value
        for name, value in group.attrs.items()
    }
    moved = [_moved(spans[number], sent, part) for number in chosen] if spans else []
    return SpanGroup(part, name=group.name, attrs=_moved_places(attrs, sent), spans=moved)


def _moved_places(attrs: dict[str, Any], sent: Span) -> dict[str, Any]:
    first = sent.start_char
    if STARTS in attrs:
        attrs[STARTS] = [start - first for start in attrs[STARTS]]
    if PLACES in attrs:
        attrs[PLACES] = [[start - first, end - first, *more] for start, end, *more in attrs[PLACES]]
    if CHARACTERS in attrs:
        attrs[CHARACTERS] = sent.end_char - first
    return attrs


def _has(sent: Span, start: int, end: int) -> bool:
    return sent.start_char <= start and end <= sent.end_char


def _within(span: Span, sent: Span) -> bool:
    return sent.start <= span.start and span.end <= sent.end


def _moved(span: Span, sent: Span, part: Doc) -> Span:
    start, end = span.start - sent.start, span.end - sent.start
    return Span(part, start, end, span.label, kb_id=span.kb_id, span_id=span.id)
