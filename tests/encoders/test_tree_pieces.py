"""Arcs between words as arcs between their pieces."""

import numpy as np
import pytest

from spacy_biaffine.encoders.tree_pieces import PieceReading, WordTree, piece_trees

pytest.importorskip("tokenizers", reason="tokenizers is not installed")

CLS, SEP, INNER = 100, 200, 9


class Letters:
    """Every letter is a piece."""

    def encode(self, words, **_):
        ids = [ord(letter) - ord("a") for word in words for letter in word if letter.isalpha()]
        owners = [n for n, word in enumerate(words) for letter in word if letter.isalpha()]
        return type("Encoding", (), {"ids": ids, "word_ids": owners})


def read(words, heads, *, size=20, stride=15, inner=INNER):
    reading = PieceReading([CLS], [SEP], size, stride, inner)
    tree = WordTree(np.array(heads), np.arange(len(words)) + 1, np.arange(len(words)) + 50)
    numbers = np.arange(len(words)) * 10
    return piece_trees(Letters(), words, numbers, tree, reading)


def test_first_pieces_bear_the_arcs():
    """cd -> b, with the arc of d to c; the special pieces have neither arcs nor tags."""
    (window,) = read(["b", "cd", "e"], [-1, 0, 1])
    assert window.pieces.tolist() == [CLS, 1, 2, 3, 4, SEP]
    assert window.heads.tolist() == [-1, -1, 1, 2, 2, -1]
    assert window.labels.tolist()[2:5] == [2, INNER, 3]
    assert window.tags.tolist() == [0, 50, 51, 51, 52, 0]
    assert window.owners.tolist() == [-1, 0, 10, -1, 20, -1]


def test_further_pieces_copy_the_arc():
    (window,) = read(["b", "cd", "efg"], [-1, 0, 1], inner=None)
    assert window.heads.tolist() == [-1, -1, 1, 1, 2, 2, 2, -1]
    assert window.labels.tolist()[2:7] == [2, 2, 3, 3, 3]


def test_roots_of_several_pieces():
    (window,) = read(["ab"], [-1], inner=None)
    assert window.heads.tolist() == [-1, -1, -1, -1]
    (window,) = read(["ab"], [-1])
    assert window.heads.tolist() == [-1, -1, 1, -1]


@pytest.mark.parametrize("inner", [INNER, None])
def test_words_without_pieces_bear_no_arcs(inner):
    """Neither as dependent nor as head, at the beginning, in the middle, at the end."""
    (window,) = read(["1", "b", "2", "c", "3"], [1, 2, 1, 1, 2], inner=inner)
    assert window.pieces.tolist() == [CLS, 1, 2, SEP]
    assert window.heads.tolist() == [-1, -1, 1, -1]
    assert window.owners.tolist() == [-1, 10, 30, -1]
    assert read(["1", "2"], [-1, 0], inner=inner) == []


def test_heads_outside_of_the_window_are_left_out():
    """Each word belongs to one window; what both windows have is in both."""
    first, second = read(list("abcdef"), [-1, 0, 1, 2, 3, 0], size=4, stride=2)
    assert first.pieces.tolist() == [CLS, 0, 1, 2, 3, SEP]
    assert first.heads.tolist() == [-1, -1, 1, 2, 3, -1]
    assert second.pieces.tolist() == [CLS, 2, 3, 4, 5, SEP]
    assert second.heads.tolist() == [-1, -1, 1, 2, -1, -1]
    owners = [*first.owners, *second.owners]
    assert sorted(owner for owner in owners if owner >= 0) == [0, 10, 20, 30, 40, 50]
