"""Graphs over spans: what a Doc keeps of them, and when they are no longer its own."""

import copy
import pickle

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import (
    DEP_GRAPH,
    FRAMES,
    RELATIONS,
    ROOT,
    Arc,
    Edge,
    Frame,
    Relation,
    Role,
    graph_of,
    has_graph,
    set_arcs,
    set_frames,
    set_graph,
    set_relations,
)
from spacy_biaffine.doc.stored_graphs import graph_group
from spacy_biaffine.formats.common.span_groups import docs_of

VOCAB = Vocab()


def annotated(text: str = "Port of Oslo hosts old ferries") -> Doc:
    """Nested entities that end at the same token, a graph with two heads, a split predicate."""
    doc = Doc(VOCAB, words=text.split())
    port, oslo = Span(doc, 0, 3, "ORG"), Span(doc, 2, 3, "LOC", kb_id="Q585")
    ferries = Span(doc, 4, 6, "SHIP")
    set_relations(
        doc,
        [
            Relation(port, oslo, "in", np.float32(0.75)),
            Relation(port, ferries, "hosts"),
            Relation(oslo, ferries, "near: by", 0.5),
        ],
    )
    set_arcs(
        doc,
        [
            Arc(doc[3], doc[5], "ARG2"),
            Arc(doc[4], doc[5], "ARG1"),
            Arc(None, doc[3], "top"),
            Arc(doc[5], doc[5], "loop"),
        ],
    )
    set_frames(
        doc,
        [
            Frame((doc[3:4], doc[5:6]), "host.01", (Role("A0", (doc[0:3],), 0.25),), 0.5),
            Frame((doc[4:5],), None, (Role("A1", (doc[5:6], doc[0:1])), Role("A1", (doc[2:3],)))),
            Frame((doc[4:5],), "old", ()),
        ],
    )
    return doc


def plain(doc: Doc, *, scores: bool = True) -> list[list[tuple]]:
    """All layers in tuples without spaCy's objects, so that Docs can be compared."""

    def span(each: Span) -> tuple:
        return each.start, each.end, each.text, each.label_, each.kb_id_

    def score(each: float | None) -> float | None:
        return each if scores else None

    return [
        [(span(h), span(t), label, score(s)) for h, t, label, s in doc._.relations],
        [(h and h.i, d.i, label, score(s)) for h, d, label, s in doc._.dep_graph],
        [
            (
                [span(each) for each in predicate],
                sense,
                [(label, [span(each) for each in spans], score(s)) for label, spans, s in roles],
                score(s),
            )
            for predicate, sense, roles, s in doc._.frames
        ],
    ]


def test_relations():
    doc = annotated()
    assert [(r.head.text, r.tail.text, r.label, r.score) for r in doc._.relations] == [
        ("Port of Oslo", "Oslo", "in", 0.75),
        ("Port of Oslo", "old ferries", "hosts", None),
        ("Oslo", "old ferries", "near: by", 0.5),
    ]
    first = doc._.relations[0]
    assert (first.head, first.tail) == (
        Span(doc, 0, 3, "ORG"),
        Span(doc, 2, 3, "LOC", kb_id="Q585"),
    )
    assert len(graph_of(doc, RELATIONS).nodes) == 3


def test_spans_that_differ_by_label_alone_are_two():
    doc = Doc(VOCAB, words=["Oslo", "votes"])
    set_relations(doc, [Relation(Span(doc, 0, 1, "LOC"), Span(doc, 0, 1, "GPE"), "same")])
    (relation,) = doc._.relations
    assert (relation.head.label_, relation.tail.label_) == ("LOC", "GPE")


def test_arcs():
    doc = annotated()
    assert [(h and h.i, d.i, label) for h, d, label, _ in doc._.dep_graph] == [
        (None, 3, "top"),
        (3, 5, "ARG2"),
        (4, 5, "ARG1"),
        (5, 5, "loop"),
    ]


