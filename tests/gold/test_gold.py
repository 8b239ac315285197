"""Targets from Examples, by hand."""

import numpy as np
import pytest
import spacy
from factories import bare, examples_of, gold_docs, partly_annotated
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_biaffine.doc.segments import words_of
from spacy_biaffine.gold.alignment import misaligned, partners
from spacy_biaffine.gold.trees import TreeTargets, arc_labels, tree_targets

LABELS = {"ROOT": 0, "nsubj": 1, "advmod": 2, "punct": 3, "aux": 4}


@pytest.fixture
def vocab() -> Vocab:
    # A Vocab() of its own knows no blanks.
    return spacy.blank("xx").vocab


def targets(*examples: Example, max_length: int = 100) -> dict[str, list]:
    found = tree_targets(examples, LABELS, max_length)
    assert isinstance(found, TreeTargets)
    total = sum(len(eg.predicted) for eg in examples)
    assert {len(found.starts), len(found.heads), len(found.labels)} == {total}
    arrays = [found.starts, found.heads, found.labels, *found.cuts]
    assert {a.dtype for a in arrays} == {np.dtype(np.int64)}
    return {
        "cuts": [cut.tolist() for cut in found.cuts],
        "starts": found.starts.tolist(),
        "heads": found.heads.tolist(),
        "labels": found.labels.tolist(),
    }


def example(predicted: list[str], gold: Doc) -> Example:
    return Example(Doc(gold.vocab, words=predicted), gold)


def test_trees_of_two_docs(vocab):
    """Heads are positions in the sentence, from 1; labels that are not known are left out."""
    assert targets(*examples_of(gold_docs(vocab))) == {
        "cuts": [[0, 1, 2, 3, 4, 5], [6, 7, 8], [9, 10, 11, 12, 13, 14, 15]],
        "starts": [-1, 0, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 0],
        "heads": [2, 3, 0, 5, 3, 3, 2, 0, 2, 3, 3, 0, 5, 2, 5, 3],
        "labels": [-1, 1, 0, -1, -1, 3, 1, 0, 3, 2, 1, 0, 1, -1, -1, 3],
    }


def test_partial_gold(vocab):
    found = targets(*examples_of([partly_annotated(vocab)]))
    assert found["heads"] == [2, -1, 2, -1]
    assert found["labels"] == [1, -1, 2, -1]


def test_no_gold(vocab):
    """One sentence of unknown trees; whether sentences start is not known either."""
    doc = Doc(vocab, words=["Rain", "fell", "."])
    assert targets(example(["Rain", "fell", "."], doc)) == {
        "cuts": [[0, 1, 2]],
        "starts": [-1, -1, -1],
        "heads": [-1, -1, -1],
        "labels": [-1, -1, -1],
    }


def test_sentence_starts_without_trees(vocab):
    doc = Doc(vocab, words=["a", "b", "c"], sent_starts=[True, None, True])
    found = targets(example(["a", "b", "c"], doc))
    assert (found["cuts"], found["starts"]) == ([[0, 1], [2]], [-1, -1, 1])


def test_empty_docs(vocab):
    nothing = Example(Doc(vocab), Doc(vocab))
    assert targets(nothing) == {"cuts": [], "starts": [], "heads": [], "labels": []}
    found = targets(nothing, *examples_of(gold_docs(vocab)), nothing)
    assert found == targets(*examples_of(gold_docs(vocab)))


def test_blank_tokens_are_left_out(vocab):
    """The second sentence starts at its blank: then it starts at the next word."""
    gold = Doc(
        vocab,
        words=["Rain", " ", "fell", "\n", "Us", "\t"],
        heads=[2, 0, 2, 4, 4, 4],
        deps=["nsubj", "dep", "ROOT", "dep", "ROOT", "dep"],
    )
    assert gold[3].is_sent_start
    assert targets(example([t.text for t in gold], gold)) == {
        "cuts": [[0, 2], [4]],
        "starts": [-1, 0, 0, 1, 1, 0],
        "heads": [2, -1, 0, -1, 0, -1],
        "labels": [1, -1, 0, -1, 0, -1],
    }
    assert arc_labels(Example(bare(gold), gold)) == ({"ROOT"}, {"nsubj"})


def test_a_head_that_is_blank_is_unknown(vocab):
    gold = Doc(vocab, words=["Rain", " "], heads=[1, 1], deps=["nsubj", "ROOT"])
    found = targets(example(["Rain", " "], gold))
    assert (found["cuts"], found["heads"]) == ([[0]], [-1, -1])


