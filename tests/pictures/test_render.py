"""Pictures of relations, dependency graphs and frames."""

import re
from xml.etree import ElementTree

import pytest
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import (
    Arc,
    Frame,
    Relation,
    Role,
    set_arcs,
    set_frames,
    set_relations,
)
from spacy_biaffine.pictures.displacy import dep_graph_svg, frames_svg, relations_svg
from spacy_biaffine.pictures.pages import Drawn, page

VOCAB = Vocab()
WORDS = ["Port", "of", "<Oslo>", "hosts", "old", "ferries", ".", "It", "sleeps", "."]


def make(*, sents: bool = True) -> Doc:
    doc = Doc(VOCAB, words=WORDS)
    if sents:
        for token in doc:
            token.is_sent_start = token.i in (0, 7)
    return doc


def texts(svg: str, name: str) -> list[str]:
    return [
        "".join(node.itertext())
        for node in ElementTree.fromstring(svg).iter()
        if node.get("class") == f"displacy-{name}"
    ]


def drawn(svg: str) -> list[tuple[str, str, str]]:
    """From, label, to of each arc."""
    words = texts(svg, "word")
    centres = [float(x) for x in re.findall(r'class="displacy-word".*? x="([\d.]+)"', svg)]
    arcs = re.findall(r'class="displacy-arc".*? d="M([\d.]+),.* ([\d.]+),[\d.]+"', svg)
    heads = re.findall(r'class="displacy-arrowhead" d="M([\d.]+),', svg)
    found = []
    for (start, end), head, label in zip(arcs, heads, texts(svg, "label"), strict=True):
        places = [
            min(range(len(words)), key=lambda i: abs(centres[i] - x))
            for x in map(float, (start, end))
        ]
        low, high = (words[place] for place in places)
        found.append((high, label, low) if head == start else (low, label, high))
    return found


def test_relations():
    doc = make()
    port, oslo, ferries = Span(doc, 0, 3, "ORG"), Span(doc, 2, 3, "A&B"), Span(doc, 4, 6, "SHIP")
    set_relations(
        doc,
        [
            Relation(port, ferries, "<hosts>"),
            Relation(oslo, port, "in"),
            Relation(ferries, Span(doc, 7, 8, "IT"), "across"),
        ],
    )
    (svg,) = relations_svg(doc)
    assert texts(svg, "word") == ["Port", "of", "<Oslo>", "hosts", "old ferries", "."]
    assert texts(svg, "tag") == ["", "", "ORG / A&B", "", "SHIP", ""]
    assert drawn(svg) == [("<Oslo>", "<hosts>", "old ferries"), ("<Oslo>", "in", "Port")]


def test_entities_with_the_same_tokens():
    doc = make(sents=False)
    set_relations(doc, [Relation(Span(doc, 0, 3, "ORG"), Span(doc, 0, 3, "LOC"), "same")])
    (svg,) = relations_svg(doc)
    assert texts(svg, "word")[0] == "Port of <Oslo>"
    assert texts(svg, "tag")[0] == "ORG / LOC"
    assert drawn(svg) == []


def test_dep_graph():
    doc = make()
    set_arcs(
        doc,
        [
            Arc(None, doc[3], "root"),
            Arc(None, doc[3], "top"),
            Arc(doc[3], doc[2], "ARG1"),
            Arc(doc[3], doc[5], "ARG2"),
            Arc(doc[4], doc[5], "ARG1"),
            Arc(doc[5], doc[5], "self"),
            Arc(doc[8], doc[5], "across"),
            Arc(doc[8], doc[7], "ARG1"),
        ],
    )
    first, second = dep_graph_svg(doc)
    assert texts(first, "word") == WORDS[:7]
    assert texts(first, "tag") == ["", "", "", "root / top", "", "", ""]
    assert drawn(first) == [
        ("hosts", "ARG1", "<Oslo>"),
        ("hosts", "ARG2", "ferries"),
        ("old", "ARG1", "ferries"),
    ]
    assert drawn(second) == [("sleeps", "ARG1", "It")]


def test_frames():
    doc = make()
    set_frames(
        doc,
        [
            Frame((doc[3:4], doc[6:7]), "host.01", (Role("A0", (doc[0:3], doc[4:6])),)),
            Frame((doc[4:5],), None, (Role("A1", (doc[4:6],)),)),
            Frame((doc[8:9],), None, (Role("A0", (doc[7:8],)), Role("A1", (doc[0:3],)))),
        ],
    )
    split, nested, late = frames_svg(doc)
    assert texts(split, "word") == ["Port of <Oslo>", "hosts", "old ferries", "."]
    assert texts(split, "tag") == ["", "host.01", "", ""]
    assert drawn(split) == [
        ("hosts", "C-V", "."),
        ("hosts", "A0", "Port of <Oslo>"),
        ("hosts", "C-A0", "old ferries"),
    ]
    assert drawn(nested) == [("old", "A1", "ferries")]
    assert drawn(late) == [("sleeps", "A0", "It")]


def test_long_roles_are_shortened_and_have_room():
    doc = make(sents=False)
    set_frames(doc, [Frame((doc[8:9],), None, (Role("A1", (doc[0:7],)),))])
    (svg,) = frames_svg(doc)
    assert texts(svg, "word")[0] == "Port of … ."
    doc = Doc(VOCAB, words=["奥斯陆" * 10, "睡"])
    set_frames(doc, [Frame((doc[1:2],), None, (Role("A0", (doc[0:1],)),))])
    (svg,) = frames_svg(doc)
    centre = float(re.search(r'class="displacy-word".*? x="([\d.]+)"', svg)[1])
    assert centre >= 30 * 20 / 2


@pytest.mark.parametrize("doc", [Doc(VOCAB), make(), make(sents=False)])
def test_nothing(doc):
    assert relations_svg(doc) == dep_graph_svg(doc) == frames_svg(doc) == []
    assert "<figure" not in page([])


def test_page():
    doc = make(sents=False)
    set_arcs(doc, [Arc(doc[0], doc[1], "x")])
    html = page(Drawn(1, doc.text, "x", svg) for svg in dep_graph_svg(doc) * 2)
    assert html.lstrip().startswith("<!DOCTYPE html>")
    assert html.count("<svg") == 2