def test_frames():
    doc = annotated()
    assert doc._.frames == [
        Frame((doc[3:4], doc[5:6]), "host.01", (Role("A0", (doc[0:3],), 0.25),), 0.5),
        Frame((doc[4:5],), None, (Role("A1", (doc[5:6], doc[0:1])), Role("A1", (doc[2:3],)))),
        Frame((doc[4:5],), "old", ()),
    ]


def test_setters():
    doc = annotated()
    other = annotated()
    other._.relations, other._.dep_graph, other._.frames = [], [], []
    assert plain(other) == [[], [], []]
    assert all(has_graph(other, key) for key in (RELATIONS, DEP_GRAPH, FRAMES))
    relations, arcs, frames = doc._.relations, doc._.dep_graph, doc._.frames
    before = plain(doc)
    doc._.relations, doc._.dep_graph, doc._.frames = relations, arcs, frames
    assert plain(doc) == before


def docbin_bytes(doc: Doc) -> bytes:
    return DocBin(docs=[doc]).to_bytes()


COPIES = {
    "docbin": lambda doc: next(DocBin().from_bytes(docbin_bytes(doc)).get_docs(Vocab())),
    "fast docbin": lambda doc: next(docs_of(DocBin().from_bytes(docbin_bytes(doc)), Vocab())),
    "bytes": lambda doc: Doc(Vocab()).from_bytes(doc.to_bytes()),
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "copy": lambda doc: doc.copy(),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_copies(duplicate):
    doc = annotated()
    twin = duplicate(doc)
    assert twin is not doc
    assert plain(twin) == plain(doc)


def test_pipe_in_other_processes():
    nlp = spacy.blank("en")
    docs = [annotated(), annotated("It is on the open sea")]
    nlp.vocab.strings.add("top")
    nlp.add_pipe("sentencizer")
    want = [plain(doc) for doc in docs]
    assert [plain(doc) for doc in nlp.pipe(docs, n_process=2, batch_size=1)] == want


@pytest.mark.parametrize("ensure_whitespace", [True, False])
def test_joined_docs_lose_scores_only(ensure_whitespace):
    parts = [
        Doc(VOCAB, words=["None", "here"]),
        annotated(),
        Doc(VOCAB),
        annotated("It is on the open sea"),
    ]
    joined = Doc.from_docs(parts, ensure_whitespace=ensure_whitespace)
    relations = [relation for part in plain_parts(parts, (0, 2, 8, 8)) for relation in part]
    assert [
        (h.start, h.end, h.label_, t.start, t.end, t.kb_id_, label)
        for h, t, label, _ in joined._.relations
    ] == relations
    assert len(relations) == 6
    assert [s for *_, s in joined._.relations] == [None] * 6
    wanted = [(h and h.text, d.text, arc) for p in parts for h, d, arc, _ in p._.dep_graph]
    assert [(h and h.text, d.text, arc) for h, d, arc, _ in joined._.dep_graph] == wanted
    frames = [frame for part in parts for frame in plain(part, scores=False)[2]]
    assert [
        [each.text for each in frame.predicate] + [(r.label, len(r.spans)) for r in frame.roles]
        for frame in joined._.frames
    ] == [
        [each[2] for each in predicate] + [(label, len(spans)) for label, spans, _ in roles]
        for predicate, _, roles, _ in frames
    ]


def plain_parts(parts: list[Doc], starts: tuple[int, ...]) -> list[list[tuple]]:
    return [
        [
            (h.start + at, h.end + at, h.label_, t.start + at, t.end + at, t.kb_id_, label)
            for h, t, label, _ in part._.relations
        ]
        for part, at in zip(parts, starts, strict=True)
    ]


def test_a_part_of_a_doc_has_no_graph():
    part = annotated()[0:3].as_doc()
    assert not has_graph(part, RELATIONS)
    assert plain(part) == [[], [], []]


def test_nothing():
    for doc in (Doc(VOCAB), Doc(VOCAB, words=["a"])):
        assert plain(doc) == [[], [], []]
        assert not has_graph(doc, RELATIONS)
        set_relations(doc, [])
        set_arcs(doc, [])
        set_frames(doc, [])
        assert has_graph(doc, RELATIONS)
        again = Doc(Vocab()).from_bytes(doc.to_bytes())
        assert has_graph(again, RELATIONS)
        assert plain(again) == [[], [], []]


def test_graph_keeps_attrs_and_order():
    doc = Doc(VOCAB, words=["a", "b"])
    nodes = [doc[1:2], doc[0:1], doc[1:2]]
    edges = [Edge(1, 2, "x"), Edge(ROOT, 0, "y", 0.5), Edge(0, 2, "", 1), Edge(0, 2, "", 1)]
    set_graph(doc, "mine", nodes, edges, made="by hand")
    assert doc.spans[graph_group("mine")].attrs["made"] == "by hand"
    assert graph_of(doc, "mine") == (nodes, [edges[1], edges[0], *edges[2:]])


LABELS = st.text(max_size=3)


@st.composite
def graphs(draw) -> tuple[int, list[tuple[int, int]], list[Edge]]:
    """A number of tokens, spans of them, edges between these."""
    n_tokens = draw(st.integers(1, 4))
    starts = st.integers(0, n_tokens - 1)
    spans = st.tuples(starts, starts).map(lambda pair: (min(pair), max(pair) + 1))
    nodes = draw(st.lists(spans, max_size=4))
    if not nodes:
        return n_tokens, [], []
    ends = st.integers(ROOT, len(nodes) - 1), st.integers(0, len(nodes) - 1)
    scores = st.none() | st.floats(0, 1)
    return n_tokens, nodes, draw(st.lists(st.builds(Edge, *ends, LABELS, scores), max_size=6))


@given(st.lists(graphs(), max_size=3))
def test_any_graphs_are_kept_and_joined(parts):
    docs = []
    for n_tokens, nodes, edges in parts:
        doc = Doc(VOCAB, words=["a"] * n_tokens)
        set_graph(doc, "g", [doc[start:end] for start, end in nodes], edges)
        by_dependent = sorted(edges, key=lambda edge: edge.dependent)
        again = Doc(Vocab()).from_bytes(doc.to_bytes())
        assert [(node.start, node.end) for node in graph_of(again, "g").nodes] == nodes
        assert graph_of(again, "g").edges == by_dependent
        docs.append((doc, by_dependent))
    joined = Doc.from_docs([doc for doc, _ in docs]) or Doc(VOCAB)
    wanted, n_nodes = [], 0
    for doc, edges in docs:
        for head, dependent, label, _ in edges:
            above = ROOT if head == ROOT else head + n_nodes
            wanted.append(Edge(above, dependent + n_nodes, label))
        n_nodes += len(graph_of(doc, "g").nodes)
    assert graph_of(joined, "g").edges == wanted


@pytest.mark.parametrize(
    "edge", [Edge(0, 2, "x"), Edge(2, 0, "x"), Edge(-2, 0, "x"), Edge(0, -1, "x")]
)
def test_edges_to_no_node(edge):
    doc = Doc(VOCAB, words=["a", "b"])
    with pytest.raises(ValueError, match="2 nodes in the graph 'mine'"):
        set_graph(doc, "mine", [doc[0:1], doc[1:2]], [edge])


def test_nodes_of_another_doc_or_without_tokens():
    doc, other = annotated(), annotated()
    with pytest.raises(ValueError, match="no tokens of this Doc"):
        set_graph(doc, "mine", [other[0:1]], [])
    with pytest.raises(ValueError, match="no tokens of this Doc"):
        set_graph(doc, "mine", [doc[1:1]], [])


@pytest.mark.parametrize(
    ("predicate", "role"),
    [([], ("A0", [0])), ([1], ("A0", [])), ([1], ("", [0]))],
)
def test_incomplete_frames(predicate, role):
    doc = Doc(VOCAB, words=["a", "b"])
    label, tokens = role
    spans = tuple(doc[i : i + 1] for i in tokens)
    with pytest.raises(ValueError, match="need spans"):
        set_frames(
            doc, [Frame(tuple(doc[i : i + 1] for i in predicate), None, (Role(label, spans),))]
        )
