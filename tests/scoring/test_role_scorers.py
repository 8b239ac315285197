"""Scores of frames counted by hand."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import registry

from spacy_biaffine.doc.graphs import Frame, Role, set_frames
from spacy_biaffine.scoring.roles import score_roles

WORDS = ["She", "wrote", "old", "songs", "down", ",", "which", "fell", "today"]

# Predicate pieces, sense, and roles: label, spans.
WROTE = ([(1, 2), (4, 5)], "write.02", [("A0", (0, 1)), ("A1", (2, 4), (6, 7))])
FELL = ([(7, 8)], "fall.01", [("A1", (2, 4)), ("R-A1", (6, 7)), ("AM", (8, 9))])
GOLD = [WROTE, FELL]


@pytest.fixture
def vocab():
    return spacy.blank("en").vocab


def doc_of(vocab, frames, words=WORDS, spaces=None) -> Doc:
    """A Doc with frames; None for one that is not annotated."""
    doc = Doc(vocab, words=words, spaces=spaces)
    if frames is not None:
        set_frames(doc, [_frame(doc, *frame) for frame in frames])
    return doc


def _frame(doc, predicate, sense, roles) -> Frame:
    def spans(those):
        return tuple(doc[start:end] for start, end in those)

    return Frame(spans(predicate), sense, tuple(Role(label, spans(s)) for label, *s in roles))


def pair(vocab, predicted, gold=GOLD, words=WORDS) -> Example:
    return Example(doc_of(vocab, predicted, words), doc_of(vocab, gold))


def prf(scores, name: str) -> tuple[float, float, float]:
    return tuple(scores[f"{name}_{letter}"] for letter in "prf")


def approximately(p, r, f):
    return pytest.approx((p, r, f))


def test_perfect(vocab):
    scores = score_roles([pair(vocab, GOLD), pair(vocab, GOLD[::-1])])
    assert set(scores.pop("roles_per_type")) == {"A0", "A1", "AM", "R-A1", "V"}
    assert set(scores) == {
        *(f"{n}_{x}" for n in ("predicates", "roles", "role_words", "semantic") for x in "prf"),
        "senses_acc",
    }
    assert set(scores.values()) == {1.0}


def test_by_hand(vocab):
    """Gold has 2 predicates, 5 arguments, 6 pieces of arguments, 2 senses. Predicted are 2 + 1
    predicates. Of the 5 predicted arguments 2 are right (A0, R-A1): A1 lacks its second piece, AM
    is A2, the fifth has a wrong predicate. A1's first piece is right by itself: 3 of 5 pieces. One
    of the two senses is right, the third belongs to the wrong predicate."""
    predicted = [
        ([(1, 2)], "write.02", [("A0", (0, 1)), ("A1", (2, 4))]),
        ([(7, 8)], "fall.02", [("R-A1", (6, 7)), ("A2", (8, 9))]),
        ([(3, 4)], "song.01", [("A1", (2, 3))]),
    ]
    scores = score_roles([pair(vocab, predicted)])
    assert prf(scores, "predicates") == approximately(2 / 3, 1, 0.8)
    assert prf(scores, "roles") == approximately(2 / 5, 2 / 5, 2 / 5)
    assert prf(scores, "role_words") == approximately(3 / 5, 3 / 6, 6 / 11)
    assert prf(scores, "semantic") == approximately(4 / 8, 4 / 8, 4 / 8)
    assert scores["senses_acc"] == pytest.approx(1 / 2)
    per_type = scores["roles_per_type"]
    assert list(per_type) == ["A0", "A1", "A2", "AM", "R-A1", "V"]
    assert per_type["A0"] == per_type["R-A1"] == pytest.approx({"p": 1, "r": 1, "f": 1})
    assert {label for label, each in per_type.items() if each["f"] == 0} == {"A1", "A2", "AM"}


def test_per_type_by_hand(vocab):
    """A1: of 2 in gold and 3 predicted, 1 is right."""
    predicted = [
        ([(1, 2)], None, [("A1", (2, 4))]),
        ([(7, 8)], None, [("A1", (2, 4)), ("A1", (8, 9))]),
    ]
    scores = score_roles([pair(vocab, predicted)])["roles_per_type"]
    assert scores["A1"] == pytest.approx({"p": 1 / 3, "r": 1 / 2, "f": 2 / 5})


def test_an_argument_in_pieces_is_one(vocab):
    """In two pieces as in gold it counts once; as two arguments both are wrong, but each piece is
    a word for itself, and only the label of the second is wrong."""
    gold = [([(1, 2)], None, [("A1", (2, 4), (6, 7))])]
    joined = score_roles([pair(vocab, gold, gold)])
    assert prf(joined, "roles") == approximately(1, 1, 1)
    apart = [([(1, 2)], None, [("A1", (6, 7)), ("A1", (2, 4))])]
    scores = score_roles([pair(vocab, apart, gold)])
    assert prf(scores, "roles") == approximately(0, 0, 0)
    assert prf(scores, "role_words") == approximately(1 / 2, 1 / 2, 1 / 2)
    backwards = [([(1, 2)], None, [("A1", (6, 7), (2, 4))])]
    assert prf(score_roles([pair(vocab, backwards, gold)]), "roles") == approximately(1, 1, 1)


def test_a_piece_that_continues_nothing_is_an_argument(vocab):
    """The CoNLL-2005 scorer makes a regular one of it, that of CoNLL-2009 does not."""
    gold = [([(1, 2)], None, [("A1", (2, 4), (6, 7))])]
    predicted = [([(1, 2)], None, [("C-A1", (2, 4), (6, 7))])]
    scores = score_roles([pair(vocab, predicted, gold)])
    assert prf(scores, "roles") == approximately(1, 1, 1)
    assert list(scores["roles_per_type"]) == ["A1", "V"]
    assert prf(scores, "role_words") == approximately(1 / 2, 1 / 2, 1 / 2)


def test_the_same_argument_of_another_predicate_is_wrong(vocab):
    predicted = [([(7, 8)], "write.02", WROTE[2])]
    scores = score_roles([pair(vocab, predicted, [WROTE])])
    for name in ("predicates", "roles", "role_words", "semantic"):
        assert prf(scores, name) == approximately(0, 0, 0)
    assert scores["senses_acc"] == 0


def test_further_pieces_of_a_predicate_count_by_type_alone(vocab):
    predicted = [([(1, 2)], *WROTE[1:])]
    scores = score_roles([pair(vocab, predicted, [WROTE])])
    assert scores["semantic_f"] == scores["roles_f"] == 1
    assert scores["roles_per_type"]["V"]["f"] == 0
    scores = score_roles([pair(vocab, GOLD), pair(vocab, [*predicted, FELL])])
    assert scores["roles_per_type"]["V"]["f"] == pytest.approx(3 / 4)
    other = [([(4, 5), (1, 2)], *WROTE[1:])]
    assert score_roles([pair(vocab, other, [WROTE])])["semantic_f"] == 0


def test_two_predicates_on_a_token(vocab):
    """Each has to be found; of two equal arguments one is not enough."""
    gold = [([(1, 2)], f"write.0{n}", [("A0", (0, 1))]) for n in (1, 2)]
    scores = score_roles([pair(vocab, gold[1:], gold)])
    assert prf(scores, "predicates") == approximately(1, 1 / 2, 2 / 3)
    assert prf(scores, "roles") == approximately(1, 1 / 2, 2 / 3)
    assert prf(scores, "semantic") == approximately(1, 2 / 4, 2 / 3)
    assert scores["senses_acc"] == 1
    assert score_roles([pair(vocab, gold[::-1], gold)])["semantic_f"] == 1
    twice = score_roles([pair(vocab, [gold[0], gold[0]], gold)])
    assert twice["predicates_f"] == 1 and twice["senses_acc"] == pytest.approx(1 / 2)


def test_words_as_arguments(vocab):
    """Labelled dependencies: 2 of 3 predicted are right, of 3; and one of one sense."""
    gold = [([(7, 8)], "fall.01", [("A1", (3, 4)), ("R-A1", (6, 7)), ("AM", (8, 9))])]
    predicted = [([(7, 8)], "fall.01", [("A1", (3, 4)), ("R-A1", (7, 8)), ("AM", (8, 9))])]
    scores = score_roles([pair(vocab, predicted, gold)])
    assert prf(scores, "role_words") == prf(scores, "roles") == approximately(2 / 3, 2 / 3, 2 / 3)
    assert prf(scores, "semantic") == approximately(3 / 4, 3 / 4, 3 / 4)


def test_frames_of_words_have_scores_of_their_own(vocab):
    """Names that begin with word_; frames of spans play no part in them."""
    example = pair(vocab, GOLD, [FELL])
    for doc, frames in ((example.predicted, [FELL]), (example.reference, GOLD)):
        doc._.word_frames = [_frame(doc, *frame) for frame in frames]
    scores = score_roles([example], word_frames=True)
    assert prf(scores, "word_predicates") == approximately(1, 1 / 2, 2 / 3)
    assert prf(score_roles([example]), "predicates") == approximately(1 / 2, 1, 2 / 3)
    assert all(name.startswith("word_") for name in scores)


def test_senses_of_predicates_that_were_not_found_do_not_count(vocab):
    scores = score_roles([pair(vocab, [WROTE])])
    assert scores["senses_acc"] == 1
    assert prf(scores, "semantic") == approximately(1, 4 / 8, 2 / 3)


def test_without_senses(vocab):
    gold = [([(7, 8)], None, [("AM", (8, 9))])]
    predicted = [([(7, 8)], "fall.01", [("AM", (8, 9))])]
    assert score_roles([pair(vocab, gold, gold)])["senses_acc"] is None
    assert score_roles([pair(vocab, predicted, gold)])["senses_acc"] is None
    assert score_roles([pair(vocab, gold, predicted)])["senses_acc"] == 0


def test_other_tokens(vocab):
    """The words "songs down" are one token: the arguments that "songs" ends can't be found, but the
    other three are, and the second piece of the first one."""
    words = [*WORDS[:3], "songsdown", *WORDS[5:]]
    spaces = [True] * 3 + [False] * 1 + [True] * (len(words) - 4)
    gold_spaces = [True] * 3 + [False, False] + [True] * 4
    reference = doc_of(vocab, GOLD, WORDS, gold_spaces)
    predicted = doc_of(
        vocab,
        [
            ([(1, 2)], "write.02", [("A0", (0, 1)), ("A1", (2, 4), (5, 6))]),
            ([(6, 7)], "fall.01", [("A1", (2, 4)), ("R-A1", (5, 6)), ("AM", (7, 8))]),
        ],
        words,
        spaces,
    )
    scores = score_roles([Example(predicted, reference)])
    assert scores["predicates_f"] == scores["senses_acc"] == 1
    assert prf(scores, "roles") == approximately(3 / 5, 3 / 5, 3 / 5)
    assert prf(scores, "role_words") == approximately(4 / 6, 4 / 6, 4 / 6)


def test_blanks_do_not_count(vocab):
    words = ["\n", *WORDS]
    shifted = [
        (
            [(start + 1, end + 1) for start, end in predicate],
            sense,
            [(label, *((start + (start > 0), end + 1) for start, end in s)) for label, *s in roles],
        )
        for predicate, sense, roles in GOLD
    ]
    scores = score_roles([pair(vocab, shifted, words=words)])
    assert scores["semantic_f"] == scores["roles_f"] == 1


def test_docs_without_gold_do_not_count(vocab):
    alone = score_roles([pair(vocab, GOLD, None)])
    assert set(alone.values()) == {None}
    assert set(score_roles([]).values()) == {None}
    both = [pair(vocab, GOLD, None), pair(vocab, [WROTE])]
    assert score_roles(both) == score_roles(both[1:])


def test_no_predicates_in_gold(vocab):
    """An annotated Doc without any: whatever is predicted is wrong."""
    assert score_roles([pair(vocab, GOLD, [])])["predicates_p"] == 0
    scores = score_roles([pair(vocab, GOLD, []), pair(vocab, GOLD)])
    assert prf(scores, "predicates") == approximately(2 / 4, 1, 2 / 3)
    nothing = score_roles([pair(vocab, None, [])])
    assert nothing["roles_f"] == 0 and nothing["roles_per_type"] == {}


def test_it_is_registered():
    assert registry.scorers.get("spacy-biaffine.role_scorer.v1")() is score_roles
