"""Docs back to CoNLL-U."""

import numpy
import pytest
import spacy
from conllu_samples import CONTRACTED, GRAPH, SHORT, block, doc, docs, row
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.formats.conllu.api import (
    copy_kept,
    docs_from_conllu,
    source_text,
    to_conllu,
    write_conllu,
)

ODD = block(
    "#no blank",
    "# newpar",
    row("0.1", "It", upos="PRON", deps="2:nsubj", misc="CopyOf=9"),
    row(1, "9 000", 2, "nummod", upos="nr", feats="b=2|B=1|A=2,1", xpos="CD"),
    "# inside",
    row("2-2", "km.", misc="SpaceAfter=No|Typo=Yes"),
    row(2, "km", 0, "ROOT", lemma="_", feats="odd", misc="SpaceAfter=No"),
    row(3, "up", "_", "advmod", deps="2:a:b|0:root", misc="x y"),
    row("3.1", "z"),
    row("3.2", "z"),
    row(4, "!", 2, misc="SpaceAfter=No"),
)


def reload(read: list[Doc]) -> list[Doc]:
    data = DocBin(docs=read).to_bytes()
    return list(DocBin().from_bytes(data).get_docs(Vocab()))


@pytest.mark.filterwarnings("ignore:UPOS")
@pytest.mark.parametrize("n_sents", [1, 2, 4])
def test_there_and_back(n_sents):
    text = CONTRACTED + ODD + GRAPH + SHORT * 2 + "# the end\n"
    read = docs(text, n_sents=n_sents)
    by_bytes = [Doc(Vocab()).from_bytes(d.to_bytes()) for d in read]
    for same in (read, reload(read), by_bytes, [d.copy() for d in read]):
        assert "".join(map(to_conllu, same)) == text


def test_merged_words_are_renumbered():
    written = to_conllu(doc(CONTRACTED, merge_mwt=True))
    lines = [line.split("\t") for line in written.splitlines() if line[:1].isdigit()]
    assert [(cells[0], cells[1], cells[6]) for cells in lines] == [
        ("1", "Wir", "2"),
        ("2", "gehen", "0"),
        ("3", "zum", "4"),
        ("4", "See", "2"),
        ("5", ".", "2"),
    ]
    assert written == to_conllu(doc(written))


def parse(target: Doc, heads: list[int], labels: list[str]) -> None:
    """What a parser does to a Doc of fresh tokens."""
    rows = [
        ((head - i) % 2**64, target.vocab.strings.add(label))
        for i, (head, label) in enumerate(zip(heads, labels, strict=True))
    ]
    target.from_array(["HEAD", "DEP"], numpy.array(rows, dtype=numpy.uint64))


def fresh(read: Doc) -> Doc:
    words = [token.text for token in read]
    target = Doc(read.vocab, words, [bool(token.whitespace_) for token in read])
    copy_kept(read, target)
    return target


def column(text: str, number: int) -> list[str]:
    return [line.split("\t")[number] for line in text.splitlines() if line[:1].isdigit()]


def test_a_new_parse_wins_over_what_was_read():
    read = doc(CONTRACTED)
    target = fresh(read)
    parse(target, [1, 1, 1, 2, 3, 4], ["a", "ROOT", "c", "d", "e", "f"])
    written = to_conllu(target)
    assert column(written, 6) == ["2", "0", "_", "2", "3", "4", "5"]
    assert column(written, 7) == ["a", "root", "_", "c", "d", "e", "f"]
    assert column(written, 9) == column(CONTRACTED, 9)
    assert column(written, 3) == ["_"] * 7
    assert "# sent_id = walk-1\n" in written


def test_fresh_tokens_without_parse():
    written = to_conllu(fresh(docs(SHORT * 2, n_sents=2)[0]))
    assert column(written, 6) == ["_"] * 4
    assert written.count("\n\n") == 2


def test_the_gold_parse_over_fresh_tokens_gives_the_file_back():
    (read,) = docs(GRAPH + SHORT, n_sents=2)
    target = fresh(read)
    parse(target, [token.head.i for token in read], [token.dep_ for token in read])
    assert to_conllu(target) == GRAPH + SHORT


