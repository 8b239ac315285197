"""``python -m spacy biaffine convert-roles``."""

import pytest
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_biaffine.cli import app
from spacy_biaffine.doc.graphs import FRAMES, has_graph

PROPBANK = """\
# sent_id = a
1	Old	old	ADJ	JJ	2	amod	-	-	*	(ARG1*
2	songs	song	NOUN	NNS	4	nsubj	-	-	*	*)
3	had	have	AUX	VBD	4	aux	have	have.01	(V*)	*
4	fallen	fall	VERB	VBN	0	root	fall	fall.01	*	(V*)

# sent_id = b
1	Why	why	ADV	WRB	0	root	-	-

"""
CONLL05 = "Old\t-\t(ARG1*\nsongs\t-\t*)\nhad\t-\t*\nfallen\tfall\t(V*)\n\nWhy\t-\n\n"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.tsv"
    path.write_text(PROPBANK, encoding="utf-8")
    return path


def convert(*arguments) -> tuple[int, str]:
    """Exit code and output on one line (messages are wrapped)."""
    result = CliRunner().invoke(app, ["convert-roles", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def docs_in(path):
    return list(DocBin().from_disk(path).get_docs(Vocab()))


def test_there_and_back(source, tmp_path):
    out, back = tmp_path / "out.spacy", tmp_path / "back.txt"
    code, output = convert(source, out, "--form", "propbank", "--skip-auxiliaries", "-n", 2)
    assert code == 0
    for count in ("sentences 2", "docs 1", "words 5", "predicates 1", "arguments 1", "labels 1"):
        assert count in output
    assert "auxiliaries left out 1" in output and "without a tree" not in output
    code, output = convert(out, back, "--form", "conll05")
    assert code == 0 and "sentences 2 docs 1" in output
    assert back.read_text(encoding="utf-8") == CONLL05
    again = tmp_path / "again.spacy"
    assert convert(back, again, "--form", "conll05")[0] == 0
    one, two = docs_in(again)
    assert one._.frames[0].roles[0].spans[0].text == "Old songs"
    assert has_graph(two, FRAMES) and not two._.frames


def test_words(source, tmp_path):
    out, back = tmp_path / "out.spacy", tmp_path / "back.txt"
    assert convert(source, out, "--form", "propbank", "--words")[0] == 0
    assert docs_in(out)[0]._.frames[1].roles[0].spans[0].text == "songs"
    assert convert(out, back, "--form", "conll09")[0] == 0
    again = tmp_path / "again.spacy"
    assert convert(back, again, "--form", "conll09", "--predicted")[0] == 0
    assert [str(d._.frames) for d in docs_in(again)] == [str(d._.frames) for d in docs_in(out)]


def test_words_beside_spans(source, tmp_path):
    out = tmp_path / "out.spacy"
    assert convert(source, out, "--form", "propbank", "--word-frames")[0] == 0
    (doc, *_) = docs_in(out)
    places = [doc._.frames[1].roles[0].spans[0].text, doc._.word_frames[1].roles[0].spans[0].text]
    assert places == ["Old songs", "songs"]


def test_columns(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text("1 NNS Songs - (A1*)\n2 VBD fell fall (V*)\n", encoding="utf-8")
    columns = ("--word-column", 3, "--tag-column", 2, "--props-column", 4)
    code, _ = convert(path, tmp_path / "out.spacy", "--form", "conll05", *columns)
    (doc,) = docs_in(tmp_path / "out.spacy")
    assert code == 0 and doc.text.strip() == "Songs fell" and doc[1].tag_ == "VBD"
    assert doc._.frames[0].roles[0].label == "A1"


def test_what_is_bad_is_named(source, tmp_path):
    source.write_text(PROPBANK.replace("(V*)\n", "(V*\n"), encoding="utf-8")
    out = tmp_path / "out.spacy"
    code, output = convert(source, out, "--form", "propbank")
    assert code == 1 and not out.exists()
    assert "in.tsv:5: (V is not closed" in output
    code, output = convert(source, out, "--form", "propbank", "--skip-bad")
    assert code == 0 and len(docs_in(out)) == 1
    assert "left out: brackets 1" in output and "in.tsv:5" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.tsv", "out.txt", "--form", "up"), "roles are written as --form conll05 or conll09"),
        (("no.tsv", "out.spacy", "--form", "up"), "No such file"),
        (
            ("in.tsv", "out.spacy", "--form", "conll05", "--props-column", 1),
            "in front of the predicates' columns",
        ),
        (("in.tsv", "out.spacy", "--form", "up", "-l", "qq"), "spaCy has no language 'qq'"),
    ],
)
def test_wrong_calls(source, tmp_path, arguments, message):
    first, second, *rest = arguments
    code, output = convert(tmp_path / first, tmp_path / second, *rest)
    assert code == 1 and message in output
