"""The toy component of CONTRIBUTING.md: it trains, predicts and comes back from bytes."""

import pytest
import spacy
from capitals import capital_model
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

spacy.registry.architectures("toy.Capitals.v1", func=capital_model)

WORDS = ["Rain", "fell", "on", "Oslo", "\n", "all", "Day"]


def made() -> spacy.Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("toy_capitals")
    return nlp


def examples(nlp: spacy.Language) -> list[Example]:
    return [Example(Doc(nlp.vocab, words=WORDS), Doc(nlp.vocab, words=WORDS))]


@pytest.fixture(scope="module")
def trained() -> spacy.Language:
    nlp = made()
    nlp.initialize(lambda: examples(nlp))
    optimizer = Adam(0.01)
    for _ in range(30):
        nlp.update(examples(nlp), sgd=optimizer)
    return nlp


def read(nlp: spacy.Language) -> list[bool]:
    return [token._.capital for token in nlp(Doc(nlp.vocab, words=WORDS)) if not token.is_space]


def test_it_learns(trained):
    assert read(trained) == [True, False, False, True, False, True]


def test_it_comes_back_from_bytes(trained):
    assert read(made().from_bytes(trained.to_bytes())) == read(trained)


def test_empty_docs(trained):
    assert [len(doc) for doc in trained.pipe([trained.make_doc(""), trained.make_doc("A b")])] == [
        0,
        2,
    ]


def test_no_weights():
    with pytest.raises(ValueError, match="has no weights yet"):
        made()("Rain")
