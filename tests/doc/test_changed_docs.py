"""What is kept on a Doc after its tokens were merged or split, or its span groups changed: it is
the same in characters, or absent with a warning, and the Doc can be written."""

import copy
import pickle
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from spacy.pipeline.functions import merge_entities
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import (
    DEP_GRAPH,
    FRAMES,
    RELATIONS,
    WORD_FRAMES,
    Arc,
    Frame,
    Relation,
    Role,
    graph_of,
    has_graph,
    set_arcs,
    set_frames,
    set_relations,
)
from spacy_biaffine.doc.layers import BY_NAME, entity_groups
from spacy_biaffine.doc.scores import (
    register_token_label,
    register_token_score,
    set_ent_scores,
    set_token_scores,
)
from spacy_biaffine.doc.stored_graphs import graph_group
from spacy_biaffine.formats.common.span_groups import docs_of

VOCAB = Vocab()
KEYS = (RELATIONS, DEP_GRAPH, FRAMES, WORD_FRAMES)

pytestmark = pytest.mark.filterwarnings("ignore:doc._:UserWarning")


def annotated(text: str = "Ann Berg lives in Oslo near the city library") -> Doc:
    doc = Doc(VOCAB, words=text.split(" "))
    ann, oslo = Span(doc, 0, 2, "PER"), Span(doc, 4, 5, "LOC", kb_id="Q585")
    doc.set_ents([ann, oslo], default="outside")
    set_relations(doc, [Relation(ann, oslo, "lives_in", 0.5)])
    set_arcs(doc, [Arc(None, doc[2], "root"), Arc(doc[2], doc[4], "in", 0.25)])
    frame = Frame((doc[2:3],), "live.01", (Role("A0", (doc[0:2],)), Role("LOC", (doc[3:5],))))
    set_frames(doc, [frame])
    set_frames(doc, [frame._replace(roles=())], WORD_FRAMES)
    return doc


def merge(doc: Doc, *bounds: tuple[int, int]) -> Doc:
    with doc.retokenize() as retokenizer:
        for start, end in bounds:
            retokenizer.merge(doc[start:end])
    return doc


def split(doc: Doc, token: int, at: int) -> Doc:
    text = doc[token].text
    with doc.retokenize() as retokenizer:
        heads = [doc[token], doc[token]]
        retokenizer.split(doc[token], [text[:at], text[at:]], heads=heads)
    return doc


def in_characters(doc: Doc, key: str, *, scores: bool = True) -> list[tuple]:
    """The edges of a graph, each with the characters and names of its ends."""
    nodes, edges = graph_of(doc, key)
    places = [(n.start_char, n.end_char, n.text, n.label_, n.kb_id_) for n in nodes]
    return [
        (
            places[edge.head] if edge.head >= 0 else None,
            places[edge.dependent],
            edge.label,
            edge.score if scores else None,
        )
        for edge in edges
    ]


def found(doc: Doc, **how: bool) -> dict[str, list[tuple]]:
    return {key: in_characters(doc, key, **how) for key in KEYS if has_graph(doc, key)}


def from_docbin(doc: Doc) -> Doc:
    return next(DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(Vocab()))


def from_fast_docbin(doc: Doc) -> Doc:
    return next(docs_of(DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()), Vocab()))


WAYS: dict[str, Callable[[Doc], Doc]] = {
    "docbin": from_docbin,
    "fast docbin": from_fast_docbin,
    "bytes": lambda doc: Doc(Vocab()).from_bytes(doc.to_bytes()),
    "pickle": lambda doc: pickle.loads(pickle.dumps(doc)),
    "copy": lambda doc: doc.copy(),
    "deepcopy": copy.deepcopy,
    "from_docs": lambda doc: Doc.from_docs([doc]),
    "json": lambda doc: Doc(Vocab()).from_json(doc.to_json()),
}
WITHOUT_SCORES = {"from_docs", "json"}


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return request.param


def test_a_merge_that_touches_no_node_changes_nothing():
    doc = annotated()
    before = found(doc)
    assert found(merge(doc, (6, 9))) == before
    assert len(before) == 4


def test_merged_entities_are_nodes_still():
    doc = annotated()
    before = found(doc)
    merge_entities(doc)
    assert found(doc) == before
    (relation,) = doc._.relations
    assert (relation.head.text, len(relation.head)) == ("Ann Berg", 1)
    assert doc._.frames[0].roles[0].spans[0] == doc[0:1]


