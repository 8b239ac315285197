"""Files with entities: JSON lines and token columns, good and bad ones."""

import json
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_biaffine.cli import app
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.corpora.entities import EntityColumnsCorpus, EntityJsonCorpus
from spacy_biaffine.formats.entities.api import (
    Columns,
    EntityReport,
    by_character,
    cluener_offsets,
    offsets_of,
    read_columns,
    read_entities_json,
    write_entities_json,
)


@pytest.fixture
def nlp():
    return spacy.blank("en")


@pytest.fixture
def write(tmp_path):
    def to_file(content: str | bytes, name: str = "in.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def lines(*records) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def triples(spans) -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in spans]


def read_json(path, nlp, form=offsets_of, tokenize=None, **options) -> list[Doc]:
    return list(read_entities_json(path, tokenize or nlp.make_doc, form, **options))


# JSON lines


def test_exclusive_ends(nlp, write):
    path = write(
        "\ufeff"
        + lines(
            {"text": "Lake Como froze", "entities": [[0, 9, "LOC"]]},
            {"text": "Oslo", "entities": [{"start": 0, "end": 4, "label": "LOC", "text": "Oslo"}]},
            {"text": "No names here.", "entities": []},
        )
        + "\r\n"
        + lines({"text": "Not annotated, Oslo.", "id": 3})
    )
    docs = read_json(path, nlp)
    assert [triples(doc.ents) for doc in docs] == [
        [("Lake Como", "LOC")],
        [("Oslo", "LOC")],
        [],
        [],
    ]
    assert [doc.has_annotation("ENT_IOB") for doc in docs] == [True, True, True, False]


def test_cluener_has_inclusive_ends(nlp, write):
    record = {
        "text": "彭小军在台湾 2号",
        "label": {"address": {"台湾": [[4, 5]]}, "name": {"彭小军": [[0, 2]]}},
    }
    path = write(lines(record, {"id": 0, "text": "四川"}))
    doc, other = read_json(path, nlp, cluener_offsets, by_character(nlp.vocab))
    assert triples(doc.ents) == [("彭小军", "name"), ("台湾", "address")]
    assert [token.text for token in doc] == list("彭小军在台湾2号")
    assert doc.text == record["text"]
    assert not other.has_annotation("ENT_IOB")


def test_surface_of_an_inclusive_end_is_an_error_with_both_strings(nlp, write):
    entity = {"start": 0, "end": 8, "label": "LOC", "text": "Lake Como"}
    path = write("\n" + lines({"text": "Lake Como froze", "entities": [entity]}))
    with pytest.raises(FormatError, match=r"in\.txt:2: .*'Lake Com' in the text.*'Lake Como'"):
        read_json(path, nlp)


BAD = {
    "cuts a token": ([0, 3, "X"], r"cuts a token of 'Oslo'.*--snap"),
    "blank edge": ([0, 5, "X"], r"begins or ends with a blank"),
    "empty": ([2, 2, "X"], r"is not in the text, which has 10 characters"),
    "behind the end": ([5, 11, "X"], r"is not in the text"),
    "before the start": ([-1, 4, "X"], r"is not in the text"),
    "no number": ([0, "4", "X"], r"whole numbers"),
    "no label": ([0, 4, ""], r"label must be a string"),
    "blank label": ([0, 4, "X "], r"label must be a string without blanks around it"),
    "too short": ([0, 4], r"must be \[start, end, label\] or an object, not \[0, 4\]"),
    "too long": ([0, 4, "X", 0.9], r"must be \[start, end, label\] or an object"),
    "no entity": (3, r"must be \[start, end, label\] or an object, not 3"),
    "no end": ({"start": 0, "label": "X"}, r"has no end"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_entities(nlp, write, kind):
    entity, message = BAD[kind]
    path = write(lines({"text": "a b"}, {"text": "Oslo fjord", "entities": [entity]}))
    with pytest.raises(FormatError, match=rf"in\.txt:2: .*{message}"):
        read_json(path, nlp)
    report = EntityReport()
    assert len(read_json(path, nlp, skip_bad=True, report=report)) == 1
    assert sum(report.skipped.values()) == len(report.errors) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ("[1]", "must be an object"),
        ('{"text": 3}', "must be an object"),
        (b'{"text": "\xff"}', "not UTF-8"),
        (lines({"text": "a", "label": {}}), 'has "label" and no "entities"'),
    ],
)
def test_bad_lines(nlp, write, content, message):
    with pytest.raises(FormatError, match=rf"in\.txt:1: .*{message}"):
        read_json(write(content), nlp)


def test_the_other_form_is_not_guessed(nlp, write):
    path = write(lines({"text": "Oslo", "entities": [[0, 4, "X"]]}))
    with pytest.raises(FormatError, match='has "entities" and no "label"'):
        read_json(path, nlp, cluener_offsets)


def test_snap(nlp, write):
    record = {"text": "The Oslo  fjord.", "entities": [[5, 6, "A"], [3, 10, "B"], [10, 15, "C"]]}
    report = EntityReport()
    (doc,) = read_json(write(lines(record)), nlp, snap=True, spans_key="sc", report=report)
    assert triples(doc.spans["sc"]) == [("Oslo", "A"), ("Oslo", "B"), ("fjord", "C")]
    assert (report.snapped, report.entities) == (2, 3)
    blank = write(lines({"text": "a  b", "entities": [[1, 3, "A"]]}))
    with pytest.raises(FormatError, match="blank"):
        read_json(blank, nlp, snap=True)


def test_overlap_needs_a_group(nlp, write):
    path = write(lines({"text": "Bank of Ghana", "entities": [[8, 13, "LOC"], [0, 13, "ORG"]]}))
    with pytest.raises(FormatError, match=r":1: .*'Bank of Ghana' ORG and 'Ghana' LOC overlap"):
        read_json(path, nlp)
    (doc,) = read_json(path, nlp, spans_key="sc")
    assert triples(doc.spans["sc"]) == [("Bank of Ghana", "ORG"), ("Ghana", "LOC")]
    assert not doc.has_annotation("ENT_IOB")


@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_json_round_trip(nlp, write, tmp_path, spans_key):
    records = [
        {"text": "Bank of  Ghana, Oslo", "entities": [[0, 7, "ORG"], [16, 20, "LOC"]]},
        {"text": "nothing", "entities": []},
        {"text": "unknown"},
    ]
    docs = read_json(write(lines(*records)), nlp, spans_key=spans_key)
    kept = list(DocBin(docs=docs).get_docs(nlp.vocab))
    report = write_entities_json(kept, tmp_path / "out.jsonl", spans_key=spans_key)
    assert (report.texts, report.entities) == (3, 2)
    written = (tmp_path / "out.jsonl").read_text(encoding="utf8").splitlines()
    assert [json.loads(line) for line in written] == records


def test_partial_annotation_is_not_written_as_whole(nlp, tmp_path):
    doc = Doc(nlp.vocab, words=["a", "b", "\n"], ents=["B-X", "", ""])
    with pytest.raises(ValueError, match="Doc 2 is annotated in part"):
        write_entities_json([nlp("a"), doc], tmp_path / "out.jsonl")
    assert not list(tmp_path.iterdir())
    doc.set_ents(doc.ents, outside=[doc[1:2]], default="unmodified")
    write_entities_json([nlp("a"), doc], tmp_path / "out.jsonl")


def test_characters_of_any_text():
    tokenize = by_character(Vocab())
    for text in ("", " ", "a", "  a\nb ", "中 文\u3000x", "\u200b"):
        assert tokenize(text).text == text


# Columns


def columns(write, content, *settings, name="in.txt", **options) -> list[Doc]:
    return list(read_columns(write(content, name), Vocab(), Columns(*settings), **options))


WNUT = "Green\tB-location\nNewsfeed\tI-location\n\t\n@x\tO\nTesla\tI-corp\nAI\tB-corp\n\n\n"


def test_flat_columns_with_tabs_on_separator_lines(write):
    report = EntityReport()
    docs = columns(write, WNUT, report=report)
    assert [triples(doc.ents) for doc in docs] == [
        [("Green Newsfeed", "location")],
        [("Tesla", "corp"), ("AI", "corp")],
    ]
    assert (report.texts, report.entities, report.stray) == (2, 3, 1)


def test_several_sentences_to_a_doc(write):
    for crlf in (WNUT, WNUT.replace("\n", "\r\n")):
        (doc,) = columns(write, crlf, n_sents=0)
        assert [sent.text for sent in doc.sents] == ["Green Newsfeed", "@x Tesla AI"]
        assert len(doc.ents) == 3
    assert [len(list(d.sents)) for d in columns(write, WNUT * 2 + WNUT[:17], n_sents=2)] == [
        2,
        2,
        1,
    ]


LITBANK = "Lord\tB-PER\tB-PER\tO\t\nChancellor\tO\tI-PER\tO\t\n\n.\tO\tO\tO\t\n"


@pytest.mark.parametrize("n_sents", [1, 0])
def test_nested_columns(write, n_sents):
    docs = columns(write, LITBANK, 0, 1, None, True, spans_key="sc", n_sents=n_sents)
    assert triples(docs[0].spans["sc"]) == [("Lord Chancellor", "PER"), ("Lord", "PER")]
    assert all("sc" in doc.spans for doc in docs)
    assert sum(len(doc) for doc in docs) == 3


def test_a_group_without_spans_is_kept_in_joined_docs(write):
    (doc,) = columns(write, "a\tO\n\nb\tO\n", n_sents=0, spans_key="sc")
    assert len(doc.spans["sc"]) == 0


def test_the_order_of_levels_is_declared_and_checked(write):
    with pytest.raises(ValueError, match="innermost"):
        Columns(levels=2)
    with pytest.raises(FormatError, match=r"in\.txt:1: 'Lord' is inside 'Lord Chancellor'.*outer"):
        columns(write, LITBANK, 0, 1, None, False, spans_key="sc")
    outer_first = "Bank\tB-ORG\tO\nof\tI-ORG\tO\nGhana\tI-ORG\tB-LOC\n"
    (doc,) = columns(write, outer_first, 0, 1, 2, False, spans_key="sc")
    assert len(doc.spans["sc"]) == 2
    with pytest.raises(FormatError, match=r"'Ghana' is inside 'Bank of Ghana'.*not innermost"):
        columns(write, outer_first, 0, 1, 2, True, spans_key="sc")


def test_two_labels_of_a_span_are_kept(write):
    for labels, innermost_first in (("LOC ORG", False), ("ORG LOC", True)):
        content = "AIA\tB-{}\tB-{}\n".format(*labels.split())
        (doc,) = columns(write, content, 0, 1, 2, innermost_first, spans_key="sc")
        assert triples(doc.spans["sc"]) == [("AIA", "LOC"), ("AIA", "ORG")]


def test_nested_columns_need_a_group(write):
    with pytest.raises(FormatError, match=r":1: .*overlap: doc.ents can't hold both"):
        columns(write, LITBANK, 0, 1, None, True)


def test_comments_and_other_columns(write):
    content = "# sent_id = 1\n# text = # x\n1\t#\tO\t-\t-\n2\tOslo\tB-LOC\t-\tme\n"
    (doc,) = columns(write, content, 1, 2)
    assert [token.text for token in doc] == ["#", "Oslo"]
    assert triples(doc.ents) == [("Oslo", "LOC")]


@pytest.mark.parametrize("tags", ["B-X E-X S-X O", "B-X L-X U-X O"])
def test_bioes_and_biluo(write, tags):
    content = "".join(f"w{n}\t{tag}\n" for n, tag in enumerate(tags.split()))
    (doc,) = columns(write, content)
    assert triples(doc.ents) == [("w0 w1", "X"), ("w2", "X")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tO\nb\n", "2: 1 columns where 2"),
        ("a O\n", "1: 1 columns where 2"),
        ("a\tO\nb\tX-PER\n", "2: 'X-PER' is no tag"),
        ("a\tB-\n", "1: 'B-' is no tag"),
        ("a\tPER\n", "1: 'PER' is no tag"),
        ("a\tB-PER \n", "1: 'B-PER ' is no tag"),
        ("x\tO\n\n \tO\n", "3: the token is empty"),
    ],
)
def test_bad_columns(write, content, message):
    with pytest.raises(FormatError, match=rf"in\.txt:{message}"):
        columns(write, content)
    report = EntityReport()
    columns(write, content, skip_bad=True, report=report)
    assert len(report.errors) == 1