def test_other_sentence_boundaries():
    (read,) = docs("# newdoc\n" + SHORT + CONTRACTED + GRAPH, n_sents=3)
    target = fresh(read)
    # Sentences: 'Rain', 'fell Wir gehen zu dem See .', and the graph as it was.
    heads = [0, 1, 1, 1, 1, 1, 1, 1, *(token.head.i for token in read[8:])]
    parse(target, heads, ["ROOT" if h == i else "x" for i, h in enumerate(heads)])
    written = to_conllu(target)
    first, second, third = written.split("\n\n", 2)
    assert first.startswith("# newdoc\n# sent_id = d1-t1\n# text = Rain\n1\tRain")
    assert "# text = fell Wir gehen zum See." in second
    assert "\n4-5\tzum\t" in second
    assert "Gloss=lake|SpaceAfter=No" in second
    assert "walk-1" not in second
    assert third.startswith("# text = Ada reads")
    assert "2:nsubj|5.1:dep:of:x" in third
    assert "".join(d.text for d in docs_from_conllu(written, Vocab()))


def test_a_boundary_inside_a_multiword_token_moves():
    target = fresh(doc(CONTRACTED))
    parse(target, [1, 1, 1, 3, 3, 3], ["x", "root", "x", "root", "x", "x"])
    written = to_conllu(target)
    first, second = written.strip().split("\n\n")
    assert "# text = Wir gehen" in first
    assert "# text = zum See." in second
    assert [source_text(d) for d in docs(written)] == ["Wir gehen", "zum See."]


def test_retokenized_doc_is_written_as_any_other():
    read = doc(CONTRACTED)
    with read.retokenize() as retokenizer:
        retokenizer.merge(read[2:4])
    written = to_conllu(read)
    assert column(written, 1) == ["Wir", "gehen", "zudem", "See", "."]
    assert docs(written)


def test_any_other_doc():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    read = nlp("\n Hello  you,\tsir.\n\nBye | now \n")
    written = to_conllu(read, 3)
    assert written == block(
        "# newdoc id = d3",
        "# sent_id = d3-s1",
        "# text = Hello you, sir.",
        row(1, "Hello", misc="SpacesBefore=\\n\\s|SpacesAfter=\\s\\s"),
        row(2, "you", misc="SpaceAfter=No"),
        row(3, ",", misc="SpacesAfter=\\t"),
        row(4, "sir", misc="SpaceAfter=No"),
        row(5, ".", misc="SpacesAfter=\\n\\n"),
    ) + block(
        "# sent_id = d3-s2",
        "# text = Bye | now",
        row(1, "Bye"),
        row(2, "|"),
        row(3, "now", misc="SpacesAfter=\\s\\n"),
    )
    (again,) = docs(written, by_doc=True)
    assert source_text(again) == read.text.rstrip()


def test_whitespace_tokens_head_nothing():
    words = ["\n", "a", " ", "b", "c"]
    heads = [0, 2, 0, 2, 3]
    read = Doc(Vocab(), words, heads=heads, deps=["ROOT", "x", "y", "z", "w"])
    written = to_conllu(read)
    assert column(written, 1) == ["a", "b", "c"]
    assert column(written, 6) == ["0", "1", "2"]
    assert column(written, 7) == ["root", "dep", "w"]
    assert docs(written)


@pytest.mark.parametrize("words", [[], [" "], ["\n", " "]])
def test_nothing_to_write(tmp_path, words):
    path = tmp_path / "out.conllu"
    path.write_text("earlier", encoding="utf-8")
    empty = Doc(Vocab(), words)
    assert to_conllu(empty) == ""
    with pytest.raises(ValueError, match="no sentences to write"):
        write_conllu([empty], path)
    assert path.read_text(encoding="utf-8") == "earlier"
    assert list(tmp_path.iterdir()) == [path]


def test_cells_never_hold_tabs_or_newlines():
    read = Doc(Vocab(), ["a\tb", "c\nd"], lemmas=["a\tb", "\n"], tags=["t\tt", "u"])
    assert [d.text for d in docs(to_conllu(read))] == ["a b c d"]


def test_spacy_root_label_that_the_file_had_stays():
    text = SHORT.replace("root", "ROOT")
    assert to_conllu(doc(text)) == text
    assert doc(text)[1].dep_ == "ROOT"
