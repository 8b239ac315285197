"""The enhanced graph, and merging of multiword tokens."""

import pytest
from conllu_samples import CONTRACTED, GRAPH, SHORT, block, doc, docs, row
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.formats.conllu.api import ROOT, enhanced_edges, to_conllu


def edges(read: Doc) -> list[tuple[int, int, str]]:
    return [(edge.head, edge.dependent, edge.label) for edge in enhanced_edges(read).edges]


def test_label_begins_after_the_first_colon():
    text = block(
        row(1, "tea", 2, "obj", deps="2:obj|3:nmod:of"),
        row(2, "pour", 0, "root", deps="0:root"),
        row(3, "pot", 2, "obl", deps="2.1:obl:from:gen"),
        row("2.1", "x")[:0],
    )
    assert edges(doc(text)) == [(1, 0, "obj"), (2, 0, "nmod:of"), (ROOT, 1, "root")]
    assert enhanced_edges(doc(text)).at_empty_nodes == 1


def test_edges_count_from_the_start_of_the_doc():
    (read,) = docs(SHORT + GRAPH, n_sents=2)
    graph = enhanced_edges(read)
    assert edges(read) == [(3, 2, "nsubj"), (ROOT, 3, "root"), (3, 6, "advmod:late")]
    assert graph.at_empty_nodes == 4  # three edges from 5.1, one to it
    assert enhanced_edges(Doc(Vocab()).from_bytes(read.to_bytes())) == graph


@pytest.mark.parametrize("read", [doc(SHORT), Doc(Vocab()), Doc(Vocab(), ["a"])])
def test_no_graph(read):
    assert enhanced_edges(read).edges == []


@pytest.mark.parametrize(
    "deps", ["nsubj", "2", "x:dep", "9:dep", "-1:dep", "00:dep", "1:", "0:root||1:x"]
)
def test_malformed_deps(deps):
    read = doc(block("# sent_id = q", row(1, "a", 0, "root", deps=deps)))
    with pytest.raises(ValueError, match=r"word 1: DEPS .*sent_id = q"):
        enhanced_edges(read)


def test_merging_takes_the_word_nearest_to_the_root():
    text = block(
        row("1-2", "dámelo"),
        row(1, "lo", 2, "obj", deps="2:obj", lemma="él"),
        row(2, "da", 4, "xcomp", deps="4:xcomp:x", lemma="dar", misc="SpaceAfter=No"),
        row("3-4", "ya", misc="A=b"),
        row(3, "a", 2, "mark", deps="2.1:mark"),
        row(4, "y", 0, "root", deps="0:root"),
        row(5, "si", 1, "advmod", deps="1:advmod"),
    ).replace("3-4\t", row("2.1", "e", deps="1:e|3:f") + "3-4\t", 1)
    read = doc(text, merge_mwt=True)
    assert [(t.text, t.head.text, t.dep_, t.lemma_) for t in read] == [
        ("dámelo", "ya", "xcomp", "dar"),
        ("ya", "ya", "root", ""),
        ("si", "dámelo", "advmod", ""),
    ]
    assert edges(read) == [(1, 0, "xcomp:x"), (ROOT, 1, "root"), (0, 2, "advmod")]
    assert enhanced_edges(read).at_empty_nodes == 3
    assert "1.1\te\t_\t_\t_\t_\t_\t_\t1:e|2:f\t_\n" in to_conllu(read)
    assert to_conllu(read) == to_conllu(doc(to_conllu(read)))


def test_merging_cannot_make_a_cycle():
    # Taking the first word with its head outside would hang each range on the other.
    text = block(
        row("1-2", "ab"),
        row(1, "a", 4, "x"),
        row(2, "b", 5, "x"),
        row("3-4", "cd"),
        row(3, "c", 2, "x"),
        row(4, "d", 5, "x"),
        row(5, "e", 0, "root"),
    )
    read = doc(text, merge_mwt=True)
    assert [token.head.text for token in read] == ["e", "e", "e"]


def test_merging_keeps_comments_and_spacing():
    read = doc(
        CONTRACTED.replace("zum\t_\t_\t_\t_\t_\t_\t_\t_", "zum\t_\t_\t_\t_\t_\t_\t_\tT=1"),
        merge_mwt=True,
    )
    written = to_conllu(read)
    assert written.startswith("# sent_id = walk-1\n# text = Wir gehen zum See.\n")
    assert "3\tzum\tzu\tADP\tAPPR\t_\t4\tcase\t_\tT=1\n" in written


def test_merging_with_missing_heads():
    text = block(row("1-2", "ab"), row(1, "a"), row(2, "b", 1, "x"), row(3, "c"))
    assert [token.has_head() for token in doc(text, merge_mwt=True)] == [False, False]
