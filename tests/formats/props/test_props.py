"""Files with semantic roles, good and bad ones, and back."""

from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import FRAMES, Frame, Role, has_graph, set_frames
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.props.api import (
    PropsReport,
    SpanColumns,
    conll09,
    frames_of_words,
    read_props,
    span_columns,
    universal_propositions,
    write_conll05,
    write_conll09,
)
from spacy_biaffine.formats.props.brackets import read_brackets, write_brackets

# A predicate in two pieces, an argument in two pieces, a reference; no predicate; a predicate that
# is annotated at its second word, and two arguments of one label.
PROPBANK = """\
# sent_id = a
# propbank = book 0
1	Songs	song	NOUN	NNS	0	root	-	-	(ARG1*	(ARG1*)
2	,	,	PUNCT	,	1	punct	-	-	*)	*
3	she	she	PRON	PRP	4	nsubj	-	-	(ARG0*)	*
4	wrote	write	VERB	VBD	1	parataxis	write	write_down.02	(V*)	*
5	down	down	ADP	RP	4	compound:prt	-	-	(C-V*)	*
6	which	which	PRON	WDT	7	nsubj	-	-	(C-ARG1*	(R-ARG1*)
7	fell	fall	VERB	VBD	1	acl:relcl	fall	fall.01	*)	(V*)

# sent_id = b
# propbank = book 1
1	Why	why	ADV	WRB	0	root	-	-

# sent_id = c
# propbank = book 2
1	Today	today	NOUN	NN	3	obl	-	-	(ARGM-TMP*)
2	code	code	NOUN	NN	3	compound	-	-	(V*
3	named	name	VERB	VBN	0	root	codename	codename.01	*)
4	#	#	SYM	NN	3	obj	-	-	(ARG1*)
5	now	now	ADV	RB	3	advmod	-	-	(ARGM-TMP*)

"""

CONLL05 = """\
Songs  -     (A1*)  (A1*)
fall   fall  (V*)   *
#      -     *      *
rise   rise  *      (V*)

"""

CONLL09 = """\
1	Big	big	large	JJ	NN	Degree=Pos	_	2	3	NMOD	AMOD	_	_	_	A1
2	songs	song	song	NNS	NNS	_	_	3	3	SBJ	SBJ	_	_	A1	_
3	fell	fall	fell	VBD	VBN	_	_	0	0	ROOT	ROOT	Y	fall.01	_	_
4	falls	fall	fall	NNS	NNS	_	_	3	3	OBJ	OBJ	Y	fall.02	C-A1	A0

"""

# Most lines end with a tab; the last sentence is not annotated.
UP = """\
# newdoc id = book
# sent_id = a
1	Songs	song	NOUN	NNS	_	3	nsubj	3:nsubj	_	_	_	ARG1	\t
2	do	do	AUX	VBP	_	3	aux	3:aux	_	do.01	V	_	\t
3	fall	fall	VERB	VB	_	0	root	0:root	SpaceAfter=No	fall.01	_	V	\t
3.1	fall	fall	VERB	VB	_	_	_	3:conj	_\t\t
4	.	.	PUNCT	.	_	3	punct	3:punct	_	_	_	_

# sent_id = b
1	Why	why	ADV	WRB	_	0	root	0:root	_	_	\t

# sent_id = c
1	Gifts	gift	NOUN	NNS	_	0	root	0:root	_		\t

"""

PASTED = span_columns(SpanColumns(word=0, frame=1))


@pytest.fixture
def vocab() -> Vocab:
    return spacy.blank("en").vocab


