"""brat's standoff annotation: marks, relations, events as frames; there and back."""

import random
from pathlib import Path

import pytest
from factories import gold_docs
from made_texts import content, made_docs
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import FRAMES, RELATIONS, frames_of, has_graph
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.convert.plan import plan
from spacy_biaffine.formats.convert.run import convert
from spacy_biaffine.formats.forms import form_named, form_of
from spacy_biaffine.formats.tools.brat import brat
from spacy_biaffine.formats.tools.brat_write import brat_files
from spacy_biaffine.formats.tools.texts import ToolReport

TEXT = "North and South Bank moved\nto Oslo ."
MARKS = """\
T1\tOrg 0 5;16 20\tNorth Bank
T2\tOrg 10 20\tSouth Bank
T3\tMove 21 26\tmoved
T4\tLoc 30 34\tOslo
R1\tNear Arg1:T2 Arg2:T4
E1\tMove:T3 Theme:T1 Theme2:T2 Goal1:T4
A1\tNegation E1
N1\tReference T4 Wiki:1\tOslo
#1\tAnnotatorNotes T4\ta note
*\tEquiv T1 T2
"""


def written(folder: Path, marks: str | None, text: str | None = TEXT, name: str = "a") -> Path:
    folder.mkdir(exist_ok=True)
    for ending, lines in ((".txt", text), (".ann", marks)):
        if lines is not None:
            path = folder / f"{name}{ending}"
            path.write_text(lines, encoding="utf-8", newline="")
    return folder


def read(path: Path, **options) -> tuple[list[Doc], ToolReport]:
    report = ToolReport()
    return list(brat([path], "en", report, **options)), report


def shown(doc: Doc) -> list[tuple[str, str | None, list[tuple[str, list[str]]]]]:
    return [
        (
            " ".join(map(str, frame.predicate)),
            frame.sense,
            [(role.label, [span.text for span in role.spans]) for role in frame.roles],
        )
        for frame in frames_of(doc)
    ]


def test_marks_relations_and_events(tmp_path):
    ((doc,), report) = read(written(tmp_path, MARKS))
    assert doc.text == TEXT
    entities = {(span.text, span.label_) for span in doc.spans["entities"]}
    assert entities == {("North and South Bank", "Org"), ("South Bank", "Org"), ("Oslo", "Loc")}
    relations = [(each.head.text, each.label, each.tail.text) for each in doc._.relations]
    assert relations == [("South Bank", "Near", "Oslo")]
    themes = [("Theme", ["North", "Bank"]), ("Theme", ["South Bank"])]
    assert shown(doc) == [("moved", "Move", [*themes, ("Goal1", ["Oslo"])])]
    counted = {"attributes": 1, "normalizations": 1, "notes": 1, "equivalences": 1}
    assert report.not_kept == counted
    assert report.doubtful == {"entities whose pieces are apart, joined": 1}


def test_pieces_can_be_entities_each(tmp_path):
    ((doc,), report) = read(written(tmp_path, MARKS), split_pieces=True)
    entities = [span.text for span in doc.spans["entities"]]
    assert entities == ["North", "South Bank", "Bank", "Oslo"]
    assert report.doubtful == {"entities whose pieces are apart, split": 1}


def test_what_no_file_has_is_unknown(tmp_path):
    """A text without .ann is not annotated; relations are known if any file has one."""
    written(tmp_path, "T1\tLoc 30 34\tOslo\n", name="b")
    written(tmp_path, None, name="c")
    (b, c), report = read(tmp_path)
    assert not has_graph(b, RELATIONS)
    assert not has_graph(b, FRAMES)
    assert not c.has_annotation("ENT_IOB")
    assert report.passed_over == {"without .ann, so not annotated": 1}
    written(tmp_path, MARKS, name="a")
    (_, b, c), _ = read(tmp_path)
    assert b._.relations == []
    assert has_graph(b, RELATIONS)
    assert has_graph(b, FRAMES)
    assert not has_graph(c, RELATIONS)


def test_nested_events_and_relations_of_triggers(tmp_path):
    marks = MARKS + "T9\tCause 27 29\tto\nE2\tCause:T9 Of:E1\nR2\tWith Arg1:E2 Arg2:T4\n"
    ((doc,), _) = read(written(tmp_path, marks))
    assert shown(doc)[1] == ("to", "Cause", [("Of", ["moved"])])
    assert ("to", "Cause") in {(span.text, span.label_) for span in doc.spans["entities"]}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("T4\tLoc", "T4 Loc", r"a\.ann:4: wanted T1, a tab, TYPE START END"),
        ("Arg1:T2", "T2", r"a\.ann:5: wanted R1, a tab"),
        ("Move:T3", "T3", r"a\.ann:6: wanted E1, a tab"),
        ("Arg1:T2", "Arg1:T8", r"a\.ann:5: 'T8' is named here, and nowhere marked"),
        ("Theme:T1", "Theme:E7", r"a\.ann:6: 'E7' is named here"),
        ("T2\tOrg 10", "T1\tOrg 10", r"a\.ann:2: T1 is there twice"),
        ("Oslo\nR1", "Bergen\nR1", r"a\.ann:4: \[30, 34\) is 'Oslo' in the text, not 'Bergen'"),
        ("30 34", "30 99", r"a\.ann"),
        ("30 34", "34 30", r"a\.ann"),
        ("T4\tLoc 30 34\tOslo", "T4\tLoc 30 33", r"cuts a token of 'Oslo'; --snap"),
        ("*\tEquiv", "?\tEquiv", r"a\.ann:10: no line of brat"),
    ],
)
def test_bad_files(tmp_path, old, new, message):
    assert old in MARKS
    folder = written(tmp_path, MARKS.replace(old, new, 1))
    with pytest.raises(FormatError, match=message):
        read(folder)
    docs, report = read(folder, skip_bad=True)
    assert (docs, len(report.errors)) == ([], 1)


