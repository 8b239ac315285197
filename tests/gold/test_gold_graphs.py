"""Targets of graph parsers: anchors of entities, arcs of relations and of tokens."""

import numpy as np
import pytest
import spacy
from factories import bare
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_biaffine.doc.graphs import Arc, Relation, set_arcs, set_relations
from spacy_biaffine.doc.segments import sentence_parts
from spacy_biaffine.gold.graphs import (
    GoldGraph,
    anchors_of,
    arc_labels,
    entity_tags,
    graph_targets,
    relation_graph,
    relation_labels,
    token_graph,
)

VOCAB = spacy.blank("en").vocab


def related(words: str, entities: list, relations: list[tuple[int, int, str]]) -> Doc:
    """A Doc with entities, also in the group "sc", and relations between them by number."""
    doc = Doc(VOCAB, words=words.split(" "))
    spans = [Span(doc, *entity) for entity in entities]
    doc.spans["sc"] = spans
    set_relations(doc, [Relation(spans[h], spans[t], label) for h, t, label in relations])
    return doc


def port(relations=((0, 2, "hosts"), (0, 1, "in"))) -> Doc:
    """Entities that end at the same token."""
    entities = [(0, 3, "FAC"), (2, 3, "LOC"), (4, 5, "VEH")]
    return related("Port of Oslo hosts ferries", entities, list(relations))


def flat(doc: Doc) -> Doc:
    doc.set_ents([span for span in doc.spans["sc"] if span.label_ != "LOC"], default="outside")
    return doc


def numbers(graph: GoldGraph) -> list[tuple[int, int, str]]:
    return sorted(graph.arcs)


# Anchors


def test_entities_that_end_together_have_a_token_each():
    doc = port()
    anchors = {entity.label_: token for token, entity in anchors_of(doc.spans["sc"]).items()}
    assert anchors == {"LOC": 2, "FAC": 1, "VEH": 4}


def test_anchors_do_not_depend_on_the_order():
    doc = related("a b c d", [(0, 4, "A"), (2, 4, "B"), (3, 4, "C"), (0, 2, "D")], [])
    spans = list(doc.spans["sc"])
    wanted = {"C": 3, "B": 2, "D": 1, "A": 0}
    for order in (spans, spans[::-1]):
        assert {span.label_: token for token, span in anchors_of(order).items()} == wanted


def test_blanks_are_no_anchors_and_an_entity_without_a_free_token_has_none():
    doc = related("a \n b \t", [(0, 2, "A"), (1, 2, "BLANK"), (2, 4, "B"), (2, 3, "X")], [])
    assert {t: span.label_ for t, span in anchors_of(doc.spans["sc"]).items()} == {0: "A", 2: "X"}
    assert anchors_of([]) == {}


# Relations


def test_a_relation_is_an_arc_to_its_first_argument():
    graph = relation_graph(Example(bare(port()), port()), "sc", flat=False)
    assert numbers(graph) == [(2, 1, "in"), (4, 1, "hosts")]
    assert graph.known.all()
    assert graph.tags == [""] * 5


def test_flat_leaves_relations_of_inner_entities_out():
    for doc, key in ((port(), "sc"), (flat(port()), None)):
        graph = relation_graph(Example(bare(doc), doc), key, flat=True)
        assert numbers(graph) == [(4, 2, "hosts")]
        assert graph.tags == ["B-FAC", "I-FAC", "E-FAC", "O", "S-VEH"]
        assert graph.known.all()


def test_of_two_relations_of_a_pair_the_first_is_learned():
    doc = port([(0, 2, "hosts"), (0, 2, "owns"), (2, 0, "visits"), (2, 2, "loop")])
    graph = relation_graph(Example(bare(doc), doc), "sc", flat=False)
    assert numbers(graph) == [(1, 4, "visits"), (4, 1, "hosts")]


def test_tokenization_of_the_prediction():
    doc = flat(port())
    predicted = Doc(VOCAB, words=["Port", "of", "Os", "lo", "hosts", "\n", "ferries"])
    graph = relation_graph(Example(predicted, doc), None, flat=True)
    assert numbers(graph) == [(6, 3, "hosts")]
    assert graph.tags == ["B-FAC", "I-FAC", "I-FAC", "E-FAC", "O", "O", "S-VEH"]
    assert graph.known.all()


def test_blanks_that_only_the_prediction_has_cut_nothing():
    predicted = Doc(VOCAB, words=["Port", "of", "\n", "Oslo", "\n", "hosts", "ferries"])
    graph = relation_graph(Example(predicted, flat(port())), None, flat=True)
    assert numbers(graph) == [(6, 3, "hosts")]
    assert graph.tags[:4] == ["B-FAC", "I-FAC", "I-FAC", "E-FAC"]
    assert graph.known[[0, 1, 3, 5, 6]].all()


def test_an_entity_that_the_prediction_has_not_is_unknown():
    doc = flat(port())
    predicted = Doc(VOCAB, words=["Port", "of", "Oslohosts", "ferries"])
    graph = relation_graph(Example(predicted, doc), None, flat=True)
    assert graph.arcs == []
    assert graph.known.tolist() == [False, False, False, True]
    assert graph.tags == ["", "", "", "S-VEH"]


