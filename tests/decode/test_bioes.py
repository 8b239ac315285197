"""Tags to spans and back, against every sequence of a few tokens."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_biaffine.decode.bioes import bioes_labels, bioes_of_biluo, spans_of_tags, tags_of_spans

TAGS = sorted(bioes_labels(["X", "Y"]))


def test_labels():
    assert sorted(bioes_labels(["X"])) == ["B-X", "E-X", "I-X", "O", "S-X"]
    assert bioes_labels([]) == {"O"}


@pytest.mark.parametrize(
    ("biluo", "bioes"), [("B-X", "B-X"), ("L-a-b", "E-a-b"), ("U-X", "S-X"), ("O", "O")]
)
def test_from_biluo(biluo, bioes):
    assert bioes_of_biluo(biluo) == bioes


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("", []),
        ("O O", []),
        ("B-X I-X E-X S-Y", [(0, 3, "X"), (3, 4, "Y")]),
        ("I-X I-X", [(0, 2, "X")]),
        ("B-X I-Y", [(0, 1, "X"), (1, 2, "Y")]),
        ("E-X E-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X O E-X", [(0, 1, "X"), (2, 3, "X")]),
        ("B-X B-X", [(0, 1, "X"), (1, 2, "X")]),
        ("B-X S-X I-X", [(0, 1, "X"), (1, 2, "X"), (2, 3, "X")]),
        ("B-a-b E-a-b", [(0, 2, "a-b")]),
    ],
)
def test_spans(tags, spans):
    assert spans_of_tags(tags.split()) == spans


def test_any_sequence_gives_well_formed_spans():
    for length in range(4):
        for tags in product(TAGS, repeat=length):
            spans = spans_of_tags(tags)
            assert all(0 <= start < end <= length and kind for start, end, kind in spans)
            assert all(before[1] <= after[0] for before, after in pairwise(spans))
            inside = {i for start, end, _ in spans for i in range(start, end)}
            assert inside == {i for i, tag in enumerate(tags) if tag != "O"}


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2), st.sampled_from(["X", "Y"]))))
def test_there_and_back(pieces):
    spans, at = [], 0
    for length, gap, kind in pieces:
        spans.append((at + gap, at + gap + length, kind))
        at += gap + length
    assert spans_of_tags(tags_of_spans(spans, at + 1)) == spans


def test_overlapping_spans_are_refused():
    with pytest.raises(ValueError, match="overlaps"):
        tags_of_spans([(0, 2, "X"), (1, 3, "Y")], 3)