@pytest.mark.parametrize(
    "settings", [{"token_column": 0}, {"tag_column": 0}, {"levels": -1, "innermost_first": True}]
)
def test_columns_count_from_one(write, settings):
    with pytest.raises(ValueError, match="the first column is 1"):
        EntityColumnsCorpus(write("a\tO\n"), **settings)


def test_fewer_than_no_sentences(write):
    with pytest.raises(ValueError, match="n_sents must be 0 or more, not -1"):
        columns(write, WNUT, n_sents=-1)


def test_ragged_levels_are_an_error(write):
    with pytest.raises(FormatError, match=r":2: 2 columns where 3"):
        columns(write, "a\tO\tO\nb\tO\n", 0, 1, None, True, spans_key="sc")


def test_empty_files(write, nlp):
    assert columns(write, "\n\t\n") == read_json(write("\n \n"), nlp) == []


# Readers and the command


def test_corpora(nlp, write):
    path = write(
        lines({"text": "Oslo", "entities": [[0, 4, "X"]]}, {"text": "a", "entities": [[]]})
    )
    with pytest.warns(UserWarning, match="left out"):
        (example,) = EntityJsonCorpus(path, skip_bad=True)(nlp)
    assert triples(example.reference.ents) == [("Oslo", "X")]
    assert example.predicted.ents == ()
    chinese = write(lines({"text": "台湾", "label": {"X": {"台湾": [[0, 1]]}}}))
    (example,) = EntityJsonCorpus(chinese, cluener=True, characters=True)(nlp)
    assert len(example.predicted) == 2
    folder = write(WNUT, "b.tsv").parent / "folder"
    folder.mkdir()
    for name in "ab":
        (folder / name).write_text(WNUT, encoding="utf8")
    corpus = EntityColumnsCorpus(folder, n_sents=0, given=["sents"])
    assert [len(list(eg.predicted.sents)) for eg in corpus(nlp)] == [2, 2]
    assert len(list(EntityColumnsCorpus(folder, limit=3)(nlp))) == 3