def test_missing_entities_are_unknown():
    words = ["Oslo", "hosts", "ferries"]
    doc = Doc(VOCAB, words=words, ents=["B-LOC", "", "B-VEH"])
    set_relations(doc, [Relation(doc.ents[0], doc.ents[1], "hosts")])
    graph = relation_graph(Example(bare(doc), doc), None, flat=True)
    assert graph.known.tolist() == [True, False, True]
    assert graph.tags == ["S-LOC", "", "S-VEH"]
    assert graph.arcs == [(2, 0, "hosts")]


def test_without_relations_only_the_tags_are_known():
    doc = Doc(VOCAB, words=["Oslo", "votes"], ents=["B-LOC", "O"])
    graph = relation_graph(Example(bare(doc), doc), None, flat=True)
    assert (graph.tags, graph.known.any()) == (["S-LOC", "O"], False)
    plain = Doc(VOCAB, words=["Oslo", "votes"])
    graph = relation_graph(Example(bare(plain), plain), None, flat=True)
    assert (graph.tags, graph.known.any(), graph.arcs) == (["", ""], False, [])


def test_labels():
    example = Example(bare(port()), port())
    assert relation_labels(example) == {"hosts", "in"}
    assert entity_tags(example, None) == set()
    assert entity_tags(Example(bare(port()), flat(port())), None) == {
        "O",
        *(f"{prefix}-{kind}" for prefix in "BIES" for kind in ("FAC", "VEH")),
    }
    assert arc_labels(example) == set()


# Arcs of tokens


def enhanced() -> Doc:
    """She wants to leave, and is the subject of both; the root has two dependents."""
    doc = Doc(VOCAB, words=["She", "wants", "to", "leave"])
    arcs = [(1, 0, "nsubj"), (3, 0, "nsubj:xsubj"), (None, 1, "root"), (3, 2, "mark")]
    arcs += [(1, 3, "xcomp"), (None, 3, "root"), (3, 3, "loop")]
    set_arcs(doc, [Arc(None if h is None else doc[h], doc[d], label) for h, d, label in arcs])
    return doc


def test_arcs_of_tokens():
    example = Example(bare(enhanced()), enhanced())
    graph = token_graph(example)
    assert graph.arcs == [
        (1, 0, "nsubj"),
        (3, 0, "nsubj:xsubj"),
        (-1, 1, "root"),
        (3, 2, "mark"),
        (1, 3, "xcomp"),
        (-1, 3, "root"),
    ]
    assert graph.known.all()
    assert arc_labels(example) == {"nsubj", "nsubj:xsubj", "root", "mark", "xcomp", "loop"}


def test_misaligned_arcs_are_unknown():
    merged = Doc(VOCAB, words=["She", "wants", "toleave"])
    graph = token_graph(Example(merged, enhanced()))
    assert graph.arcs == [(1, 0, "nsubj"), (-1, 1, "root")]
    assert graph.known.tolist() == [False, True, False]
    plain = Doc(VOCAB, words=["She", "wants"])
    assert not token_graph(Example(bare(plain), plain)).known.any()


# Targets


def test_targets_of_two_docs():
    doc = enhanced()
    graphs = [
        relation_graph(Example(bare(flat(port())), flat(port())), None, flat=True),
        token_graph(Example(bare(doc), doc)),
    ]
    labels = {"hosts": 0, "nsubj": 1, "root": 2, "xcomp": 3}
    cuts = sentence_parts([bare(port()), bare(doc)], 10)
    targets = graph_targets(graphs, cuts, labels, {"E-FAC": 7, "O": 8})
    assert targets.heads.tolist() == [
        *([[-1, -1]] * 2 + [[5, -1]] + [[-1, -1]] * 2),
        *([2, 4], [0, -1], [4, -1], [2, 0]),
    ]
    assert targets.labels.tolist() == [
        *([[-1, -1]] * 2 + [[0, -1]] + [[-1, -1]] * 2),
        *([1, -1], [2, -1], [-1, -1], [3, 2]),
    ]
    assert targets.tags.tolist() == [-1, -1, 7, 8, -1, -1, -1, -1, -1]
    assert targets.known.all()


def test_no_arcs_between_sentences_or_parts():
    doc = enhanced()
    graph = token_graph(Example(bare(doc), doc))
    for starts, max_length in (([1, 0, 1, 0], 10), (None, 2)):
        words = [token.text for token in doc]
        cuts = sentence_parts([Doc(VOCAB, words=words, sent_starts=starts)], max_length)
        assert [cut.tolist() for cut in cuts] == [[0, 1], [2, 3]]
        targets = graph_targets([graph], cuts, {}, {})
        assert targets.heads.tolist() == [[2], [0], [2], [0]]


@pytest.mark.parametrize("words", [[], [" "], [" ", "\n"]])
def test_nothing(words):
    doc = Doc(VOCAB, words=words)
    set_arcs(doc, [])
    set_relations(doc, [])
    example = Example(bare(doc), doc)
    graphs = [relation_graph(example, None, flat=True), token_graph(example)]
    targets = graph_targets(graphs, [], {}, {})
    assert targets.heads.shape == targets.labels.shape == (2 * len(words), 1)
    assert (targets.heads == -1).all()
    assert targets.known.shape == targets.tags.shape == (2 * len(words),)
    assert graph_targets([], [], {}, {}).known.dtype == np.bool_
