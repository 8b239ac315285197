"""What encoders are shown of trees: labels and tags, and where they come from."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Model

from spacy_biaffine.encoders.trees import LearnTrees, learn_from_sample, read_trees, show_trees


def encoder(**attrs) -> Model:
    attrs = {"reads_trees": True, "labels": None, "tags": None, **attrs}
    return Model("encoder", lambda model, docs, is_train: ([], lambda d: []), attrs=attrs)


@pytest.fixture
def nlp():
    return spacy.blank("en")


@pytest.fixture
def example(nlp) -> Example:
    """One tree of the gold standard, and another one by some parser."""
    gold = Doc(nlp.vocab, ["rain", "fell"], heads=[1, 1], deps=["nsubj", "root"], tags=["N", "V"])
    predicted = Doc(nlp.vocab, ["rain", "fell"], heads=[1, 1], deps=["SBJ", "ROOT"])
    return Example(predicted, gold)


def test_labels_of_gold_and_predicted_docs(nlp, example):
    outer = Model("outer", lambda *_: None, layers=[encoder(), encoder()])
    show_trees(outer, None, lambda: [example])
    for layer in outer.layers:
        assert layer.attrs["labels"] == ["ROOT", "SBJ", "nsubj", "root"]
        assert layer.attrs["tags"] == ["N", "V"]


def test_labels_of_components_that_assign_them(nlp, example):
    """A parser whose trees are not in the corpus."""
    nlp.add_pipe("parser").add_label("amod")
    nlp.add_pipe("tagger").add_label("JJ")
    nlp.add_pipe("ner").add_label("PER")
    model = encoder()
    show_trees(model, nlp, lambda: [example])
    assert {"amod", "nsubj"} <= set(model.attrs["labels"])
    assert model.attrs["tags"] == ["JJ", "N", "V"]
    assert "PER" not in model.attrs["labels"]


def test_corpus_is_not_read_for_other_encoders():
    show_trees(Model("cnn", lambda *_: None), None, lambda: pytest.fail("read"))


def test_callback_shows_a_shared_encoder_the_corpus(nlp, example):
    pipe = nlp.add_pipe("tok2vec")
    pipe.model.layers.append(encoder())
    shared = pipe.model.layers[-1]
    assert LearnTrees(lambda nlp: [example])(nlp) is nlp
    assert shared.attrs["labels"] == ["ROOT", "SBJ", "nsubj", "root"]


def test_sample_is_the_last_resort(example):
    model = encoder()
    with pytest.warns(UserWarning, match="has been shown 1 Docs"):
        learn_from_sample(model, [example.reference])
    assert model.attrs["labels"] == ["nsubj", "root"]
    learn_from_sample(model, [example.predicted])
    assert model.attrs["labels"] == ["nsubj", "root"]


def test_numbers_of_labels_and_tags(nlp):
    """Known ones from 1, also those that spaCy has numbers for; unknown and missing ones are 0."""
    words, deps, tags = ["a", "b", "c"], ["nsubj", "my:own", "other"], ["NN", "X", ""]
    doc = Doc(nlp.vocab, words, heads=[1, 1, 1], deps=deps, tags=tags)
    trees = read_trees(encoder(labels=["my:own", "nsubj"], tags=["NN"]), [doc], [[0, 1, 2]])
    assert trees.labels.tolist() == [2, 1, 0]
    assert trees.tags.tolist() == [1, 0, 0]
    assert trees.heads.tolist() == [1, -1, 1]
    none = read_trees(encoder(labels=[], tags=[]), [doc], [[0, 1, 2]])
    assert none.labels.tolist() == none.tags.tolist() == [0, 0, 0]


def test_blank_tokens_are_no_nodes(nlp):
    """Here the second and third token: neither sentence nor tree has them."""
    deps = ["a", "", "", "ROOT"]
    doc = Doc(nlp.vocab, ["x", " ", "\n", "y"], heads=[1, 3, 1, 3], deps=deps)
    model = encoder(labels=["a"], tags=[])
    trees = read_trees(model, [Doc(nlp.vocab, ["x"]), doc], [[0], [1, 4]])
    assert trees.heads.tolist() == [-1, -1, -1, -1, -1]
    doc = Doc(nlp.vocab, ["x", " ", "\n", "y"], heads=[3, 3, 1, 3], deps=deps)
    assert read_trees(model, [doc], [[0, 3]]).heads.tolist() == [1, -1, -1, -1]
