"""The line format, and what it becomes on the Doc."""

import pytest
from conllu_samples import CONTRACTED, SHORT, block, doc, docs, row
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_biaffine.formats.conllu.api import (
    ConlluError,
    ReadReport,
    docs_from_conllu,
    read_conllu,
    source_text,
)


def through_docbin(*given: Doc) -> list[Doc]:
    data = DocBin(docs=given).to_bytes()
    return list(DocBin().from_bytes(data).get_docs(Vocab()))


def read_file(tmp_path, data: bytes) -> list[Doc]:
    path = tmp_path / "sample.conllu"
    path.write_bytes(data)
    return list(read_conllu(path, Vocab()))


def test_columns_become_token_attributes():
    token = doc(CONTRACTED)[0]
    assert (token.text, token.lemma_, token.pos_, token.tag_) == ("Wir", "wir", "PRON", "PPER")
    assert token.morph.to_dict() == {"Case": "Nom", "Number": "Plur"}
    assert (token.head.text, token.dep_) == ("gehen", "nsubj")


def test_root_label_stays_as_in_the_data():
    root = doc(CONTRACTED)[1]
    assert root.head == root
    assert root.dep_ == "root"


def test_multiword_token_is_split_and_its_surface_kept():
    read = doc(CONTRACTED)
    assert [token.text for token in read] == ["Wir", "gehen", "zu", "dem", "See", "."]
    assert read.text == "Wir gehen zudem See."
    assert source_text(read) == "Wir gehen zum See."
    assert source_text(*through_docbin(read)) == "Wir gehen zum See."


def test_multiword_token_merged():
    read = doc(CONTRACTED, merge_mwt=True)
    assert read.text == source_text(read) == "Wir gehen zum See."
    assert [(t.text, t.head.text, t.dep_) for t in read][2] == ("zum", "See", "case")


def test_spacing_of_the_range_line_wins():
    text = block(
        row("1-2", "He'd"),
        row(1, "He", 3, "nsubj"),
        row(2, "'d", 3, "aux", misc="SpaceAfter=No"),
        row("3-4", "win", misc="SpaceAfter=No"),
        row(3, "wi", 0, "root"),
        row(4, "n", 3, "dep"),
        row(5, "!", 3, "punct"),
    )
    assert doc(text).text == "He'd win!"
    assert doc(text, merge_mwt=True).text == "He'd win!"


def test_written_spaces_are_in_the_source_text():
    text = block(
        row(1, "two", 0, "root", misc="SpacesBefore=\\t|SpacesAfter=\\s\\n"),
        row(2, "three", 1, "dep", misc="SpacesAfter=\\u00A0"),
        row(3, "four", 1, "dep", misc="SpacesAfter=\\n"),
    )
    assert doc(text).text == "two three four"
    assert source_text(doc(text)) == "\ttwo \nthree\u00a0four"


def test_empty_node_before_the_first_word():
    read = doc(block(row("0.1", "There", deps="1:nsubj"), row(1, "snows", 0, "root")))
    assert [token.text for token in read] == ["snows"]
    assert len(list(read.sents)) == 1


@pytest.mark.parametrize(
    "data",
    [
        (SHORT + SHORT).replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + (SHORT + SHORT).encode(),
        (SHORT + SHORT).rstrip("\n").encode(),
        (SHORT + "\n\n \t \n" + SHORT + "\n\n").encode(),
        b"\n\n" + (SHORT + "# a note\n\n" + SHORT).encode(),
        (SHORT + SHORT + "# the end").encode(),
        (SHORT + "\r\n" + SHORT).encode(),
    ],
    ids=["crlf", "bom", "no last newline", "blank lines", "comment block", "last comment", "mixed"],
)
def test_line_ends_and_blank_lines(tmp_path, data):
    found = read_file(tmp_path, data)
    assert [[(t.text, t.dep_) for t in d] for d in found] == [
        [("Rain", "nsubj"), ("fell", "root")]
    ] * 2


@pytest.mark.parametrize(
    "form",
    [
        "12 500",
        "7\u00a0m",
        "on\u2028off",
        "sea\u200bside",
        "a\u0085b",
        "\u3000",
        "#",
        "# text",
        "_",
        '"',
    ],
)
def test_forms_keep_their_characters(tmp_path, form):
    text = block(row(1, form, 2, "dep", lemma="_"), row(2, "km", 0, "root"))
    (found,) = read_file(tmp_path, text.encode())
    assert [token.text for token in found] == [form, "km"]
    (again,) = through_docbin(found)
    assert [token.text for token in again] == [form, "km"]


def test_lemma_underscore_is_a_lemma_of_the_underscore_alone():
    read = doc(block(row(1, "_", 0, "root", lemma="_"), row(2, "x", 1, "dep", lemma="_")))
    assert [token.lemma_ for token in read] == ["_", ""]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"# only a note\n", b"# one\n\n# two\n\n"])
def test_no_sentences(tmp_path, data):
    with pytest.raises(ConlluError, match=r"no sentences found in .*sample\.conllu"):
        read_file(tmp_path, data)


