"""norm_biaffine_graph_parser: entities and relations, given entities, sentences, losses, scores."""

import warnings

import numpy as np
import pytest
import spacy
import torch
from factories import FACTORIES, GRAPH_PARSER, TOK2VEC, Factory, bare, examples_of, gold_docs
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.doc.graphs import Arc, Relation, set_arcs, set_relations
from spacy_biaffine.doc.stored_graphs import graph_group
from spacy_biaffine.gold.graphs import GraphTargets
from spacy_biaffine.models.arc_heads import GraphArcs, TreeArcs
from spacy_biaffine.models.torch_layer import Scored
from spacy_biaffine.nn.graph_parser import GraphScores
from spacy_biaffine.pipeline.graph_kinds import EntityGraph, TokenGraph
from spacy_biaffine.pipeline.graph_parser import NormBiaffineGraphParser, graph_loss
from spacy_biaffine.types import ParsedGraph

NAME = "norm_biaffine_graph_parser"
RELATIONS: Factory = next(f for f in FACTORIES if f.kind == "relations")
TOKENS: Factory = next(f for f in FACTORIES if f.kind == "tokens")
GIVEN = {"tagger_size": 0, "arcs": {"@misc": "spacy-biaffine.GraphArcs.v1"}}
NESTED = {"@misc": "spacy-biaffine.EntityGraph.v1", "spans_key": "sc"}


def component(nlp: Language) -> NormBiaffineGraphParser:
    return nlp.get_pipe(NAME)


UNSURE = {"@misc": "spacy-biaffine.GraphArcs.v1", "threshold": 0.04}
"""Finds many arcs without having learned any."""


def found(doc: Doc) -> list[tuple[str, str, str, str, str]]:
    return [
        (r.head.text, r.head.label_, r.label, r.tail.text, r.tail.label_) for r in doc._.relations
    ]


def port(vocab, *, related: bool = True, entities=("FAC", "LOC", "VEH")) -> Doc:
    """Entities that end at the same token, related to each other and to a third one."""
    doc = Doc(vocab, words=["Port", "of", "Oslo", "hosts", "ferries"])
    places = {"FAC": (0, 3), "LOC": (2, 3), "VEH": (4, 5)}
    doc.spans["sc"] = [Span(doc, *places[label], label) for label in entities]
    if related:
        port, oslo, ferries = doc.spans["sc"]
        relations = [Relation(port, oslo, "in"), Relation(port, ferries, "hosts")]
        set_relations(doc, [*relations, Relation(ferries, oslo, "visits")])
    return doc


def handmade(graph, tags=(), *, store_scores: bool = False) -> NormBiaffineGraphParser:
    """A component that has never seen anything: what it writes is told by a test."""
    config = {"model": {**GRAPH_PARSER, "tok2vec": TOK2VEC}, "store_scores": store_scores}
    pipe = spacy.blank("en").add_pipe(NAME, config=config)
    if not tags:
        pipe.model.attrs["has_tagger"] = False
    pipe.graph = graph
    pipe.cfg["labels"], pipe.cfg["tags"] = ["a", "b"], list(tags)
    return pipe


def parsed(n: int, arcs: list[tuple[int, int, int]], tags: list[int] | None = None) -> ParsedGraph:
    """arcs: head, dependent, label."""
    heads, dependents, labels = np.array(arcs, dtype=np.int64).reshape(-1, 3).T
    probs = np.full(len(arcs), 0.5, dtype=np.float32)
    numbers = np.array(tags or [-1] * n, dtype=np.int64)
    return ParsedGraph(numbers, heads, dependents, labels, probs, probs / 2)


# Given entities


