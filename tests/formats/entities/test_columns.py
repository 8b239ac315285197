"""Files with one token and its label a line."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.corpora.labels import LabelColumnsCorpus
from spacy_biaffine.formats.entities.label_columns import read_labels


@pytest.fixture
def vocab():
    return spacy.blank("en").vocab


@pytest.fixture
def write(tmp_path):
    def to_file(content: str | bytes) -> Path:
        path = tmp_path / "in.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def rows(doc):
    return [(token.text, token.tag_) for token in doc]


@pytest.mark.parametrize(
    "content",
    [
        "rain NN\nfell VBD\n\nus PRP\n",
        "rain\tNN\r\nfell\tVBD\r\n\r\n\r\nus\tPRP",
        "\ufeffrain  NN\nfell VBD\n \t\nus PRP\n\n",
    ],
)
def test_sentences(vocab, write, content):
    docs = list(read_labels(write(content), vocab))
    assert [rows(doc) for doc in docs] == [[("rain", "NN"), ("fell", "VBD")], [("us", "PRP")]]


def test_columns_by_number(vocab, write):
    path = write("1\train fall\tX\tNN\n2\t#\tX\t_\n")
    (doc,) = read_labels(path, vocab, token=1, label=-1)
    assert rows(doc) == [("rain fall", "NN"), ("#", "")]


def test_sentences_to_a_doc(vocab, write):
    docs = list(read_labels(write("a X\n\nb Y\n\nc Z\n"), vocab, n_sents=2))
    assert [[sent.text for sent in doc.sents] for doc in docs] == [["a", "b"], ["c"]]


def test_parts_of_speech_and_extensions(vocab, write):
    path = write("rain NOUN\nfell _\n")
    (doc,) = read_labels(path, vocab, target="pos")
    assert [token.pos_ for token in doc] == ["NOUN", ""]
    (doc,) = read_labels(path, vocab, target="_.columns_test")
    assert [token._.columns_test for token in doc] == ["NOUN", None]
    data = DocBin(docs=[doc]).to_bytes()
    (doc,) = DocBin().from_bytes(data).get_docs(vocab)
    assert [token._.columns_test for token in doc] == ["NOUN", None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "a X\n\nb\n",
            r"in.txt:3: 1 columns; wanted the token in column 0 and the label in column 1",
        ),
        ("a\t\n", r"in.txt:1: the label is empty"),
        ("\tX\n", r"in.txt:1: the token is empty"),
        ("\n \n", r"in.txt: no sentences found"),
        ("", r"in.txt: no sentences found"),
    ],
)
def test_bad_files(vocab, write, content, message):
    with pytest.raises(FormatError, match=message):
        list(read_labels(write(content), vocab))


def test_no_utf8(vocab, write):
    with pytest.raises(ValueError, match=r"in.txt:2: .*UTF-8"):
        list(read_labels(write(b"a X\n\xff Y\n"), vocab))


@pytest.mark.parametrize("target", ["ent", "lemma", ""])
def test_other_targets(vocab, write, target):
    with pytest.raises(ValueError, match=r"columns go to tag, pos or _.NAME"):
        list(read_labels(write("a X\n"), vocab, target=target))


def test_corpus(write):
    nlp = spacy.blank("en")
    corpus = LabelColumnsCorpus(write("a X\n\nb Y\n\nc Z\n"), n_sents=2, given=["sents"], limit=1)
    (example,) = corpus(nlp)
    assert rows(example.reference) == [("a", "X"), ("b", "Y")]
    assert rows(example.predicted) == [("a", ""), ("b", "")]
    assert [sent.text for sent in example.predicted.sents] == ["a", "b"]
