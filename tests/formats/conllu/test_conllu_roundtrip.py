"""Any valid CoNLL-U comes back as it was."""

import os
from pathlib import Path

import pytest
from conllu_samples import docs
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.formats.conllu.api import read_conllu, source_text, to_conllu

# No tab, newline, lone surrogate or NUL; a final \r belongs to the line end.
characters = st.characters(exclude_characters="\t\n\r\0", exclude_categories=["Cs"])
cells = st.one_of(
    st.sampled_from(["_", "_", "a", "A=b", "B=1|A=2"]), st.text(characters, min_size=1)
)
upos = st.sampled_from(["_", "NOUN", "VERB", "CONJ", "noun", "SPACE"])
misc = st.one_of(st.sampled_from(["_", "SpaceAfter=No", "X=1|SpaceAfter=No"]), cells)
comments = st.lists(st.text(characters, max_size=9).map("#".__add__), max_size=3)


@st.composite
def trees(draw, n_words):
    """HEAD of each word: a tree with one root, and some heads missing."""
    order = draw(st.permutations(range(1, n_words + 1)))
    heads = {order[0]: "0"}
    for position, word in enumerate(order[1:], 1):
        heads[word] = str(order[draw(st.integers(0, position - 1))])
    missing = draw(st.sets(st.integers(1, n_words))) if draw(st.booleans()) else set()
    return ["_" if word in missing else heads[word] for word in range(1, n_words + 1)]


@st.composite
def sentences(draw):
    n_words = draw(st.integers(1, 5))
    heads = draw(trees(n_words))
    lines = draw(comments)
    range_end = 0
    for number in range(0, n_words + 1):
        if number:
            if number > range_end and draw(st.integers(0, 4)) == 0:
                range_end = draw(st.integers(number, n_words))
                form = draw(st.text(characters, min_size=1))
                lines.append("\t".join([f"{number}-{range_end}", form, *"_______", draw(misc)]))
            form = draw(st.text(characters, min_size=1))
            head = heads[number - 1]
            row = [str(number), form, draw(cells), draw(upos), draw(cells), draw(cells), head]
            lines.append("\t".join([*row, draw(cells), draw(cells), draw(misc)]))
        for minor in range(1, draw(st.sampled_from([0, 0, 0, 2])) + 1):
            lines.append("\t".join([f"{number}.{minor}", "e", *(draw(cells) for _ in range(8))]))
    return "\n".join(lines) + "\n\n"


@pytest.mark.filterwarnings("ignore:UPOS")
@settings(max_examples=150)
@given(st.lists(sentences(), min_size=1, max_size=4), st.integers(1, 3))
def test_comes_back_equal(parts, n_sents):
    text = "".join(parts)
    read = docs(text, n_sents=n_sents)
    data = DocBin(docs=read).to_bytes()
    again = list(DocBin().from_bytes(data).get_docs(Vocab()))
    assert "".join(to_conllu(doc) for doc in again) == text
    assert [source_text(doc) for doc in again] == [source_text(doc) for doc in read]


@pytest.mark.filterwarnings("ignore:UPOS")
@settings(max_examples=100)
@given(st.lists(sentences(), min_size=1, max_size=3))
def test_merged_comes_back_equal(parts):
    once = "".join(to_conllu(doc) for doc in docs("".join(parts), merge_mwt=True))
    twice = "".join(to_conllu(doc) for doc in docs(once))
    assert once == twice


@pytest.mark.slow
@pytest.mark.skipif("SPACY_BIAFFINE_DATA" not in os.environ, reason="no treebank folder given")
def test_treebanks_come_back_equal():
    files = sorted(Path(os.environ["SPACY_BIAFFINE_DATA"]).rglob("*.conllu"))
    assert files
    for file in files:
        written = "".join(to_conllu(doc) for doc in read_conllu(file, Vocab(), n_sents=3))
        assert written == file.read_bytes().decode("utf-8"), file


words = st.one_of(
    st.sampled_from(["a", " ", "\n", "\n\n", "#", "_", "\u00a0", "d e", "|", "1-2", "\\s", "\r"]),
    st.text(characters, min_size=1),
)


@st.composite
def plain_docs(draw):
    """Docs of any origin: whitespace tokens, any head, any label, or only sentence starts."""
    tokens = draw(st.lists(words, min_size=1, max_size=7))
    spaces = draw(st.lists(st.booleans(), min_size=len(tokens), max_size=len(tokens)))
    n = len(tokens)
    if draw(st.booleans()):
        starts = draw(st.lists(st.sampled_from([True, False, None]), min_size=n, max_size=n))
        return Doc(Vocab(), tokens, spaces, sent_starts=starts)
    tree = draw(trees(n))
    heads = [i if head in "0_" else int(head) - 1 for i, head in enumerate(tree)]
    labels = ["" if head == "_" else draw(st.sampled_from(["ROOT", "x"])) for head in tree]
    return Doc(Vocab(), tokens, spaces, heads=heads, deps=labels)


@settings(max_examples=200)
@given(plain_docs())
def test_any_doc_gives_valid_conllu_with_its_text(doc):
    written = to_conllu(doc)
    if not written:
        assert not doc.text.strip()
        return
    again = docs(written, n_sents=9)
    if len(again) == 1:  # sentences without root stand alone, where the space between them is lost
        assert source_text(again[0]).rstrip() == doc.text.rstrip()