@pytest.fixture(scope="module")
def given_nlp() -> Language:
    """Relates nested entities that are on the Doc, one relation by heart."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    config = {"model": {**GRAPH_PARSER, **GIVEN, "tok2vec": TOK2VEC}, "graph": NESTED}
    nlp.add_pipe(NAME, config=config)
    examples = [Example(port(nlp.vocab, related=False), port(nlp.vocab))]
    nlp.initialize(lambda: examples)
    optimizer = Adam(0.01, L2=0.0)
    for _ in range(60):
        nlp.update(examples, sgd=optimizer)
    return nlp


def test_entities_that_share_a_token_are_told_apart(given_nlp):
    doc = given_nlp(port(given_nlp.vocab, related=False))
    assert found(doc) == found(port(given_nlp.vocab))
    assert found(doc) == [
        ("Port of Oslo", "FAC", "in", "Oslo", "LOC"),
        ("Port of Oslo", "FAC", "hosts", "ferries", "VEH"),
        ("ferries", "VEH", "visits", "Oslo", "LOC"),
    ]
    spans = [(span.start, span.end, span.label_) for span in doc.spans["sc"]]
    assert spans == [(0, 3, "FAC"), (2, 3, "LOC"), (4, 5, "VEH")]
    assert doc.ents == ()


def test_no_relation_to_an_entity_that_is_missing(given_nlp):
    for entities in ((), ("VEH",), ("FAC", "VEH"), ("LOC", "VEH")):
        doc = given_nlp(port(given_nlp.vocab, related=False, entities=entities))
        assert all({head, tail} <= set(entities) for _, head, _, _, tail in found(doc))


def test_without_entities_there_is_one_warning():
    nlp = RELATIONS.make(**GIVEN)
    with pytest.warns(UserWarning, match=rf"\[{NAME}\] reads the entities of a Doc"):
        doc = nlp("Cold rain fell.")
    assert doc._.relations == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp("Cold rain fell.")


# What is written


TAGS = ["B-PER", "E-PER", "I-PER", "O", "S-LOC"]


def test_relations_join_entities_alone():
    pipe = handmade(EntityGraph(), TAGS)
    doc = Doc(pipe.vocab, words=["Old", "Ann", "left", "Oslo", "fast"], ents=["O"] * 4 + ["B-X"])
    arcs = [(3, 1, 0), (1, 3, 1), (3, 0, 0), (2, 1, 0), (-1, 2, 0), (-1, 1, 0), (4, 3, 0)]
    pipe.set_annotations([doc], [parsed(5, arcs, [0, 1, 3, 4, 3])])
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Old Ann", "PER"), ("Oslo", "LOC")]
    assert found(doc) == [
        ("Old Ann", "PER", "a", "Oslo", "LOC"),
        ("Oslo", "LOC", "b", "Old Ann", "PER"),
    ]
    assert {relation.score for relation in doc._.relations} == {None}
    assert doc._.dep_graph == []
    pipe.set_annotations([doc], [parsed(5, [], [3, 3, 3, 4, 3])])
    assert ([ent.text for ent in doc.ents], doc._.relations) == (["Oslo"], [])


def test_a_group_of_entities():
    pipe = handmade(EntityGraph("sc"), TAGS, store_scores=True)
    doc = Doc(pipe.vocab, words=["Ann", "left", "Oslo"], ents=["O", "B-X", "O"])
    pipe.set_annotations([doc], [parsed(3, [(2, 0, 1)], [4, 3, 4])])
    assert [(span.text, span.label_) for span in doc.spans["sc"]] == [
        ("Ann", "LOC"),
        ("Oslo", "LOC"),
    ]
    assert [ent.text for ent in doc.ents] == ["left"]
    assert [relation.score for relation in doc._.relations] == [0.125]


def test_all_arcs_are_kept_where_they_are_wanted():
    pipe = handmade(EntityGraph(keep_arcs=True), TAGS)
    doc = Doc(pipe.vocab, words=["Ann", "left", "Oslo"])
    pipe.set_annotations([doc], [parsed(3, [(2, 0, 1), (1, 2, 0), (-1, 1, 0)], [4, 3, 4])])
    assert [(arc.head.i, arc.dependent.i, arc.label) for arc in doc._.dep_graph] == [
        (2, 0, "b"),
        (1, 2, "a"),
    ]
    assert len(doc._.relations) == 1


def test_entities_and_blanks():
    """Tags of an entity go on over a blank; none begins or ends with one."""
    pipe = handmade(EntityGraph(), TAGS)
    doc = spacy.blank("en")("Old\n Ann \n left")
    assert [token.is_space for token in doc] == [False, True, False, True, False]
    pipe.set_annotations([doc], [parsed(5, [(2, 4, 0)], [0, -1, 1, -1, 4])])
    assert [ent.text for ent in doc.ents] == ["Old\n Ann", "left"]
    assert len(doc._.relations) == 1


def test_arcs_of_tokens_stand_each_for_itself():
    pipe = handmade(TokenGraph())
    pipe.cfg["root_labels"] = ["a"]
    doc = Doc(pipe.vocab, words=["She", "wants", "tea"])
    set_arcs(doc, [Arc(doc[0], doc[1], "old")])
    pipe.set_annotations([doc], [parsed(3, [(1, 0, 0), (2, 0, 1), (-1, 1, 0), (0, 2, 1)])])
    assert [(a.head and a.head.i, a.dependent.i, a.label) for a in doc._.dep_graph] == [
        (1, 0, "a"),
        (2, 0, "b"),
        (None, 1, "a"),
        (0, 2, "b"),
    ]


@pytest.mark.parametrize("arcs", ["TreeArcs", "GraphArcs"])
@pytest.mark.parametrize("roots", [True, False])
def test_arcs_from_the_root_are_predicted_where_training_has_some(arcs, roots):
    """As in semantic graphs, where a word that hangs on the root of a tree has no head."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    TOKENS.add_to(nlp, arcs={"@misc": f"spacy-biaffine.{arcs}.v1"})
    gold = Doc(nlp.vocab, words=["She", "wants", "warm", "tea"])
    root = [Arc(None, gold[1], "root")] if roots else []
    set_arcs(gold, [*root, Arc(gold[1], gold[0], "agent"), Arc(gold[1], gold[3], "theme")])
    nlp.initialize(lambda: examples_of([gold]))
    optimizer = Adam(0.01, L2=0.0)
    for _ in range(60):
        nlp.update(examples_of([gold]), sgd=optimizer)
    doc = nlp(bare(gold))
    from_words = {(a.head.i, a.dependent.i, a.label) for a in doc._.dep_graph if a.head}
    assert from_words == {(1, 0, "agent"), (1, 3, "theme")}
    from_root = {(a.dependent.i, a.label) for a in doc._.dep_graph if a.head is None}
    assert ((1, "root") in from_root) == roots
    assert roots or not from_root
    assert nlp.evaluate(examples_of([gold]))["dep_graph_lf"] == 1.0


