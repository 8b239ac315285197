"""CoNLL-U Plus: columns in any order, some of CoNLL-U missing, others counted."""

from pathlib import Path

import pytest
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.conllu.plus import read_conllu_plus
from spacy_biaffine.formats.conllu.read import ReadReport
from spacy_biaffine.formats.forms import form_named, form_of

CUPT = """\
# global.columns = FORM ID LEMMA UPOS HEAD DEPREL PARSEME:MWE X:Note
# newdoc id = d
# sent_id = a
They\t1\tthey\tPRON\t2\tnsubj\t*\t_
give up\t2-3\t_\t_\t_\t_\t*\t_
give\t2\tgive\tVERB\t0\troot\t1:VPC.full\tsure
up\t3\tup\tADP\t2\tcompound\t1\t_

# sent_id = b
Yes\t1\tyes\tINTJ\t0\troot\t_\t_

"""


def written(folder: Path, text: str) -> Path:
    path = folder / "a.cupt"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_columns_are_read_by_name(tmp_path):
    path = written(tmp_path, CUPT)
    report = ReadReport()
    (doc,) = read_conllu_plus(path, Vocab(), by_doc=True, report=report)
    assert form_of(path) is form_named("conllu-plus")
    found = [(token.text, token.lemma_, token.pos_, token.head.i, token.dep_) for token in doc]
    assert found[:3] == [
        ("They", "they", "PRON", 1, "nsubj"),
        ("give", "give", "VERB", 1, "root"),
        ("up", "up", "ADP", 1, "compound"),
    ]
    assert len(list(doc.sents)) == 2
    assert report.not_kept == {"column PARSEME:MWE": 2, "column X:Note": 1}
    assert report.ranges == 1


def test_the_header_is_no_comment_of_a_sentence(tmp_path):
    (doc, _) = read_conllu_plus(written(tmp_path, CUPT), Vocab())
    text = form_named("conllu").write(doc)
    assert text.startswith("# newdoc id = d\n# sent_id = a\n1\tThey\tthey\tPRON\t_\t_\t2\tnsubj\t")
    assert "2-3\tgive up\t_" in text


def test_without_trees(tmp_path):
    path = written(tmp_path, "# global.columns = ID FORM\n1\ta\n2\tb\n")
    (doc,) = read_conllu_plus(path, Vocab())
    assert [token.text for token in doc] == ["a", "b"]
    assert not doc.has_annotation("DEP")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\ta\n", r":1: the first line must name the columns"),
        ("", r":1: the first line must name the columns"),
        ("# global.columns = ID LEMMA\n1\ta\n", r":1: ID, FORM and each other column"),
        ("# global.columns = ID FORM FORM\n1\ta\tb\n", r":1: ID, FORM and each other column"),
        ("# global.columns = ID FORM\n1\ta\tb\n", r":2: 3 columns, wanted 2"),
        ("# global.columns = ID FORM\n1\t\n", r":2: column FORM is empty"),
        ("# global.columns = ID FORM\n2\ta\n", r":2: ID '2'"),
    ],
)
def test_bad_files(tmp_path, text, message):
    with pytest.raises(FormatError, match=message):
        list(read_conllu_plus(written(tmp_path, text), Vocab()))


def test_bad_sentences_are_left_out(tmp_path):
    report = ReadReport()
    text = CUPT.replace("Yes\t1", "Yes\t7")
    docs = list(read_conllu_plus(written(tmp_path, text), Vocab(), skip_bad=True, report=report))
    assert len(docs) == 1
    assert report.skipped == {"ID": 1}