def run(*arguments) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["convert-entities", *map(str, arguments)])
    return result.exit_code, result.output


def test_command(write, tmp_path):
    source = write(LITBANK)
    target = tmp_path / "out.spacy"
    options = ["--form", "columns", "--levels", 0, "--innermost-first", "--spans-key", "sc"]
    code, output = run(source, target, *options)
    assert code == 0
    assert "entities" in output
    code, _ = run(target, tmp_path / "back.jsonl", "--spans-key", "sc")
    assert code == 0
    first = json.loads((tmp_path / "back.jsonl").read_text(encoding="utf8").splitlines()[0])
    assert first["entities"] == [[0, 15, "PER"], [0, 4, "PER"]]
    code, _ = run(tmp_path / "back.jsonl", target, "--form", "json", "--spans-key", "sc")
    assert code == 0


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--form", "columns", "--levels", 2],
        ["--form", "json"],
        ["--form", "cluener"],
        ["--form", "json", "--lang", "qq"],
    ],
)
def test_command_fails_with_a_message_and_leaves_nothing(write, tmp_path, options):
    code, output = run(write(LITBANK), tmp_path / "out.spacy", *options)
    assert code == 1
    assert output.strip()
    assert [file.name for file in tmp_path.iterdir()] == ["in.txt"]