def test_saved_docs_keep_relations_with_scores():
    pipe = handmade(EntityGraph(), TAGS, store_scores=True)
    doc = Doc(pipe.vocab, words=["Ann", "left", "Oslo"])
    pipe.set_annotations([doc], [parsed(3, [(2, 0, 1)], [4, 3, 4])])
    (saved,) = DocBin(docs=[doc], store_user_data=False).get_docs(pipe.vocab)
    assert found(saved) == found(doc) != []
    assert saved._.relations[0].score == 0.125


# Sentences


def test_no_arcs_between_sentences():
    nlp = TOKENS.make(arcs=UNSURE)
    words = ["Cold", "rain", "fell", ".", "Nobody", "slept", "."]

    def joined(starts) -> set[tuple[int, int]]:
        doc = nlp(Doc(nlp.vocab, words=words, sent_starts=starts))
        return {(arc.head.i, arc.dependent.i) for arc in doc._.dep_graph if arc.head is not None}

    whole = joined(None)
    assert any((head < 4) != (dependent < 4) for head, dependent in whole)
    cut = joined([True, False, False, False, True, False, False])
    assert cut
    assert not any((head < 4) != (dependent < 4) for head, dependent in cut)


def test_long_sentences_are_parsed_in_parts():
    nlp = TOKENS.make(max_length=3, arcs=UNSURE)
    arcs = nlp(Doc(nlp.vocab, words=["rain"] * 7))._.dep_graph
    parts = np.array([0, 0, 0, 1, 1, 2, 2])
    inner = [(arc.head.i, arc.dependent.i) for arc in arcs if arc.head is not None]
    assert inner
    assert all(parts[head] == parts[dependent] for head, dependent in inner)
    assert {arc.dependent.i for arc in arcs} <= set(range(7))


# Settings that can't be


@pytest.mark.parametrize("setting", [{"hops": 4}, {"lstm_layers": -1}, {"max_length": 0}])
def test_settings_out_of_range(setting):
    (name,) = setting
    with pytest.raises(ValueError, match=f"{name} must be"):
        RELATIONS.make(**setting)


