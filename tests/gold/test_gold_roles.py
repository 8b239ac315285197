"""Targets of role labellers from Examples."""

import numpy as np
import pytest
import spacy
from factories import bare
from spacy.tokens import Doc
from spacy.training import Example

from spacy_biaffine.doc.graphs import Frame, Role, set_frames
from spacy_biaffine.gold.roles import gold_frames, role_labels, role_targets

WORDS = ["Songs", "fell", ".", "She", "wrote", "old", "songs", "down", "today"]
LABELS = {"A0": 0, "A1": 1, "C-A1": 2, "C-V": 3}


@pytest.fixture
def vocab():
    return spacy.blank("en").vocab


def role(doc: Doc, label: str, *spans: tuple[int, int]) -> Role:
    return Role(label, tuple(doc[start:end] for start, end in spans))


def gold_doc(vocab, words=WORDS) -> Doc:
    """Two sentences, three predicates; the last one, a noun, has an argument in the first."""
    doc = Doc(vocab, words=words, sent_starts=[i in (0, 3) for i in range(len(words))])
    frames = [
        Frame((doc[6:7],), None, (role(doc, "A1", (0, 1)), role(doc, "A0", (4, 5)))),
        Frame((doc[1:2],), "fall.01", (role(doc, "A1", (0, 1)),)),
        Frame(
            (doc[4:5], doc[7:8]),
            "write.02",
            (role(doc, "A1", (8, 9), (5, 7)), role(doc, "A0", (3, 4)), role(doc, "AM", (2, 3))),
        ),
    ]
    set_frames(doc, frames)
    return doc


def split(gold: Doc) -> Doc:
    """The same tokens with their sentences."""
    doc = bare(gold)
    for token in gold:
        doc[token.i].is_sent_start = token.is_sent_start
    return doc


def targets(*examples: Example, max_length: int = 99):
    return role_targets(examples, LABELS, max_length)


def cuts_of(found) -> list[list[int]]:
    return [cut.tolist() for cut in found.cuts]


def test_targets(vocab):
    gold = gold_doc(vocab)
    found = targets(Example(split(gold), gold))
    assert cuts_of(found) == [[0, 1, 2], [3, 4, 5, 6, 7, 8]]
    assert found.predicates.tolist() == [1, 4, 6]
    assert found.senses == ["fall.01", "write.02", None]
    # Labels that are not known, and what is outside of the sentence, are no targets.
    assert found.arguments.tolist() == [
        [0, 0, 1, LABELS["A1"]],
        [1, 3, 4, LABELS["A0"]],
        [1, 5, 7, LABELS["A1"]],
        [1, 7, 8, LABELS["C-V"]],
        [1, 8, 9, LABELS["C-A1"]],
        [2, 4, 5, LABELS["A0"]],
    ]
    assert found.known.all() and found.complete.all()


def test_tokens_are_counted_over_all_docs(vocab):
    gold = gold_doc(vocab)
    one = targets(Example(split(gold), gold))
    two = targets(*(Example(split(gold), gold) for _ in range(2)))
    n = len(gold)
    assert cuts_of(two) == [*cuts_of(one), *([t + n for t in cut] for cut in cuts_of(one))]
    assert two.predicates.tolist() == [*one.predicates, *(one.predicates + n)]
    assert two.arguments[6:].tolist() == (one.arguments + np.array([3, n, n, 0])).tolist()


def test_labels(vocab):
    gold = gold_doc(vocab)
    assert role_labels(Example(bare(gold), gold)) == {"A0", "A1", "C-A1", "AM", "C-V"}


def test_predicates_of_several_words(vocab):
    """What is behind the first word, and what is before it or further away, are pieces of it."""
    gold = Doc(vocab, words=["Down", "look", "out", "for", "it", "now", "on"])
    set_frames(gold, [Frame((gold[1:4], gold[6:7], gold[0:1]), None, (role(gold, "A1", (4, 5)),))])
    example = Example(bare(gold), gold)
    (frame,) = gold_frames(example)
    assert (frame.predicate, frame.further) == (1, [(0, 1), (2, 4), (6, 7)])
    further = [a[1:3] for a in targets(example).arguments.tolist() if a[3] == LABELS["C-V"]]
    assert further == [[0, 1], [2, 4], [6, 7]]
    other = Doc(vocab, words=["Down", "look", "outfor", "itnow", "on"])
    words = Doc(
        vocab, words=[t.text for t in gold], spaces=[True, True, False, True, False, True, False]
    )
    set_frames(words, [_moved(frame, words) for frame in gold._.frames])
    found = targets(Example(other, words))
    assert [a[1:3] for a in found.arguments.tolist()] == [[0, 1], [2, 3], [4, 5]]
    assert found.complete.tolist() == [False]


def test_frames_of_words_are_apart(vocab):
    gold = gold_doc(vocab)
    unknown = role_targets([Example(bare(gold), gold)], LABELS, 99, "word_frames")
    assert not unknown.known.any()
    frame = Frame((gold[1:2],), "fall.01", (role(gold, "A0", (0, 1)),))
    gold._.word_frames = [frame]
    assert gold._.word_frames == [frame] and len(gold._.frames) == 3
    example = Example(split(gold), gold)
    found = role_targets([example], LABELS, 99, "word_frames")
    assert found.arguments.tolist() == [[0, 0, 1, LABELS["A0"]]] and found.known.all()
    assert role_labels(example, "word_frames") == {"A0"}
    assert len(gold_frames(example)) == 3


