"""Examples with predicted layers on them."""

import pytest
import spacy
from spacy.tokens import Doc

from spacy_biaffine.formats.common.docbin import write_docbin
from spacy_biaffine.formats.corpora.corpus import ParsedCorpus

NLP = spacy.blank("en")


def doc(words: str, deps: list[str], tag: str) -> Doc:
    split = words.split()
    heads = [0] * len(split)
    return Doc(NLP.vocab, words=split, heads=heads, deps=deps, tags=[tag] * len(split))


def corpus(tmp_path, parsed, given=("heads", "tag")):
    gold = [doc("we slept", ["root", "x"], "G"), doc("so did they", ["root", "x", "y"], "G")]
    write_docbin(gold, tmp_path / "gold.spacy")
    write_docbin(parsed, tmp_path / "parsed.spacy")
    return ParsedCorpus(str(tmp_path / "gold.spacy"), str(tmp_path / "parsed.spacy"), given)


def test_predicted_layers_are_given(tmp_path):
    parsed = [doc("we slept", ["root", "z"], "P"), doc("so did they", ["root", "z", "z"], "P")]
    examples = list(corpus(tmp_path, parsed)(NLP))
    assert [[t.dep_ for t in eg.predicted] for eg in examples] == [
        ["root", "z"],
        ["root", "z", "z"],
    ]
    assert {t.tag_ for eg in examples for t in eg.predicted} == {"P"}
    assert {t.tag_ for eg in examples for t in eg.reference} == {"G"}


@pytest.mark.parametrize(
    "parsed",
    [
        [doc("we slept", ["root", "z"], "P")],
        [doc("we slept", ["root", "z"], "P"), doc("so did we", ["root", "z", "z"], "P")],
    ],
    ids=["fewer", "other words"],
)
def test_other_docs_are_refused(tmp_path, parsed):
    with pytest.raises(ValueError, match=r"Doc 1 \(from 0\)"):
        list(corpus(tmp_path, parsed)(NLP))


def test_unknown_layers_are_refused(tmp_path):
    with pytest.raises(ValueError, match="unknown layers"):
        corpus(tmp_path, [doc("we slept", ["root", "z"], "P")], given=["trees"])
