"""Arguments in several pieces."""

from spacy_biaffine.decode.pieces import join_pieces, labels_of_pieces


def test_labels():
    assert labels_of_pieces("A1", 3) == ["A1", "C-A1", "C-A1"]
    assert labels_of_pieces("A1", 1) == ["A1"]
    assert labels_of_pieces("C-A1", 2) == ["C-A1", "C-A1"]


def test_a_piece_continues_the_last_of_its_label():
    pieces = [("A1", 0), ("AM", 1), ("A1", 2), ("C-A1", 3), ("AM", 4), ("C-A1", 5)]
    assert join_pieces(pieces) == [("A1", [0]), ("AM", [1]), ("A1", [2, 3, 5]), ("AM", [4])]


def test_a_piece_that_continues_nothing_begins_an_argument():
    """As the CoNLL-2005 scorer reads it, further pieces go there until there is an A1."""
    pieces = [("C-A1", 0), ("C-A1", 1), ("A1", 2), ("C-A1", 3)]
    assert join_pieces(pieces) == [("C-A1", [0, 1]), ("A1", [2, 3])]


def test_references_are_labels_of_their_own():
    assert join_pieces([("A0", 0), ("R-A0", 1), ("C-R-A0", 2)]) == [
        ("A0", [0]),
        ("R-A0", [1, 2]),
    ]