@pytest.fixture
def write(tmp_path):
    def to_file(content: str, name: str = "in.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode())
        return path

    return to_file


def read(path, vocab, parse=None, **options) -> list[Doc]:
    return list(read_props(path, vocab, parse or span_columns(), **options))


def shown(doc: Doc) -> list[tuple]:
    """Frames as texts."""
    return [
        (
            " ".join(span.text for span in frame.predicate),
            frame.sense,
            [(role.label, *(span.text for span in role.spans)) for role in frame.roles],
        )
        for frame in doc._.frames
    ]


def places(doc: Doc) -> list[tuple]:
    """Frames as tokens."""

    def of(spans):
        return tuple((span.start, span.end) for span in spans)

    return [
        (of(frame.predicate), frame.sense, [(role.label, of(role.spans)) for role in frame.roles])
        for frame in doc._.frames
    ]


# Reading


def test_propbank(vocab, write):
    report = PropsReport()
    one, two, three = read(write(PROPBANK), vocab, report=report)
    assert shown(one) == [
        (
            "wrote down",
            "write_down.02",
            [("ARG1", "Songs ,", "which fell"), ("ARG0", "she")],
        ),
        ("fell", "fall.01", [("ARG1", "Songs"), ("R-ARG1", "which")]),
    ]
    assert has_graph(two, FRAMES) and shown(two) == []
    # What is annotated comes first: "named" bears the sense, not the V bracket's "code".
    assert shown(three) == [
        ("named code", "codename.01", [("ARGM-TMP", "Today"), ("ARG1", "#"), ("ARGM-TMP", "now")])
    ]
    assert [t.head.i for t in one] == [0, 0, 3, 0, 3, 6, 0]
    assert one[4].dep_ == "compound:prt" and one[4].tag_ == "RP" and one[4].pos_ == "ADP"
    assert one[3].lemma_ == "write"
    assert (report.sentences, report.words, report.predicates) == (3, 13, 3)
    assert report.roles == {"ARG1": 3, "ARG0": 1, "R-ARG1": 1, "ARGM-TMP": 2}


def test_several_sentences_to_a_doc(vocab, write):
    one, two = read(write(PROPBANK), vocab, n_sents=2)
    assert [sent.text.split()[0] for sent in one.sents] == ["Songs", "Why"]
    (frame,) = two._.frames
    (joined,) = read(write(PROPBANK), vocab, n_sents=3)
    assert joined._.frames[2].predicate[0].start == frame.predicate[0].start + 8
    assert [shown(joined)[:2], shown(joined)[2:]] == [shown(one), shown(two)]


def test_conll05(vocab, write):
    expected = [("fall", None, [("A1", "Songs")]), ("rise", None, [("A1", "Songs")])]
    (doc,) = read(write(CONLL05), vocab, PASTED)
    assert shown(doc) == expected
    assert [t.lemma_ for t in doc] == ["", "fall", "", "rise"]
    assert not doc.has_annotation("DEP") and doc[0].is_sent_start
    further = "\n".join("\t".join(["x", "NN", *line.split()]) for line in CONLL05.splitlines()[:4])
    parse = span_columns(SpanColumns(word=2, xpos=1, frame=3))
    (doc,) = read(write(further), vocab, parse)
    assert shown(doc) == expected and doc[2].text == "#" and doc[2].tag_ == "NN"


@pytest.mark.parametrize(
    ("predicted", "tags", "heads", "lemmas"),
    [
        (False, ["JJ", "NNS", "VBD", "NNS"], [1, 2, 2, 2], ["big", "song", "fall", "fall"]),
        (True, ["NN", "NNS", "VBN", "NNS"], [2, 2, 2, 2], ["large", "song", "fell", "fall"]),
    ],
)
def test_conll09(vocab, write, predicted, tags, heads, lemmas):
    (doc,) = read(write(CONLL09), vocab, conll09(predicted=predicted))
    assert shown(doc) == [
        ("fell", "fall.01", [("A1", "songs", "falls")]),
        ("falls", "fall.02", [("A1", "Big"), ("A0", "falls")]),
    ]
    assert [t.tag_ for t in doc] == tags
    assert [t.head.i for t in doc] == heads
    assert [t.lemma_ for t in doc] == lemmas
    assert str(doc[0].morph) == ("" if predicted else "Degree=Pos")


def test_universal_propositions(vocab, write):
    report = PropsReport()
    one, two = read(write(UP), vocab, universal_propositions, report=report)
    assert shown(one) == [("do", "do.01", []), ("fall", "fall.01", [("ARG1", "Songs")])]
    assert one.text == "Songs do fall."
    assert has_graph(two, FRAMES) and shown(two) == []
    assert (report.sentences, report.unannotated) == (2, 1)


def test_auxiliaries_can_be_left_out(vocab, write):
    report = PropsReport()
    path = write(UP)
    one, _ = read(path, vocab, universal_propositions, skip_auxiliaries=True, report=report)
    assert shown(one) == [("fall", "fall.01", [("ARG1", "Songs")])]
    assert report.auxiliaries == report.predicates == 1
    main = UP.replace("do\tAUX", "do\tVERB")
    one, _ = read(write(main), vocab, universal_propositions, skip_auxiliaries=True)
    assert len(one._.frames) == 2


def test_arguments_as_words(vocab, write):
    """By the tree; of several words with their heads outside the first."""
    (doc, *_) = read(write(PROPBANK), vocab, words=True)
    assert shown(doc) == [
        ("wrote", "write_down.02", [("ARG1", "Songs", "fell"), ("ARG0", "she")]),
        ("fell", "fall.01", [("ARG1", "Songs"), ("R-ARG1", "which")]),
    ]
    doc = Doc(vocab, words=["a", "b", "c", "d"], heads=[3, 0, 3, 3], deps=["x"] * 4)
    set_frames(doc, [Frame((doc[3:4],), None, (Role("A0", (doc[0:3],)), Role("A1", (doc[1:3],))))])
    ((_, _, roles, _),) = frames_of_words(doc._.frames)
    assert [role.spans[0].text for role in roles] == ["a", "b"]


def test_arguments_as_words_need_a_tree(vocab, write):
    path = write("He\t-\t(A1*\n-\t-\t*)\nfell\tfall\t(V*)\n")
    with pytest.raises(ValueError, match=r"'He -' can't be given as a word.* no heads"):
        read(path, vocab, PASTED, words=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [("1\tparataxis", "0\tparataxis"), ("1\tacl", "6\tacl"), ("1\tparataxis", "_\tparataxis")],
    ids=["two roots", "a cycle", "a head is missing"],
)
def test_what_is_no_tree_is_left_out(vocab, write, old, new):
    report = PropsReport()
    one, two = read(write(PROPBANK.replace(old, new)), vocab, n_sents=2, report=report)
    assert not one.has_annotation("DEP") and two.has_annotation("DEP")
    # spaCy could not tell where sentences without a tree begin: they stand alone.
    assert len(one) == 7 and len(shown(one)) == 2 and report.treeless == 1


def test_line_ends_and_the_missing_last_one(vocab, write):
    text = "\ufeff" + PROPBANK.strip().replace("\n", "\r\n")
    docs = read(write(text), vocab)
    assert [shown(d) for d in docs] == [shown(d) for d in read(write(PROPBANK), vocab)]


# What can't be read


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("fall.01\t*)\t(V*)", "fall.01\t*)", r":9: 10 columns, wanted 11: 9 and one for each"),
        ("\tcodename.01", "\t-", r":17: 1 argument columns, 0 predicates \(words: none\)"),
        ("\t*)\t(V*)", "\t*\t(V*)", r":8: \(C-ARG1 is not closed in its sentence"),
        ("(C-V*)", "*)", r":7: '\*\)' closes a bracket that none opened"),
        ("(C-V*)", "(C-V*", r":8: \(C-ARG1 opens inside \(C-V of .*:7; close"),
        ("(C-V*)", "C-V", r":7: 'C-V' where \(LABEL\*, \*, \*\) or \(LABEL\*\) is wanted"),
        ("2\t,", "3\t,", r":4: ID '3' where 2 is wanted"),
        ("PRON\tPRP\t4", "PRON\tPRP\tx", r":5: HEAD 'x' is not a number"),
        ("PRON\tPRP\t4", "PRON\tPRP\t8", r":5: HEAD 8 is out of range"),
        ("ADV\tWRB\t0\troot\t-\t-", "ADV", r":13: 4 columns, wanted 9 or more"),
    ],
)
def test_bad_propbank(vocab, write, old, new, message):
    assert PROPBANK.count(old) == 1
    with pytest.raises(FormatError, match=message):
        read(write(PROPBANK.replace(old, new)), vocab)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "\tA1\n2",
            "\n2",
            r":1: 15 columns, wanted 16: 14 and one for each of the sentence's 2 predicates",
        ),
        ("\tfall.01", "", r":3: 15 columns, wanted 16"),
        ("Y\tfall.01", "_\tfall.01", r":3: FILLPRED '_', PRED 'fall.01'; wanted Y and a sense"),
        ("Y\tfall.01", "N\t_", r":3: FILLPRED 'N'"),
        ("song\tsong", "song\t", r":2: column 4 is empty; write _"),
        ("4\tfalls", "5\tfalls", r":4: ID '5' where 4 is wanted"),
        ("2\t3\tNMOD", "x\t3\tNMOD", r":1: HEAD 'x' is not a number"),
    ],
)
def test_bad_conll09(vocab, write, old, new, message):
    assert CONLL09.count(old) == 1
    with pytest.raises(FormatError, match=message):
        read(write(CONLL09.replace(old, new)), vocab, conll09())


