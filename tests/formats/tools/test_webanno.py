"""WebAnno TSV 3 of INCEpTION: read by its columns, written with the layers that INCEpTION has."""

import random
from pathlib import Path

import pytest
from made_texts import content, made_docs
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import RELATIONS, has_graph
from spacy_biaffine.formats.common.docbin import write_docbin
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.convert.plan import plan
from spacy_biaffine.formats.convert.run import convert
from spacy_biaffine.formats.tools.texts import ToolReport
from spacy_biaffine.formats.tools.webanno import webanno
from spacy_biaffine.formats.tools.webanno_write import webanno_files

HEADER = """\
#FORMAT=WebAnno TSV 3.3
#T_SP=custom.Span|note|label
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.lexmorph.type.pos.POS|PosValue
#T_RL=custom.Relation|label|BT_custom.Span


"""
BANK = """\
#Text=Nord Bank bought RigaOil .
1-1\t0-4\tNord\t_\tORG[1]\tPROPN\t_\t_\t
1-2\t5-9\tBank\t_\tORG[1]|WORD\tPROPN\t_\t_\t
1-3\t10-16\tbought\t_\t_\tVERB\t_\t_\t
1-4\t17-24\tRigaOil\tsure\tORG\\_x\t_\towns|is\t1-1[1_0]|1-2\t
1-4.1\t17-21\tRiga\t_\t_\t_\t_\t_\t
1-5\t25-26\t.\t_\t_\t_\t_\t_\t

#Text=Yes
2-1\t27-30\tYes\t_\t*\t_\t_\t_\t
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "a.tsv"
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def read(path: Path, **options) -> tuple[list[Doc], ToolReport]:
    report = ToolReport()
    return list(webanno([path], "en", report, **options)), report


def test_layers_are_read_by_name(tmp_path):
    ((doc,), report) = read(written(tmp_path, HEADER + BANK))
    assert doc.text == "Nord Bank bought RigaOil . Yes"
    assert [len(sentence) for sentence in doc.sents] == [5, 1]
    assert content(doc)[1:] == (
        {(0, 2, "ORG"), (1, 2, "WORD"), (3, 4, "ORG_x"), (5, 6, "Span")},
        {(0, 2, 3, 4, "owns"), (1, 2, 3, 4, "is")},
    )
    assert +report.not_kept == {"layer POS": 3, "note of Span": 1}


def test_without_layers_nothing_is_known(tmp_path):
    ((doc,), _) = read(written(tmp_path, "#FORMAT=WebAnno TSV 3.2\n\n#Text=a\n1-1\t0-1\ta\n"))
    assert not doc.has_annotation("ENT_IOB")
    assert not has_graph(doc, RELATIONS)


def test_a_part_of_a_token(tmp_path):
    """Its place counts characters as Java does."""
    text = HEADER + "#Text=𝔘nion\n1-1\t0-6\t𝔘nion\t_\t_\t_\t_\t_\t\n"
    path = written(tmp_path, text + "1-1.1\t2-4\tni\t_\tORG\t_\t_\t_\t\n")
    with pytest.raises(FormatError, match=r"\[1, 3\) ORG 'ni' cuts a token of '𝔘nion'; --snap"):
        read(path)
    ((doc,), report) = read(path, snap=True)
    assert content(doc)[1] == {(0, 1, "ORG")}
    assert report.snapped == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("#FORMAT=WebAnno TSV 3.3", "#FORMAT=x", r":1: the first line must begin with #FORMAT=Web"),
        ("|BT_custom.Span", "", r":4: the relation custom.Relation must end in \|BT_"),
        ("1-3\t10-16", "1-3\tx", r":10: wanted 1-1, 0-4, a token and 5 more cells"),
        ("VERB\t_\t_\t", "VERB\t_\t", r":10: 7 cells between tabs; the header's layers make it 8"),
        ("ORG[1]|WORD", "PER[1]|WORD", r":9: annotation 1 of Span is PER and ORG"),
        ("ORG[1]|WORD", "ORG[x", r":9: 'ORG\[x' is no value with a number"),
        ("1-1[1_0]|1-2", "1-1[1_0]", r":11: as many relations as beginnings"),
        ("1-1[1_0]|1-2", "1-1[1_0]|x", r":11: a relation begins at 1-1 or 1-1\[1_2\], not 'x'"),
        ("1-1[1_0]|1-2", "1-1[7_0]|1-2", r"a relation names .*\[7\].*, which is no entity"),
        ("1-4.1\t17-21", "1-4.1\t1-3", r":12: 1-4.1 is no part of the token before"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    assert old in HEADER + BANK
    path = written(tmp_path, (HEADER + BANK).replace(old, new, 1))
    with pytest.raises(FormatError, match=message):
        read(path)
    docs, report = read(path, skip_bad=True)
    assert (docs, len(report.errors)) == ([], 1)


def test_a_folder_without_such_files(tmp_path):
    with pytest.raises(FormatError, match=r"no file in this folder ends in \.tsv"):
        read(tmp_path)


def test_a_hundred_texts_there_and_back(tmp_path):
    docs = made_docs(100, Vocab())
    write_docbin(docs, tmp_path / "a.spacy")
    (job,) = plan([tmp_path / "a.spacy"], tmp_path / "tsv", to="webanno")
    result = convert(job, {})
    assert len(result.files) == 100
    assert not +result.lost
    again, _ = read(tmp_path / "tsv")
    assert list(map(content, again)) == list(map(content, docs))
    starts = [[token.is_sent_start for token in doc] for doc in docs]
    assert [[token.is_sent_start for token in doc] for doc in again] == starts


def test_blanks_are_left_out():
    doc = Doc(Vocab(), words=["a", "\n", "b"], spaces=[False, False, False])
    assert "1-1\t0-1\ta\t\n1-2\t2-3\tb\t\n" in webanno_files(doc)[".tsv"]
    with pytest.raises(ValueError, match="a Doc without words"):
        webanno_files(Doc(Vocab(), words=["\n"]))


def test_a_failed_conversion_leaves_no_folder(tmp_path):
    write_docbin([Doc(Vocab(), words=["a"]), Doc(Vocab(), words=["\n"])], tmp_path / "a.spacy")
    (job,) = plan([tmp_path / "a.spacy"], tmp_path / "tsv", to="webanno")
    with pytest.raises(ValueError, match="a Doc without words"):
        convert(job, {})
    assert [path.name for path in tmp_path.iterdir()] == ["a.spacy"]


@pytest.mark.parametrize("seed", range(40))
def test_mistakes_are_told(tmp_path, seed):
    """Files that were changed by chance are read, or it is said where they are wrong."""
    chance = random.Random(seed)
    text = HEADER + BANK
    for _ in range(chance.choice([1, 2, 4])):
        at = chance.randrange(len(text))
        text = (
            text[:at]
            + chance.choice(["", "\t", "|", "[", "]", "\\", "9", "\n", "*"])
            + (text[at + chance.randrange(3) :])
        )
    path = written(tmp_path, text)
    try:
        read(path, snap=True)
    except FormatError as error:
        assert str(error).startswith(str(path))