def test_a_tagger_for_arcs_of_tokens_is_an_error():
    with pytest.raises(ValueError, match="set tagger_size = 0"):
        TOKENS.make(tagger_size=8)


def test_relations_without_entities_are_an_error():
    nlp = spacy.blank("en")
    RELATIONS.add_to(nlp)
    with pytest.raises(ValueError, match=rf"\[{NAME}\] found relations but no entities"):
        nlp.initialize(lambda: [Example(port(nlp.vocab, related=False), port(nlp.vocab))])


# Loss


def test_loss_is_the_weighted_sum():
    torch.manual_seed(0)
    scores = GraphScores(torch.randn(1, 3, 2), torch.randn(1, 3, 4), torch.randn(2, 5))
    targets = GraphTargets(
        heads=np.array([[2], [-1], [1]]),
        labels=np.array([[4], [-1], [-1]]),
        known=np.array([True, True, True]),
        tags=np.array([0, -1, 1]),
    )
    batch = Scored(np.array([[0, 1, 2]]), scores)
    tag = -torch.log_softmax(scores.tags[0, [0, 2]], -1)[[0, 1], [0, 1]].mean().item()
    label = -torch.log_softmax(scores.labels[0], -1)[4].item()
    for arcs in (TreeArcs(), GraphArcs()):
        heads, known = torch.tensor([[[2], [-1], [1]]]), torch.ones(1, 3, dtype=torch.bool)
        arc = arcs.loss(scores.arcs, heads, known).item() / 3
        for weight in (0.1, 0.0):
            loss, ((d_tags, d_arcs, d_labels),) = graph_loss([batch], targets, arcs, weight)
            assert loss == pytest.approx(weight * tag + arc + label, rel=1e-5)
            assert (d_tags[0, [0, 2]] != 0).all() == bool(weight)
            assert (d_tags[0, 1] == 0).all()
            assert (d_labels[0] != 0).all()
            assert (d_labels[1] == 0).all()
            assert d_arcs.isfinite().all()


def test_relations_that_are_not_annotated_do_not_count():
    """Entities alone teach the tagger, and nothing else."""
    nlp = RELATIONS.make()
    docs = gold_docs(nlp.vocab)
    for doc in docs:
        del doc.spans[graph_group("relations")]
    parser = component(nlp).model.get_ref("parser").shims[0].module
    before = {name: weight.clone() for name, weight in parser.state_dict().items()}
    assert nlp.update(examples_of(docs), sgd=Adam(0.01, L2=0.0))[NAME] > 0
    moved = {name for name, weight in parser.state_dict().items() if (weight != before[name]).any()}
    assert moved
    assert {name.split(".")[0] for name in moved} == {"tagger"}


# Scores


def test_arcs_of_relations_are_scored_whatever_the_entities():
    nlp = spacy.blank("en")
    config = {"@scorers": "spacy-biaffine.relation_arc_scorer.v1", "spans_key": "sc"}
    scorer = spacy.registry.resolve({"scorer": config})["scorer"]
    gold = port(nlp.vocab)
    predicted = bare(gold)
    arcs = [(4, 2, "hosts"), (2, 4, "loves"), (3, 2, "in")]
    set_arcs(predicted, [Arc(predicted[h], predicted[d], label) for h, d, label in arcs])
    scores = scorer([Example(predicted, gold), Example(bare(gold), bare(gold))])
    # Of three relations the two of the inner entity can't be found.
    names = {name: scores[f"relation_arcs_{name}"] for name in ("p", "r", "f", "up", "ur")}
    assert names == pytest.approx({"p": 1 / 3, "r": 1 / 3, "f": 1 / 3, "up": 1 / 3, "ur": 1 / 3})
    assert scores["relations_f"] == 0.0
    assert scorer([Example(bare(gold), bare(gold))])["relation_arcs_f"] is None


def test_the_main_score():
    relations, tokens = RELATIONS.make(), TOKENS.make()
    for nlp, name in ((relations, "relations_f"), (tokens, "dep_graph_elas")):
        scores = nlp.evaluate(examples_of(gold_docs(nlp.vocab)))
        assert scores["graph_f"] == scores[name] is not None
