"""The enhanced graph (column DEPS) of a Doc that comes from CoNLL-U."""

from dataclasses import dataclass

from spacy.tokens import Doc

from .check import split_deps
from .kept import KeptSentence, kept_sentences

ROOT = -1


@dataclass(frozen=True)
class EnhancedEdge:
    """head: token index in the Doc, or ROOT (-1). dependent: token index. label: as written."""

    head: int
    dependent: int
    label: str


@dataclass(frozen=True)
class EnhancedGraph:
    """Edges between words, by dependent, and the number of edges left out since one of their ends
    is an empty node.
    """

    edges: list[EnhancedEdge]
    at_empty_nodes: int


def enhanced_edges(doc: Doc) -> EnhancedGraph:
    """Edges of DEPS. Head and label part at the first colon: ``5:nmod:of`` has label ``nmod:of``.

    Raises ValueError naming the sentence, where a cell of DEPS is malformed.
    """
    edges: list[EnhancedEdge] = []
    at_empty_nodes = 0
    for sentence in kept_sentences(doc):
        if "deps" in sentence.data:
            for word, cell in enumerate(sentence.cells("deps")):
                found, left_out = _edges_of(sentence, word, cell)
                edges += found
                at_empty_nodes += left_out
        for _, line in sentence.others():
            cells = line.split("\t")
            if "." in cells[0] and line[0] != "#" and cells[8] != "_":
                at_empty_nodes += cells[8].count("|") + 1
    return EnhancedGraph(edges, at_empty_nodes)


def deps_of(sentence: KeptSentence, node: str, cell: str) -> list[tuple[str, str]]:
    """Heads ("5", "5.1", "0" for the root) and labels in a cell of DEPS.

    Raises ValueError naming the sentence and the node where the cell is malformed.
    """
    try:
        return split_deps(cell, sentence.end - sentence.start)
    except ValueError as error:
        raise ValueError(f"{node}: {error} ({sentence.named})") from error


def _edges_of(sentence: KeptSentence, word: int, cell: str) -> tuple[list[EnhancedEdge], int]:
    pairs = deps_of(sentence, f"word {word + 1}", cell)
    start = sentence.start
    edges = [
        EnhancedEdge(start + int(head) - 1 if head != "0" else ROOT, start + word, label)
        for head, label in pairs
        if "." not in head
    ]
    return edges, len(pairs) - len(edges)