def test_fewer_argument_columns_than_predicates(vocab, write):
    text = "".join(line[: line.rindex("\t")] + "\n" for line in CONLL09.splitlines()[:4])
    message = (
        r":1: 1 argument columns, 2 predicates \(words: 3, 4\) in the sentence that begins here"
    )
    with pytest.raises(FormatError, match=message):
        read(write(text), vocab, conll09())


def test_bad_universal_propositions(vocab, write):
    more = UP.replace("_\t_\tARG1\t", "_\t_\tARG1\tARG0")
    with pytest.raises(FormatError, match=r":3: 14 columns, wanted 13"):
        read(write(more), vocab, universal_propositions)
    short = UP.replace("\tPUNCT\t.\t_\t3\tpunct\t3:punct", "")
    with pytest.raises(FormatError, match=r":7: 7 columns, wanted 10 or more"):
        read(write(short), vocab, universal_propositions)


def test_columns_behind_the_predicates():
    with pytest.raises(ValueError, match=r"in front of .* which is column 2"):
        SpanColumns(word=0, xpos=2, frame=1)


def test_no_utf8(vocab, write):
    path = write("")
    path.write_bytes("He\t-\nspricht fließend\t-\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r":2: not UTF-8"):
        read(path, vocab, PASTED)


def test_an_empty_word(vocab, write):
    with pytest.raises(FormatError, match=r":2: the word is empty"):
        read(write("He\t-\n\t-\n"), vocab, PASTED)


def test_bad_sentences_can_be_left_out(vocab, write):
    report = PropsReport()
    text = PROPBANK.replace("(C-V*)", "C-V").replace("\tcodename.01", "\t-")
    (doc,) = read(write(text), vocab, skip_bad=True, report=report)
    assert doc.text.strip() == "Why"
    assert report.skipped == {"brackets": 1, "argument columns": 1}
    assert [str(error).split(":")[1] for error in report.errors] == ["7", "17"]


@pytest.mark.parametrize("text", ["", "\n\n", "# sent_id = a\n\n"])
def test_nothing_found(vocab, write, text):
    with pytest.raises(FormatError, match=r"in.txt: no sentence with semantic roles was found"):
        read(write(text), vocab)


# Writing


@pytest.mark.parametrize("n_sents", [1, 2])
def test_conll05_and_back(vocab, write, tmp_path, n_sents):
    """Word for word what the columns of the table are, but for senses."""
    docs = read(write(PROPBANK), vocab, n_sents=n_sents)
    assert write_conll05(docs, tmp_path / "out.txt") == 3
    written = [
        line.split("\t") for line in (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    ]
    rows = [line.split("\t") for line in PROPBANK.splitlines() if not line.startswith("# ")]
    assert [row[2:] for row in written] == [row[9:] for row in rows]
    assert [row[0] for row in written if len(row) > 1] == [row[1] for row in rows if len(row) > 1]
    back = read(tmp_path / "out.txt", vocab, PASTED)
    again = read(write(PROPBANK), vocab)
    assert [[f[0::2] for f in places(d)] for d in back] == [
        [f[0::2] for f in places(d)] for d in again
    ]


@pytest.mark.parametrize("n_sents", [1, 2])
def test_conll09_and_back(vocab, write, tmp_path, n_sents):
    gold = "\n".join(
        "\t".join([*row[:2], *(row[c] for c in (2, 2, 4, 4, 6, 6, 8, 8, 10, 10)), *row[12:]])
        if (row := line.split("\t"))[1:]
        else ""
        for line in CONLL09.splitlines()
    )
    docs = read(write((gold + "\n") * 2), vocab, conll09(), n_sents=n_sents)
    assert write_conll09(docs, tmp_path / "out.txt") == 2
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == (gold + "\n") * 2


def test_spans_are_written_as_words(vocab, write, tmp_path):
    docs = read(write(PROPBANK), vocab)
    write_conll09(docs, tmp_path / "out.txt")
    back = read(tmp_path / "out.txt", vocab, conll09())
    assert [places(d) for d in back] == [
        places(d) for d in read(write(PROPBANK), vocab, words=True)
    ]


def test_roles_of_words_are_written_where_there_are_some(vocab, write, tmp_path):
    """Those of a component of its own, without frames of spans or beside other ones."""
    (doc,) = read(write(CONLL09), vocab, conll09())
    gold = places(doc)
    doc._.word_frames = doc._.frames
    doc._.frames = []
    for _ in ("beside others", "alone"):
        write_conll09([doc], tmp_path / "out.txt")
        (back,) = read(tmp_path / "out.txt", vocab, conll09())
        assert places(back) == gold
        doc.spans.pop(FRAMES, None)


def test_frames_outlive_a_docbin(vocab, write, tmp_path):
    docs = read(write(PROPBANK), vocab)
    data = DocBin(docs=docs).to_bytes()
    loaded = DocBin().from_bytes(data).get_docs(Vocab())
    assert [places(d) for d in loaded] == [places(d) for d in docs]


def test_blanks_are_not_written(vocab, tmp_path):
    doc = Doc(vocab, words=["\n", "Songs", " ", "old", "fell"])
    roles = (Role("A1", (doc[0:4],)), Role("A2", (doc[2:3],)))
    set_frames(doc, [Frame((doc[4:5],), None, roles)])
    write_conll05([doc], tmp_path / "out.txt")
    text = "Songs\t-\t(A1*\nold\t-\t*)\nfell\tfell\t(V*)\n\n"
    assert (tmp_path / "out.txt").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("writer", [write_conll05, write_conll09])
def test_an_argument_outside_of_the_sentence_is_an_error(vocab, tmp_path, writer):
    doc = Doc(vocab, words=["Songs", "fell", "she", "rose"], sent_starts=[1, 0, 1, 0])
    set_frames(doc, [Frame((doc[1:2],), None, (Role("A1", (doc[0:1], doc[2:3])),))])
    with pytest.raises(ValueError, match="A1 'she' reaches out of the sentence of its predicate"):
        writer([doc], tmp_path / "out.txt")
    assert not (tmp_path / "out.txt").exists()


@pytest.mark.parametrize(
    ("writer", "roles", "message"),
    [
        (write_conll05, [("A0", 0, 2), ("A1", 1, 2)], "A0 and A1 of 'fell' in 'a b fell ' overlap"),
        (write_conll05, [("A0", 0, 3)], "A0 and V of 'fell'"),
        (write_conll05, [("A0 (x)", 0, 1)], "The label 'A0 \\(x\\)' can't stand in brackets"),
        (write_conll09, [("A0", 0, 1), ("A1", 0, 1)], "A0 and A1 of 'fell' stand on one word"),
        (write_conll09, [("A0", 0, 2)], "'a b' can't be given as a word"),
    ],
)
def test_what_a_form_can_not_hold(vocab, tmp_path, writer, roles, message):
    path = tmp_path / "out.txt"
    path.write_text("before", encoding="utf-8")
    doc = Doc(vocab, words=["a", "b", "fell"])
    found = tuple(Role(label, (doc[start:end],)) for label, start, end in roles)
    set_frames(doc, [Frame((doc[2:3],), None, found)])
    with pytest.raises(ValueError, match=message):
        writer([doc], path)
    assert path.read_text(encoding="utf-8") == "before" and list(tmp_path.iterdir()) == [path]


def test_senses_and_labels_of_any_letters(vocab, tmp_path):
    """A predicate may have no sense, as in test data of CoNLL-2009, and tabs end no cell."""
    doc = Doc(vocab, words=["a", "fell", "rose"])
    roles = (Role("A\t0", (doc[:1],)),)
    set_frames(doc, [Frame((doc[1:2],), None, roles), Frame((doc[2:3],), "rise\t01", ())])
    write_conll09([doc], tmp_path / "out.txt")
    (back,) = read(tmp_path / "out.txt", vocab, conll09())
    assert shown(back) == [("fell", None, [("A 0", "a")]), ("rose", "rise 01", [])]


def test_a_predicate_that_is_a_dash(vocab, tmp_path):
    """In CoNLL-2005 a dash stands for no predicate."""
    doc = Doc(vocab, words=["Songs", "-", "old"])
    set_frames(doc, [Frame((doc[1:2],), None, (Role("A1", (doc[:1],)),))])
    write_conll05([doc], tmp_path / "out.txt")
    (back,) = read(tmp_path / "out.txt", vocab, PASTED)
    assert places(back) == places(doc)


@pytest.mark.parametrize("writer", [write_conll05, write_conll09])
def test_two_predicates_on_a_word(vocab, tmp_path, writer):
    doc = Doc(vocab, words=["fell"])
    set_frames(doc, [Frame((doc[:1],), "a.01", ()), Frame((doc[:1],), "b.01", ())])
    with pytest.raises(ValueError, match="Two predicates stand on 'fell'"):
        writer([doc], tmp_path / "out.txt")


@pytest.mark.parametrize("writer", [write_conll05, write_conll09])
def test_nothing_to_write(vocab, tmp_path, writer):
    with pytest.raises(ValueError, match="no sentences to write"):
        writer([Doc(vocab)], tmp_path / "out.txt")


@given(
    st.lists(st.tuples(st.sampled_from(["A0", "C-A0", "R-A1"]), st.integers(1, 3), st.booleans()))
)
def test_brackets_and_back(parts):
    """Pieces side by side or with gaps."""
    pieces, place = [], 0
    for label, length, gap in parts:
        pieces.append((label, (place + gap, place + gap + length)))
        place += gap + length
    cells = write_brackets(pieces, place)
    assert read_brackets(cells, [""] * place) == pieces
