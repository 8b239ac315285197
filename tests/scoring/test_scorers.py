"""Scores counted by hand."""

import pytest
import spacy
from factories import bare
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_biaffine.scoring.trees import make_parser_scorer, score_parser

WORDS = ["Letters", "came", "to", "us", "."]
HEADS = [1, 1, 3, 1, 1]
DEPS = ["nsubj:pass", "ROOT", "case", "obl", "punct"]


@pytest.fixture
def vocab() -> Vocab:
    # A Vocab() of its own knows no blanks.
    return spacy.blank("xx").vocab


def pair(vocab: Vocab, heads=HEADS, deps=DEPS, words=WORDS) -> Example:
    """A gold Doc, and a predicted one with these heads and labels."""
    gold = Doc(vocab, words=WORDS, heads=HEADS, deps=DEPS)
    return Example(Doc(vocab, words=words, heads=heads, deps=deps), gold)


def test_perfect(vocab):
    scores = score_parser([pair(vocab), pair(vocab)])
    per_type = scores.pop("dep_las_per_type")
    assert set(scores.values()) == {1.0}
    assert set(per_type) == {dep.lower() for dep in DEPS}
    assert {v for prf in per_type.values() for v in prf.values()} == {1.0}


def test_by_hand(vocab):
    """Heads: 4 of 5 right, 3 of 4 without punctuation. Labels on right heads: 2, and 1 (and 3
    where only the part before the colon counts)."""
    found = score_parser([pair(vocab, [1, 1, 1, 1, 1], ["nsubj", "ROOT", "case", "obj", "punct"])])
    assert found["dep_uas"] == pytest.approx(4 / 5)
    assert found["dep_las"] == pytest.approx(2 / 5)
    assert found["dep_las_universal"] == pytest.approx(3 / 5)
    assert found["dep_uas_nopunct"] == pytest.approx(3 / 4)
    assert found["dep_las_nopunct"] == pytest.approx(1 / 4)
    assert (found["sents_p"], found["sents_r"], found["sents_f"]) == (1.0, 1.0, 1.0)
    per_type = found["dep_las_per_type"]
    assert set(per_type) == {"nsubj", "nsubj:pass", "root", "case", "obj", "obl", "punct"}
    assert per_type["root"] == {"p": 1.0, "r": 1.0, "f": 1.0}
    # The label is right, the head is not.
    assert per_type["case"] == {"p": 0.0, "r": 0.0, "f": 0.0}
    assert per_type["nsubj"] == per_type["nsubj:pass"] == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_per_type_by_hand(vocab):
    """obl: predicted three times, once rightly; gold has one."""
    examples = [
        pair(vocab, HEADS, ["obl", "ROOT", "obl", "obl", "punct"]),
        pair(vocab, HEADS, ["nsubj:pass", "ROOT", "case", "obj", "punct"]),
    ]
    obl = score_parser(examples)["dep_las_per_type"]["obl"]
    assert obl == {"p": pytest.approx(1 / 3), "r": pytest.approx(1 / 2), "f": pytest.approx(0.4)}


def test_punctuation_is_told_by_the_gold_label(vocab):
    found = score_parser([pair(vocab, HEADS, ["punct", "ROOT", "case", "obl", "dep"])])
    assert found["dep_las_nopunct"] == pytest.approx(3 / 4)
    assert found["dep_las"] == pytest.approx(3 / 5)


def test_labels_are_lower_cased(vocab):
    """spaCy's parser calls every root ROOT, whatever the corpus says."""
    predicted = [dep.lower() for dep in DEPS]
    found = score_parser([pair(vocab, deps=predicted)])
    assert found["dep_las"] == found["dep_las_universal"] == 1.0
    assert found["dep_las_per_type"]["root"] == {"p": 1.0, "r": 1.0, "f": 1.0}


def test_a_root_is_not_a_dependent(vocab):
    """The root's head is the root, whatever its place."""
    found = score_parser([pair(vocab, [0, 0, 3, 1, 1], ["ROOT", "obj", "case", "obl", "punct"])])
    assert found["dep_uas"] == pytest.approx(3 / 5)


def test_two_roots_split_a_sentence(vocab):
    found = score_parser([pair(vocab, [1, 1, 2, 2, 2], ["nsubj:pass", "ROOT", "ROOT", "x", "y"])])
    assert (found["sents_p"], found["sents_r"], found["sents_f"]) == (0.0, 0.0, 0.0)
    assert found["dep_uas"] == pytest.approx(2 / 5)