def test_nodes_with_an_edge_inside_a_token_are_absent_not_none():
    doc = merge(annotated(), (1, 3))
    for key in (RELATIONS, FRAMES, WORD_FRAMES, DEP_GRAPH):
        with pytest.warns(UserWarning, match=rf"doc\._\.{key} .* absent: tokens were merged"):
            assert not has_graph(doc, key)
        assert not BY_NAME[key].is_on(doc)
    assert (doc._.relations, doc._.frames, doc._.dep_graph) == ([], [], [])


def test_split_nodes_are_nodes_but_no_words():
    doc = split(annotated(), 4, 2)
    assert len(doc) == 10
    assert doc._.relations[0].tail.text == "Oslo"
    assert not has_graph(doc, DEP_GRAPH)


def test_as_many_tokens_but_others():
    doc = split(merge(annotated(), (7, 9)), 0, 1)
    assert len(doc) == 9
    assert (doc._.relations[0].head.start, doc._.relations[0].head.end) == (0, 3)


def test_merged_docs_can_be_written(way):
    for bounds in [((0, 2),), ((4, 9),), ((0, 9),), ((0, 2), (7, 9))]:
        doc = merge(annotated(), *bounds)
        twin = WAYS[way](doc)
        scores = way not in WITHOUT_SCORES
        assert found(twin) == found(doc, scores=scores)


def test_copies_can_be_merged_and_written(way):
    doc = merge(WAYS[way](annotated()), (7, 9))
    assert found(from_docbin(doc), scores=False) == found(annotated(), scores=False)


def test_copies_that_were_read_can_be_merged_and_copied(way):
    doc = WAYS[way](annotated())
    assert all(has_graph(doc, key) for key in KEYS)
    twin = merge(doc, (0, 2)).copy()
    assert found(twin, scores=False) == found(annotated(), scores=False)


def test_joined_docs_are_merged_and_written():
    doc = Doc.from_docs([annotated(), Doc(VOCAB), annotated()])
    before = found(doc)
    assert len(before[RELATIONS]) == 2
    twin = from_docbin(merge(doc, (0, 2), (6, 9), (15, 18)))
    assert found(twin) == before


def test_a_second_process_merges():
    nlp = spacy.blank("en")
    nlp.add_pipe("merge_entities")
    docs = list(nlp.pipe([annotated() for _ in range(3)], n_process=2, batch_size=1))
    assert [found(doc) for doc in docs] == [found(annotated())] * 3
    assert [len(doc) for doc in docs] == [8] * 3


@pytest.mark.parametrize("text", ["Oslo near Ann", "Oslo"])
def test_a_span_that_was_added(text):
    doc = annotated()
    doc.spans[graph_group(RELATIONS)].append(doc[0:1])
    with pytest.warns(UserWarning, match="spans of its group were added"):
        assert not has_graph(doc, RELATIONS)
    assert found(doc).keys() == {DEP_GRAPH, FRAMES, WORD_FRAMES}


@pytest.mark.parametrize("kept", [slice(0), slice(1, None), slice(0, -1), slice(2)])
def test_spans_that_were_removed(kept):
    doc = annotated()
    spans = list(doc.spans[graph_group(RELATIONS)])[kept]
    doc.spans[graph_group(RELATIONS)] = spans
    assert not has_graph(doc, RELATIONS)
    assert doc._.relations == []