def test_merged_tokens(vocab):
    """'cannot' is two gold words: no target; nor has 'swim', if it hung on one of them."""
    gold = Doc(vocab, words=["can", "not", "swim"], heads=[2, 2, 2], deps=["aux", "advmod", "ROOT"])
    found = targets(example(["cannot", "swim"], gold))
    assert (found["heads"], found["labels"]) == ([-1, 0], [-1, 0])
    assert found["cuts"] == [[0, 1]]


def test_split_tokens(vocab):
    """'cannot' is one gold word: neither half has a target, though spaCy gives both its label."""
    gold = Doc(vocab, words=["I", "cannot"], heads=[1, 1], deps=["nsubj", "ROOT"])
    found = targets(example(["I", "can", "not"], gold))
    assert (found["heads"], found["labels"]) == ([-1, -1, -1], [-1, -1, -1])


def test_heads_beyond_a_misaligned_token(vocab):
    gold = Doc(
        vocab,
        words=["I", "surely", "can", "not", "swim", "."],
        heads=[4, 4, 4, 4, 4, 4],
        deps=["nsubj", "advmod", "aux", "advmod", "ROOT", "punct"],
    )
    found = targets(example(["I", "surely", "cannot", "swim", "."], gold))
    assert found["heads"] == [4, 4, -1, 0, 4]
    assert found["labels"] == [1, 2, -1, 0, 3]
    assert found["starts"] == [-1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("predicted", "gold", "wanted"),
    [
        (["a", "b"], ["a", "b"], [0, 1]),
        (["ab"], ["a", "b"], [-1]),
        (["a", "b"], ["ab"], [-1, -1]),
        (["ab", "c", "d"], ["a", "b", "c", "d"], [-1, 2, 3]),
        (["a", "bc"], ["ab", "c"], [-1, -1]),
        (["a", " ", "b"], ["a", "b"], [0, -1, 1]),
        (["a", "b"], ["a", " ", "b"], [0, 2]),
        ([], [], []),
    ],
)
def test_partners(vocab, predicted, gold, wanted):
    eg = example(predicted, Doc(vocab, words=gold))
    assert partners(eg).tolist() == wanted
    words = [w for w, p in zip(predicted, wanted, strict=True) if p < 0 and not w.isspace()]
    assert misaligned(eg) == len(words)


def test_same_text_in_other_case_is_no_misalignment(vocab):
    eg = example(["The", "End"], Doc(vocab, words=["the", "end"]))
    assert partners(eg).tolist() == [0, 1]


def test_overlong_sentences_are_cut(vocab):
    """Arcs across the cut are left out; a start is nothing but the start of a gold sentence."""
    n = 7
    gold = Doc(vocab, words=["w"] * n, heads=[0] * n, deps=["ROOT"] + ["nsubj"] * (n - 1))
    found = targets(example(["w"] * n, gold), max_length=3)
    assert found["cuts"] == [[0, 1, 2], [3, 4], [5, 6]]
    assert found["heads"] == [0, 1, 1, -1, -1, -1, -1]
    assert found["starts"] == [-1, 0, 0, 0, 0, 0, 0]


def test_arcs_across_sentences_are_unknown(vocab):
    """Sentence starts of another source may cut an arc."""
    gold = gold_docs(vocab)[1]
    predicted = bare(gold)
    found = tree_targets([Example(predicted, gold)], LABELS, 2)
    heads = found.heads
    for cut in found.cuts:
        assert len(cut) <= 2
        assert (heads[cut] <= len(cut)).all()
    assert (heads >= 0).any()
    assert (heads == -1).any()


def test_words_of(vocab):
    docs = [
        Doc(vocab, words=["a", "\n", "b"]),
        Doc(vocab),
        Doc(vocab, words=[" "]),
        Doc(vocab, words=["c"]),
    ]
    assert [w.tolist() for w in words_of(docs)] == [[0, 2], [], [], [4]]
    assert words_of([]) == []


def test_arc_labels(vocab):
    roots, inner = zip(*map(arc_labels, examples_of(gold_docs(vocab))), strict=True)
    assert roots == ({"ROOT"}, {"ROOT"})
    assert inner[1] == {"advmod", "nsubj", "acl:relcl", "obj", "punct"}
    doc = Doc(vocab, words=["a", "b"])
    assert arc_labels(Example(bare(doc), doc)) == (set(), set())