def test_merged_token(vocab):
    """'tous' is no gold word: precision over 4 words, recall over 5."""
    words = ["Letters", "came", "tous", "."]
    found = score_parser([pair(vocab, [1, 1, 1, 1], ["nsubj:pass", "ROOT", "obl", "punct"], words)])
    assert found["dep_uas"] == pytest.approx(2 * 3 / (4 + 5))
    assert found["dep_las"] == pytest.approx(2 * 3 / (4 + 5))
    assert found["dep_las_per_type"]["case"] == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_split_token(vocab):
    """'us' comes in two: precision over 6 words, recall over 5; its dependent is wrong too."""
    words = ["Letters", "came", "to", "u", "s", "."]
    deps = ["nsubj:pass", "ROOT", "case", "obl", "obl", "punct"]
    found = score_parser([pair(vocab, [1, 1, 3, 1, 1, 1], deps, words)])
    assert found["dep_uas"] == pytest.approx(2 * 3 / (6 + 5))


def test_blank_tokens_do_not_count(vocab):
    words = ["Letters", " ", "came", "to", "us", ".", "\n"]
    deps = ["nsubj:pass", "dep", "ROOT", "case", "obl", "punct", "dep"]
    found = score_parser([pair(vocab, [2, 0, 2, 4, 2, 2, 5], deps, words)])
    assert found["dep_uas"] == found["dep_las"] == 1.0
    assert "dep" not in found["dep_las_per_type"]


def test_words_without_gold_label_do_not_count(vocab):
    gold = Doc(vocab, words=WORDS, heads=[1, 1, None, 1, 1], deps=["nsubj", "ROOT", "", "x", "y"])
    predicted = Doc(vocab, words=WORDS, heads=HEADS, deps=["nsubj", "ROOT", "case", "x", "wrong"])
    found = score_parser([Example(predicted, gold)])
    assert found["dep_uas"] == 1.0
    assert found["dep_las"] == pytest.approx(3 / 4)
    assert "case" not in found["dep_las_per_type"]


def test_docs_without_gold_do_not_count(vocab):
    """Not even where their tokens differ."""
    unannotated = Doc(vocab, words=["Let", "ters", "came", "in"])
    predicted = Doc(vocab, words=["Letters", "came", "i", "n"], heads=[1, 1, 1, 1], deps=["x"] * 4)
    alone = score_parser([Example(predicted, unannotated)])
    assert set(alone.values()) == {None}
    both = score_parser([pair(vocab), Example(predicted, unannotated)])
    assert both["dep_uas"] == both["dep_las"] == both["sents_f"] == 1.0
    assert "x" not in both["dep_las_per_type"]


def test_none_on_nothing(vocab):
    empty = Example(Doc(vocab), Doc(vocab))
    one = Doc(vocab, words=["Us"])
    for examples in ([], [empty], [Example(bare(one), one)]):
        scores = score_parser(examples)
        assert len(scores) == 9
        assert set(scores.values()) == {None}
    assert score_parser([empty, pair(vocab)])["dep_las"] == 1.0


def test_nothing_predicted(vocab):
    """A parser that wrote nothing has no right arc; its words still count."""
    gold = Doc(vocab, words=WORDS, heads=HEADS, deps=DEPS)
    predicted = Doc(vocab, words=WORDS, sent_starts=[True] + [False] * 4)
    found = score_parser([Example(predicted, gold)])
    assert found["dep_las"] == 0.0


def test_vocabs_may_differ(vocab):
    other = spacy.blank("xx").vocab
    predicted = Doc(other, words=WORDS, heads=HEADS, deps=[*DEPS[:-1], "only-here"])
    gold = Doc(vocab, words=WORDS, heads=HEADS, deps=DEPS)
    found = score_parser([Example(predicted, gold)])
    assert found["dep_las"] == pytest.approx(4 / 5)
    assert "only-here" in found["dep_las_per_type"]


def test_agrees_with_spacys_scorer_without_punctuation(vocab):
    """Where tokens and the case of labels agree, up to what counts as a sentence."""
    examples = [
        pair(vocab, [1, 1, 1, 1, 3], ["nsubj:pass", "root", "case", "obl", "punct"]),
        pair(vocab, [1, 1, 3, 1, 1], ["obj", "root", "case", "obl", "punct"]),
    ]
    mine = score_parser(examples)
    theirs = Scorer.score_deps(
        examples, "dep", getter=lambda token, _: token.dep_, ignore_labels=("punct", "p")
    )
    assert mine["dep_uas_nopunct"] == pytest.approx(theirs["dep_uas"])
    assert mine["dep_uas_nopunct"] == pytest.approx(7 / 8)


def test_scorer_takes_what_spacy_hands_it(vocab):
    scorer = make_parser_scorer()
    assert scorer([pair(vocab)], nlp=None, whatever=3)["dep_uas"] == 1.0


def test_examples_may_be_an_iterator(vocab):
    assert score_parser(iter([pair(vocab)]))["sents_f"] == 1.0
