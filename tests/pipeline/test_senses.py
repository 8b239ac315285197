"""The dictionary of senses."""

import pytest
import spacy
import srsly
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.pipeline.senses import Senses, lemma_of


@pytest.fixture
def doc() -> Doc:
    words = ["Fell", "falls", "fall", "falling", "GOES"]
    return Doc(spacy.blank("en").vocab, words=words, lemmas=["Fall", "fall", "fall", "fall", ""])


@pytest.fixture
def senses(doc) -> Senses:
    return Senses.of(zip(doc, ["fall.03", "fall.01", "fall.01", "fall.02", "go.02"], strict=True))


def test_lemma_of(doc):
    assert [lemma_of(token) for token in doc] == ["fall"] * 4 + ["goes"]


def test_the_most_frequent_sense_comes_first(senses):
    assert senses.seen("fall") == ["fall.01", "fall.02", "fall.03"]
    assert senses.best("fall") == "fall.01"


def test_forms_are_known_too(senses):
    """Text without lemmas looks its predicates up by their forms."""
    assert senses.seen("fell") == ["fall.03"]
    assert senses.best("falling") == "fall.02"
    assert senses.best("goes") == "go.02"


def test_a_vocab_without_a_language():
    """It has no lower-case forms of its own."""
    doc = Doc(Vocab(), words=["Fell"])
    assert lemma_of(doc[0]) == "fell" and Senses.of([(doc[0], "fall.03")]).seen("fell")
    assert not Senses.of([(doc[0], "fall.03")]).seen("")


def test_a_token_counts_once_for_its_lemma(senses):
    assert senses.to_data()["fall"] == {"fall.01": 2, "fall.02": 1, "fall.03": 1}


def test_what_was_never_seen(senses):
    assert senses.seen("rise") == [] and senses.best("rise") is None


def test_data_and_back(senses):
    data = srsly.json_loads(srsly.json_dumps(senses.to_data()))
    assert Senses(data).to_data() == senses.to_data() == data
    assert Senses(data).seen("fall") == senses.seen("fall")
    assert list(data) == sorted(data)


def test_no_senses():
    assert Senses().to_data() == {} and Senses.of([]).best("go") is None