def test_unannotated_file():
    read = doc(block(row(1, "Nobody", upos="PRON"), row(2, "parsed"), row(3, "me")) + SHORT[:0])
    assert not any(token.has_head() or token.has_dep() for token in read)
    assert [token.pos_ for token in read] == ["PRON", "", ""]
    assert not read.has_annotation("TAG")
    assert not read.has_annotation("DEP")


def test_unannotated_sentences_keep_their_starts():
    (read,) = docs(block(row(1, "One"), row(2, "two")) * 3, n_sents=3)
    for each in (read, read.copy(), *through_docbin(read)):
        assert [sent.start for sent in each.sents] == [0, 2, 4]


PARTIAL = block(
    row(1, "Oh"),
    row(2, "look", 0, "root"),
    row(3, "um"),
    row(4, "there", 2, "advmod"),
    row(5, "eh"),
)


def test_partly_annotated_sentence_is_not_split():
    (read,) = docs(PARTIAL + SHORT, n_sents=2)
    for each in (read, *through_docbin(read)):
        assert [token.has_head() for token in each] == [False, True, False, True, False, True, True]
        assert [token.dep_ for token in each][:5] == ["", "root", "", "advmod", ""]
        assert [sent.start for sent in each.sents] == [0, 5]


def test_partly_annotated_sentence_without_root_stands_alone():
    headless = block(row(1, "see"), row(2, "you", 1, "obj"))
    groups = docs(SHORT + headless + SHORT + SHORT, n_sents=4)
    assert [len(list(d.sents)) for d in through_docbin(*groups)] == [1, 1, 2]


def test_missing_heads_are_missing_in_the_example():
    read = doc(PARTIAL)
    example = Example(Doc(read.vocab, [token.text for token in read]), read)
    _, deps = example.get_aligned_parse(projectivize=False)
    assert deps == ["", "root", "", "advmod", ""]


def test_head_without_label_is_a_head():
    read = doc(block(row(1, "All", 2), row(2, "fell", 0)))
    assert [(token.head.i, token.dep_, token.has_head()) for token in read] == [
        (1, "_", True),
        (1, "_", True),
    ]


def test_label_without_head_is_no_annotation():
    assert not doc(block(row(1, "All", deprel="nsubj"), row(2, "fell", 0, "root")))[0].has_dep()


def test_unknown_upos_warns_once():
    text = block(row(1, "a", 0, "root", upos="PREP"), row(2, "b", 1, "dep", upos="noun"))
    with pytest.warns(UserWarning, match="'PREP' is unknown to spaCy") as caught:
        read = docs(text + text)
    assert len(caught) == 1
    assert [token.pos_ for token in read[0]] == ["", ""]


@pytest.mark.parametrize("feats", ["Case", "A=B=C", "=x", "Pos=NOUN", "A=", "A=B|", "a b"])
def test_feats_that_spacy_cannot_hold(feats):
    with pytest.warns(UserWarning, match="token.morph stays unset there") as caught:
        read = doc(block(*(row(n, "a", n - 1, "x", upos="X", feats=feats) for n in (1, 2))))
    assert [str(token.morph) for token in read] == ["", ""]
    assert len(caught) == 1


def test_no_feats_are_an_annotation_where_the_word_has_a_upos():
    read = doc(block(row(1, "a", 0, "root", upos="X"), row(2, "b", 1, "dep")))
    assert [token.has_morph() for token in read] == [True, False]


NEWDOC = "# newdoc id = n\n"


def test_grouping_by_number():
    found = docs(SHORT * 7, n_sents=3)
    assert [len(list(d.sents)) for d in found] == [3, 3, 1]
    for token in found[0]:
        assert token.head.sent == token.sent
    assert found[0].text == "Rain fell Rain fell Rain fell"


def test_grouping_never_crosses_newdoc():
    found = docs(NEWDOC + SHORT * 2 + NEWDOC + SHORT * 4, n_sents=3)
    assert [len(list(d.sents)) for d in found] == [2, 3, 1]


def test_grouping_by_doc():
    found = docs(SHORT + NEWDOC + SHORT * 2 + "# newpar\n" + SHORT + NEWDOC + SHORT, by_doc=True)
    assert [len(list(d.sents)) for d in found] == [1, 3, 1]


def test_newdoc_in_a_comment_block_counts():
    found = docs(SHORT + NEWDOC + "\n" + SHORT + SHORT, by_doc=True)
    assert [len(list(d.sents)) for d in found] == [1, 2]


def test_newdoc_on_a_skipped_sentence_counts():
    bad = block(row(1, "x", 9, "dep"))
    found = docs(SHORT + NEWDOC + bad + SHORT, by_doc=True, skip_bad=True)
    assert len(found) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_sents": 0}, "1 or more"), ({"n_sents": 2, "by_doc": True}, "exclude each other")],
)
def test_bad_grouping(options, message):
    with pytest.raises(ValueError, match=message):
        docs(SHORT, **options)


def test_report():
    report = ReadReport()
    list(docs_from_conllu(CONTRACTED + SHORT, Vocab(), report=report))
    assert (report.sentences, report.words, report.ranges, report.empty_nodes) == (2, 8, 1, 0)
