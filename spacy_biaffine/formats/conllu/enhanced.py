"""Enhanced dependencies: column DEPS, as CoNLL-U readers keep it on a Doc -> doc._.dep_graph."""

from collections import Counter
from collections.abc import Iterator

from spacy.tokens import Doc

from ...doc.graphs import Arc, set_arcs
from .deps import deps_of
from .kept import KeptSentence, kept_sentences

MOST_STEPS = 10_000
"""From a word over empty nodes to other words; treebanks need a handful."""

Heads = dict[str, list[tuple[str, str]]]
"""Heads and labels of each word ("5") and empty node ("5.1") of a sentence."""


def set_enhanced(doc: Doc) -> Counter[str]:
    """Write the enhanced graph to doc._.dep_graph, if it is known; empty nodes are collapsed.

    It is unknown where all words of a sentence have DEPS ``_``: a Doc with such a sentence gets no
    graph, and is then not trained on or scored. A single ``_`` beside filled DEPS is no arc.

    A path from a word over empty nodes to another word becomes an arc between these two, whose
    label is all labels on the way joined by ">", as for the evaluation of the IWPT 2020 and 2021
    shared tasks. Equal arcs are written once. Returns how much of DEPS leads to no arc, by kind.
    Raises ValueError naming the sentence, where a cell of DEPS is malformed, or too much of a maze.
    """
    lost: Counter[str] = Counter()
    arcs: list[Arc] = []
    sentences = [(each, _heads(each)) for each in kept_sentences(doc)]
    if not sentences or not all(heads for _, heads in sentences):
        return lost
    for sentence, heads in sentences:
        for at in range(sentence.end - sentence.start):
            for head, label in _collapsed(sentence, heads, str(at + 1), lost):
                above = None if head == "0" else doc[sentence.start + int(head) - 1]
                arcs.append(Arc(above, doc[sentence.start + at], label))
    once = list(dict.fromkeys(arcs))
    set_arcs(doc, once)
    lost["arcs of DEPS that are there already"] += len(arcs) - len(once)
    return lost


def count_unfilled(doc: Doc) -> tuple[int, int]:
    """How many sentences have no DEPS at all, and how many words have none beside others that do;
    words of a sentence that came from CoNLL-U."""
    cells = [each.cells("deps") for each in kept_sentences(doc)]
    known = [each for each in cells if any(each)]
    return len(cells) - len(known), sum(each.count("_") for each in known)


def _heads(sentence: KeptSentence) -> Heads:
    if "deps" not in sentence.data:
        return {}
    cells = {str(at): cell for at, cell in enumerate(sentence.cells("deps"), start=1)}
    for _, line in sentence.others():
        identifier, *columns = line.split("\t")
        if "." in identifier and not line.startswith("#"):
            cells[identifier] = columns[7]
    return {node: deps_of(sentence, f"node {node}", cell) for node, cell in cells.items()}


def _collapsed(
    sentence: KeptSentence, heads: Heads, node: str, lost: Counter[str]
) -> Iterator[tuple[str, str]]:
    """Words above a node, and the labels on the way down.

    Empty nodes in a circle lead nowhere, and so do those without heads; these are counted."""
    ways: list[tuple[str, str, tuple[str, ...]]]
    ways = [(head, label, (head,)) for head, label in reversed(heads.get(node, ()))]
    for _ in range(MOST_STEPS):
        if not ways:
            return
        head, path, passed = ways.pop()
        if "." not in head:
            yield head, path
            continue
        further = heads.get(head, ())
        lost["arcs of DEPS at empty nodes without a head"] += not further
        for above, label in reversed(further):
            if above in passed:
                lost["arcs of DEPS between empty nodes in a circle"] += 1
            else:
                ways.append((above, f"{label}>{path}", (*passed, above)))
    raise ValueError(
        f"DEPS of node {node} leads over so many empty nodes that there are thousands of ways to "
        f"words; take some of their arcs out ({sentence.named})"
    )