def test_files_that_lack_each_other(tmp_path):
    with pytest.raises(FormatError, match=r"no \.txt and no \.ann in this folder"):
        read(tmp_path)
    with pytest.raises(FormatError, match=r"a\.txt: a\.ann has no text beside it"):
        read(written(tmp_path, MARKS, None))


def test_bytes_that_are_not_utf8(tmp_path):
    folder = written(tmp_path, "T1\tLoc 2 6\tOslo\n", "")
    (folder / "a.txt").write_bytes("é Oslo".encode("latin-1"))
    with pytest.raises(FormatError, match=r"a\.txt:1: not UTF-8 \(byte 0xE9 at column 1\)"):
        read(folder)
    ((doc,), _) = read(folder, encoding="latin-1")
    assert [span.text for span in doc.ents] == ["Oslo"]


def test_a_hundred_texts_there_and_back(tmp_path):
    docs = [doc for doc in made_docs(300, Vocab()) if can_be_tokenized(doc)][:100]
    write_docbin(docs, tmp_path / "a.spacy")
    (job,) = plan([tmp_path / "a.spacy"], tmp_path / "brat", to="brat")
    result = convert(job, {})
    assert len(result.files) == 200
    assert set(+result.lost) == {"sentences"}
    assert form_of(tmp_path / "brat") is form_named("brat")
    again, _ = read(tmp_path / "brat")
    assert list(map(places, again)) == list(map(places, docs))


def can_be_tokenized(doc: Doc) -> bool:
    """Whether entities begin and end at blanks, where a tokenizer cuts for certain."""
    spans = doc.spans["entities"]
    return len(doc) > 3 and all(
        " " in (doc.text + " ")[span.end_char] and " " in (" " + doc.text)[span.start_char]
        for span in spans
    )


def places(doc: Doc) -> tuple[str, set, set]:
    """Entities and relations by characters."""
    entities = {(span.start_char, span.end_char, span.label_) for span in doc.spans["entities"]}
    ends = [(each.head, each.tail, each.label) for each in doc._.relations]
    relations = {
        (head.start_char, head.end_char, tail.start_char, tail.end_char, label)
        for head, tail, label in ends
    }
    return doc.text, entities, relations


def test_frames_there_and_back(tmp_path):
    docs = gold_docs(Vocab())
    for doc in docs:
        doc.spans["entities"] = list(doc.ents)
    write_docbin(docs, tmp_path / "a.spacy")
    (job,) = plan([tmp_path / "a.spacy"], tmp_path / "brat", to="brat")
    convert(job, {})
    (job,) = plan([tmp_path / "brat"], tmp_path / "b.spacy")
    convert(job, {}, lang="en")
    again = list(read_docbin(tmp_path / "b.spacy", Vocab()))
    assert list(map(shown, again)) == list(map(shown, docs))


def test_labels_that_brat_cannot_hold():
    doc = Doc(Vocab(), words=["Oslo"])
    for label in ("a b", "a:b"):
        doc.spans["entities"] = [Span(doc, 0, 1, label)]
        with pytest.raises(ValueError, match=f"brat has no place for the label '{label}'"):
            brat_files(doc)
    assert brat_files(Doc(Vocab(), words=["Oslo"])) == {".txt": "Oslo "}


@pytest.mark.parametrize("seed", range(40))
def test_mistakes_are_told(tmp_path, seed):
    """Files that were changed by chance are read, or it is said where they are wrong."""
    chance = random.Random(seed)
    marks = MARKS
    for _ in range(chance.choice([1, 2, 4])):
        at = chance.randrange(len(marks))
        new = chance.choice(["", "\t", " ", ";", ":", "9", "\n", "T", "E1", "\0"])
        marks = marks[:at] + new + marks[at + chance.randrange(3) :]
    try:
        read(written(tmp_path, marks), snap=True)
    except FormatError as error:
        assert str(error).startswith(str(tmp_path))


def test_content_of_made_texts_is_rich():
    docs = made_docs(100, Vocab())
    assert sum(len(content(doc)[2]) for doc in docs) > 100