@pytest.mark.parametrize("written", ["Q42", "7", '{"a": 1}', '[["1", "x"]]', "[[1]]", ""])
@pytest.mark.parametrize("key", KEYS)
def test_groups_of_users(key, written):
    doc = Doc(VOCAB, words=["a", "b"])
    doc.spans[key] = [Span(doc, 0, 1, "X", span_id=written), Span(doc, 1, 2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not has_graph(doc, key)
        assert graph_of(doc, key) == ([], [])
    assert entity_groups(doc) == [key]
    set_relations(doc, [])
    assert has_graph(doc, RELATIONS) and len(doc.spans[key]) == 2


def test_a_part_of_a_doc_has_no_graph():
    assert found(annotated()[0:5].as_doc()) == {}


def test_values_of_tokens_go_with_their_tokens():
    register_token_score("score_here")
    register_token_label("label_here")
    doc = annotated()
    set_token_scores(doc, score_here=np.arange(9.0))
    doc[8]._.label_here = "last"
    set_ent_scores(doc, {doc.ents[0]: 0.5, doc.ents[1]: 0.25})
    split(merge(doc, (0, 2), (5, 7)), 3, 2)
    for twin in (doc, doc.copy(), pickle.loads(pickle.dumps(doc))):
        assert [ent._.ent_score for ent in twin.ents] == [0.5, 0.25]
        assert twin[-1]._.label_here == "last"
        with pytest.warns(UserWarning, match=r"token\._\.score_here .* absent: tokens were merged"):
            scores = [token._.score_here for token in twin]
        assert scores == [None, 2.0, 3.0, None, None, None, 7.0, 8.0]
    doc[0]._.label_here = "new"
    assert [doc[i]._.label_here for i in (0, 1, -1)] == ["new", None, "last"]


# What earlier versions have saved


def old(doc: Doc) -> Doc:
    """The same Doc, as earlier versions have kept relations: nodes are spans."""
    del doc.spans[graph_group(RELATIONS)]
    ann, oslo = Span(doc, 0, 2, "PER"), Span(doc, 4, 5, "LOC", kb_id="Q585")
    oslo.id_ = '[[1, "lives_in"]]'
    attrs = {"tokens": len(doc), "nodes": 2, "scores": [0.5]}
    doc.spans[RELATIONS] = SpanGroup(doc, name=RELATIONS, attrs=attrs, spans=[ann, oslo])
    return doc


def test_old_docs():
    doc = from_docbin(old(annotated()))
    assert found(doc) == found(annotated())
    assert entity_groups(doc) == []
    assert found(Doc.from_docs([doc, doc]))[RELATIONS][0][2:] == ("lives_in", None)
    set_relations(doc, [])
    assert RELATIONS not in doc.spans and doc._.relations == []


def test_old_docs_with_merged_tokens():
    doc = from_docbin(old(annotated("a b c d e")))
    assert found(merge(doc, (2, 4)))[RELATIONS] == [
        ((0, 3, "a b", "PER", ""), (8, 9, "e", "LOC", "Q585"), "lives_in", 0.5)
    ]
    assert RELATIONS not in found(merge(doc, (0, 3)))


def test_old_docs_whose_nodes_are_not_all_there():
    doc = old(annotated())
    doc.spans[RELATIONS].append(doc[0:1])
    assert not has_graph(doc, RELATIONS)


# Whatever is merged and split


@st.composite
def changes(draw: Any, n_tokens: int) -> Iterator[tuple]:
    """Up to three merges, and a split."""
    edges = sorted(draw(st.sets(st.integers(0, n_tokens), min_size=2, max_size=6)))
    merges = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=False) if b > a + 1]
    return merges, draw(st.none() | st.tuples(st.integers(0, 8), st.integers(1, 3)))


@given(changes(9), st.sampled_from(sorted(WAYS)))
@settings(max_examples=150)
def test_any_merges_and_splits(change, way):
    merges, divided = change
    doc = annotated()
    before = found(doc)
    merge(doc, *merges)
    if divided and divided[0] < len(doc) and len(doc[divided[0]]) > divided[1]:
        split(doc, *divided)
    ends = {(token.idx, token.idx + len(token)) for token in doc}
    starts, stops = {start for start, _ in ends}, {stop for _, stop in ends}
    for key, edges in before.items():
        nodes = [end[:2] for edge in edges for end in edge[:2] if end]
        fits = all(start in starts and stop in stops for start, stop in nodes)
        if key == DEP_GRAPH:
            fits = ends.issuperset(nodes)
        assert has_graph(doc, key) == fits
        assert in_characters(doc, key) == (edges if fits else [])
    if "json" in way:  # spaCy can't read back its own JSON of tokens with blanks at their edges
        assume(all(token.text == token.text.strip() for token in doc))
    twin = WAYS[way](doc)
    if twin.text == doc.text:
        assert found(twin) == found(doc, scores=way not in WITHOUT_SCORES)
    else:  # DocBin has lost the spaces of a Doc that was made without them
        assert "docbin" in way and divided and found(twin) == {}