def test_sentences_are_those_of_the_predicted_doc(vocab):
    gold = gold_doc(vocab)
    found = targets(Example(bare(gold), gold))
    assert cuts_of(found) == [list(range(9))]
    assert [2, 0, 1, LABELS["A1"]] in found.arguments.tolist()


def test_long_sentences_are_cut(vocab):
    gold = gold_doc(vocab)
    found = targets(Example(split(gold), gold), max_length=3)
    assert cuts_of(found) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    # "old songs" is in two parts.
    assert found.arguments.tolist() == [[0, 0, 1, 1], [1, 3, 4, 0]]
    assert found.complete.all()


def test_split_and_merged_tokens(vocab):
    """The words "wrote" and "songs down", of which neither predicate is one token any more, nor is
    the end of "old songs"; "fell" stays."""
    gold = gold_doc(vocab)
    words = ["Songs", "fell", ".", "She", "wro", "te", "old", "songsdown", "today"]
    spaces = [True, True, True, True, False, True, True, True, False]
    gold_spaces = [True] * 6 + [False, True, False]
    reference = Doc(
        vocab, words=WORDS, spaces=gold_spaces, sent_starts=[t.is_sent_start for t in gold]
    )
    set_frames(reference, [_moved(frame, reference) for frame in gold._.frames])
    example = Example(Doc(vocab, words=words, spaces=spaces), reference)
    found = targets(example)
    assert found.predicates.tolist() == [1]
    assert found.arguments.tolist() == [[0, 0, 1, LABELS["A1"]]]
    assert np.flatnonzero(~found.known).tolist() == [4, 5, 7]
    assert [frame.predicate for frame in gold_frames(example)] == [-1, 1, -1]
    assert gold_frames(example)[2].roles[0] == ("A1", [(-1, -1), (8, 9)])
    assert gold_frames(example)[0].roles[1] == ("A0", [(4, 6)])


def _moved(frame: Frame, doc: Doc) -> Frame:
    def spans(those):
        return tuple(doc[span.start : span.end] for span in those)

    roles = tuple(r._replace(spans=spans(r.spans)) for r in frame.roles)
    return frame._replace(predicate=spans(frame.predicate), roles=roles)


def test_an_argument_that_no_tokens_are(vocab):
    """Its predicate is a target, but not all of its arguments are known."""
    gold = Doc(vocab, words=["Songs", "fell", "to", "day"], spaces=[True, True, False, False])
    set_frames(
        gold, [Frame((gold[1:2],), None, (role(gold, "A0", (0, 1)), role(gold, "A1", (3, 4))))]
    )
    found = targets(Example(Doc(vocab, words=["Songs", "fell", "today"]), gold))
    assert found.predicates.tolist() == [1] and found.complete.tolist() == [False]
    assert found.arguments.tolist() == [[0, 0, 1, LABELS["A0"]]]
    assert found.known.all()


def test_an_argument_made_of_other_tokens(vocab):
    """Edges that agree are enough."""
    gold = Doc(vocab, words=["To", "day", "she", "fell"], spaces=[False, True, True, False])
    set_frames(gold, [Frame((gold[3:4],), None, (role(gold, "A1", (0, 2)),))])
    found = targets(Example(Doc(vocab, words=["Today", "she", "fell"]), gold))
    assert found.arguments.tolist() == [[0, 0, 1, LABELS["A1"]]] and found.complete.all()


def test_blanks_are_in_no_sentence_and_at_no_edge(vocab):
    gold = Doc(vocab, words=["Old", "songs", "fell"])
    set_frames(gold, [Frame((gold[2:3],), None, (role(gold, "A1", (0, 2)),))])
    predicted = Doc(vocab, words=["\n", "Old", "\n", "songs", "\n", "fell"], spaces=[False] * 6)
    reference = Doc(vocab, words=["Old", "songs", "fell"])
    set_frames(reference, [_moved(frame, reference) for frame in gold._.frames])
    found = targets(Example(predicted, reference))
    assert cuts_of(found) == [[1, 3, 5]]
    assert found.arguments.tolist() == [[0, 1, 4, LABELS["A1"]]]
    blank = Doc(vocab, words=["\n", "Songs", " ", "fell"])
    frame = Frame((blank[3:4],), None, (role(blank, "A1", (0, 3)), role(blank, "A0", (2, 3))))
    set_frames(blank, [frame, Frame((blank[2:3],), None, ())])
    found = targets(Example(bare(blank), blank))
    assert found.predicates.tolist() == [3]
    assert found.arguments.tolist() == [[0, 1, 2, LABELS["A1"]]]


def test_two_predicates_on_a_token(vocab):
    gold = Doc(vocab, words=["Songs", "fell"])
    frames = [Frame((gold[1:2],), f"fall.0{n}", (role(gold, f"A{n}", (0, 1)),)) for n in (1, 0)]
    set_frames(gold, frames)
    found = targets(Example(bare(gold), gold))
    assert found.predicates.tolist() == [1] and found.senses == ["fall.01"]
    assert found.arguments.tolist() == [[0, 0, 1, LABELS["A1"]]]


def test_no_predicates_is_not_no_annotation(vocab):
    unknown = Doc(vocab, words=["Why", "?"])
    none = Doc(vocab, words=["Why", "not", "?"])
    set_frames(none, [])
    found = targets(*(Example(bare(doc), doc) for doc in (unknown, none, Doc(vocab))))
    assert found.known.tolist() == [False, False, True, True, True]
    assert not len(found.predicates) and found.arguments.shape == (0, 4)
    assert cuts_of(found) == [[0, 1], [2, 3, 4]]
