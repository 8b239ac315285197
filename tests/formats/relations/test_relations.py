"""Files with relations: SpERT, SciERC, CoNLL04, token graphs; good and bad ones."""

import json
from pathlib import Path

import pytest
from relation_cases import arcs, docs_in, relations, run, spans
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import DEP_GRAPH, RELATIONS, has_graph
from spacy_biaffine.formats.common.lines import FormatError
from spacy_biaffine.formats.relations.api import (
    RelationReport,
    identifier_of,
    read_conll04,
    read_ids,
    read_scierc,
    read_spert,
    read_token_graphs,
    write_spert,
)

PORT = {
    "tokens": ["Port", "of", "Oslo", "hosts", "ferries"],
    "entities": [
        {"type": "ORG", "start": 0, "end": 3},
        {"type": "LOC", "start": 2, "end": 3},
        {"type": "SHIP", "start": 4, "end": 5},
    ],
    "relations": [
        {"type": "in", "head": 0, "tail": 1},
        {"type": "hosts", "head": 0, "tail": 2},
        {"type": "in", "head": 0, "tail": 1},
    ],
    "orig_id": 17,
}
SAILS = {"tokens": ["It", "sails", "."], "entities": [], "relations": []}

ABSTRACT = {
    "doc_key": "A1",
    "clusters": [],
    "sentences": [["We", "rest", "."], ["Fast", "parsers", "use", "trees", "."]],
    "ner": [[], [[3, 4, "Method"], [4, 4, "Generic"], [6, 6, "Material"]]],
    "relations": [[], [[6, 6, 3, 4, "USED-FOR"], [4, 4, 6, 6, "COMPARE"]]],
}

WORKE = """\
#doc 2050
0\tAbebe\tB-Peop\t['N']\t[0]
1\tWorke\tI-Peop\t['Work_For', 'Live_In']\t[4, 7]
2\tof\tO\t['N']\t[2]
3\tHigh\tB-Org\t['N']\t[3]
4\tCourt\tI-Org\t['N']\t[4]
5\tin\tO\t['N']\t[5]
6\tAddis\tI-Loc\t['N']\t[6]
7\tAbeba\tI-Loc\t['N']\t[7]
#doc 2051
0\tYes\tO\t['N']\t[0]
1\t.\tO\t['N']\t[1]
"""

RECIPE = {
    "words": ["Chop", "red", "onions", "and", "fry"],
    "pos_tags": ["B-A", "B-F", "I-F", "O", "no_label"],
    "head_indices": [0, 3, [1, 5], 0, 0],
    "head_tags": ["root", "part", ["targ", "targ"], "root", "root"],
}


@pytest.fixture
def write(tmp_path):
    def to_file(content: str, name: str = "in.txt") -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf8")
        return path

    return to_file


def read(reader, path: Path, **options) -> list[Doc]:
    return list(reader(path, Vocab(), **options))


# SpERT


@pytest.mark.parametrize(
    "content",
    [
        json.dumps([PORT, SAILS]),
        json.dumps([PORT, SAILS], indent=2),
        f"{json.dumps(PORT)}\n\n{json.dumps(SAILS)}",
        f"\ufeff{json.dumps(PORT)}\r\n{json.dumps(SAILS)}\r\n",
    ],
    ids=["array", "indented array", "lines", "other lines"],
)
def test_spert(write, content):
    report = RelationReport()
    port, sails = read(read_spert, write(content), report=report)
    assert spans(port) == [("Port of Oslo", "ORG"), ("Oslo", "LOC"), ("ferries", "SHIP")]
    assert [(e.text, e.label_) for e in port.ents] == [("Port of Oslo", "ORG"), ("ferries", "SHIP")]
    assert relations(port) == [("Port of Oslo", "in", "Oslo"), ("Port of Oslo", "hosts", "ferries")]
    assert identifier_of(port, "entities") == 17
    assert len(list(port.sents)) == 1
    assert sails.spans["entities"].attrs == {}
    assert has_graph(sails, RELATIONS)
    assert sails.has_annotation("ENT_IOB")
    assert (report.texts, report.entities, report.relations, report.repeated) == (2, 3, 2, 1)


def test_spert_without_annotation(write):
    bare, named = read(
        read_spert,
        write(json.dumps([{"tokens": ["a"]}, {"tokens": ["a"], "entities": []}])),
        spans_key="sc",
    )
    assert not bare.spans
    assert not bare.has_annotation("ENT_IOB")
    assert list(named.spans) == ["sc"]


def test_back_to_spert(write, tmp_path):
    docs = read(read_spert, write(json.dumps([PORT, SAILS])))
    stored = DocBin(docs=docs).to_bytes()
    path = tmp_path / "new" / "out.json"
    assert write_spert(DocBin().from_bytes(stored).get_docs(Vocab()), path) == 2
    assert json.loads(path.read_text(encoding="utf8")) == [
        {**PORT, "relations": PORT["relations"][:2]},
        SAILS,
    ]


def test_back_to_spert_with_entities_that_only_relations_name(tmp_path, write):
    (doc,) = read(read_spert, write(json.dumps([PORT])))
    del doc.spans["entities"]
    path = tmp_path / "out.json"
    write_spert([doc, Doc(doc.vocab, words=["a"])], path)
    first, second = json.loads(path.read_text(encoding="utf8"))
    assert first["entities"] == PORT["entities"]
    assert second == {"tokens": ["a"], "entities": []}
    write_spert([], path)
    assert json.loads(path.read_text(encoding="utf8")) == []


def broken(**changes) -> str:
    return json.dumps({**PORT, **changes})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", r"in\.txt:1: this is no JSON"),
        ("[1]", r"in\.txt:1 \(object 0\): 1 is no JSON object"),
        (f"[\n{broken()}\n{broken()}]", r"in\.txt:2 \(object 0\): .* goes on without"),
        (f"[\n{broken()},\n{{", r"in\.txt:3 \(object 1\): this is no JSON"),
        (f"[{broken()},\n{broken(tokens=[1])}]", r"in\.txt:2 \(object 1\): the tokens must be"),
        (broken(tokens="Oslo"), "the tokens must be"),
        (broken(tokens=["a", " "]), "none blank"),
        (broken(entities=[{"type": "X", "start": 0, "end": 6}]), r"\[0, 6\) 'X' is not in the 5"),
        (broken(entities=[{"type": "X", "start": 1, "end": 1}]), r"\[1, 1\) 'X' is not in the 5"),
        (broken(entities=[{"type": "", "start": 0, "end": 1}]), "type must be a string"),
        (broken(entities=[{"type": "X ", "start": 0, "end": 1}]), "blanks around it, not 'X '"),
        (broken(entities=[{"type": "X", "start": "0", "end": 2}]), "entities need type"),
        (broken(entities=[{"start": 0, "end": 1}]), "entities need type"),
        (broken(entities=[[0, 1]]), "entities need type"),
        (
            broken(relations=[{"type": "x", "head": 0, "tail": 3}]),
            "names entity 3, but there are 3",
        ),
        (broken(relations=[{"type": "x", "head": -1, "tail": 2}]), "names entity -1"),
        (broken(relations=[{"type": "x", "head": 0}]), "relations type, head and tail"),
        (broken(relations=[{"type": None, "head": 0, "tail": 1}]), "a relation's type must be"),
        (broken(relations=[{"type": "", "head": 0, "tail": 1}]), "a relation's type .* not ''"),
        (broken(relations=[{"type": " x", "head": 0, "tail": 1}]), "a relation's type .* not ' x'"),
    ],
)
def test_bad_spert(write, content, message):
    with pytest.raises(FormatError, match=message):
        read(read_spert, write(content))


def test_skip_bad(write):
    report = RelationReport()
    bad = broken(entities=[{"type": "X", "start": 0, "end": 6}])
    docs = read(
        read_spert, write(f"{broken()}\n{{\n{bad}\n{broken()}"), skip_bad=True, report=report
    )
    assert len(docs) == 2
    assert report.skipped == {"json": 1, "entity": 1}
    assert [str(error).split(": ")[0][-5:] for error in report.errors] == ["txt:2", "txt:3"]


# SciERC


def test_scierc(write):
    report = RelationReport()
    (doc,) = read(read_scierc, write(json.dumps(ABSTRACT)), report=report)
    assert [sent.text for sent in doc.sents] == ["We rest .", "Fast parsers use trees ."]
    assert spans(doc) == [("Fast parsers", "Method"), ("parsers", "Generic"), ("trees", "Material")]
    assert [e.text for e in doc.ents] == ["Fast parsers", "trees"]
    assert relations(doc) == [
        ("parsers", "COMPARE", "trees"),
        ("trees", "USED-FOR", "Fast parsers"),
    ]
    assert identifier_of(doc, "entities") == "A1"
    assert (report.texts, report.entities, report.relations) == (1, 3, 2)


def test_scierc_sentences_with_relations(write):
    path = write(json.dumps(ABSTRACT))
    (sentence,) = read(read_scierc, path, related_sentences=True)
    assert sentence.text == "Fast parsers use trees . "
    assert identifier_of(sentence, "entities") == "A1:1"
    (whole,) = read(read_scierc, path)
    assert spans(sentence) == spans(whole)
    assert relations(sentence) == relations(whole)


def test_scierc_without_layers(write):
    plain = {"sentences": ABSTRACT["sentences"]}
    (doc,) = read(read_scierc, write(json.dumps(plain)))
    assert not doc.spans
    assert len(list(doc.sents)) == 2
    assert read(read_scierc, write(json.dumps(plain)), related_sentences=True) == []
    (doc,) = read(read_scierc, write(json.dumps({**plain, "ner": ABSTRACT["ner"]})))
    assert not has_graph(doc, RELATIONS)
    assert len(spans(doc)) == 3


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sentences": None}, '"sentences" must be a list of lists'),
        ({"ner": [[]]}, '"ner" is for 1 sentences, of which there are 2'),
        ({"relations": [[], 5]}, '"relations" must be a list of lists'),
        ({"ner": [[], [[3, 8, "X"]]]}, r"\[3, 9\) 'X' is not in the 8"),
        ({"ner": [[], [[3, "X"]]]}, "has no 2 numbers and a label"),
        ({"ner": [[], [["3", 4, "X"]]]}, "has no 2 numbers and a label"),
        ({"relations": [[], [[3, 3, 6, 6, "X"]]]}, "does not join two of the entities"),
        ({"relations": [[], [[3, 4, 6, 6]]]}, "has no 4 numbers"),
    ],
)
def test_bad_scierc(write, changes, message):
    path = write(json.dumps(ABSTRACT) + "\n" + json.dumps({**ABSTRACT, **changes}))
    with pytest.raises(FormatError, match=rf"in\.txt:2: .*{message}"):
        read(read_scierc, path)
    report = RelationReport()
    assert len(read(read_scierc, path, skip_bad=True, report=report)) == 1
    assert len(report.errors) == 1


def test_scierc_without_sentences(write):
    with pytest.raises(FormatError, match='no "sentences"'):
        read(read_scierc, write('{"doc_key": "A"}'))


# CoNLL04


def test_conll04(write):
    report = RelationReport()
    worke, yes = read_conll04([write(WORKE)], Vocab(), report=report)
    assert [(e.text, e.label_) for e in worke.ents] == spans(worke)
    assert spans(worke) == [("Abebe Worke", "Peop"), ("High Court", "Org"), ("Addis Abeba", "Loc")]
    assert relations(worke) == [
        ("Abebe Worke", "Work_For", "High Court"),
        ("Abebe Worke", "Live_In", "Addis Abeba"),
    ]
    assert identifier_of(worke, "entities") == "2050"
    assert has_graph(yes, RELATIONS)
    assert relations(yes) == []
    assert (report.texts, report.entities, report.relations, report.stray) == (2, 3, 2, 1)


def test_conll04_by_ids(write):
    path = write(WORKE)
    ids = write("# which is where\ntrain\t2051 7\ndev\t2050\n", "ids.txt")
    assert read_ids(ids, "dev") == ["2050"]
    (worke,) = read_conll04([path], Vocab(), ids=read_ids(ids, "dev"))
    assert worke[0].text == "Abebe"
    with pytest.raises(FormatError, match=r"in\.txt: 1 of the ids are not there: 7"):
        list(read_conll04([path], Vocab(), ids=read_ids(ids, "train")))
    with pytest.raises(FormatError, match=r"no line of ids for 'test'; there are: train, dev"):
        read_ids(ids, "test")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1\tWorke", "2\tWorke", r":3: wanted 5 columns .* the first of them 1"),
        ("\t[4, 7]", "", r":3: wanted 5 columns"),
        ("[4, 7]", "[4]", r":3: 2 labels, but 1 tokens"),
        ("[4, 7]", "[4, 5]", r":3: no entity ends at token 5"),
        ("[4, 7]", "[4, 99]", r":3: no entity ends at token 99"),
        ("[4, 7]", "[4, '7']", r":3: 'Live_In' to '7' is no label and token"),
        ("[4, 7]", "4, 7]", r":3: .* is no list"),
        ("[4, 7]", "{4}", r":3: .* is no list"),
        ("B-Peop", "Peop", r":2: 'Peop' is no tag"),
        ("['N']\t[5]", "['Kill']\t[4]", r":7: no entity ends at token 5"),
    ],
)
def test_bad_conll04(write, old, new, message):
    path = write(WORKE.replace(old, new, 1))
    with pytest.raises(FormatError, match=message):
        list(read_conll04([path], Vocab()))
    report = RelationReport()
    (yes,) = read_conll04([path], Vocab(), skip_bad=True, report=report)
    assert yes[0].text == "Yes"
    assert len(report.errors) == 1


# Token graphs


def test_token_graphs(write):
    report = RelationReport()
    (doc,) = read(read_token_graphs, write(json.dumps([RECIPE])), report=report)
    assert arcs(doc) == [(2, 1, "part"), (0, 2, "targ"), (4, 2, "targ")]
    assert spans(doc) == [("Chop", "A"), ("red onions", "F")]
    assert not has_graph(doc, RELATIONS)
    assert (report.texts, report.entities, report.arcs) == (1, 2, 3)


def test_token_graphs_with_other_tags_or_none(write):
    tagged = {**RECIPE, "pos_tags": ["VB", "JJ", "NNS", "CC", "VB"]}
    bare = {key: value for key, value in RECIPE.items() if key != "pos_tags"}
    first, second = read(read_token_graphs, write(json.dumps([tagged, bare])))
    assert [token.tag_ for token in first] == tagged["pos_tags"]
    assert arcs(second) == arcs(first)
    assert not second.has_annotation("TAG")
    assert not second.has_annotation("ENT_IOB")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"words": None}, "the tokens must be"),
        ({"head_indices": [0]}, '"head_indices" must be a list of 5'),
        ({"head_tags": None}, '"head_tags" must be a list of 5'),
        ({"pos_tags": ["O"]}, '"pos_tags" must be a list of 5'),
        ({"pos_tags": [1, 2, 3, 4, 5]}, "pos_tags must be strings"),
        ({"head_indices": [0, 6, 0, 0, 0], "head_tags": ["x"] * 5}, "word 2 has head 6"),
        ({"head_indices": [0, -1, 0, 0, 0], "head_tags": ["x"] * 5}, "word 2 has head -1"),
        ({"head_indices": [0, 1, 0, 0, 0], "head_tags": [1] * 5}, "word 2 has head 1 and label 1"),
        ({"head_tags": ["a", "b", "c", "d", "e"]}, "as many labels as heads"),
    ],
)
def test_bad_token_graphs(write, changes, message):
    with pytest.raises(FormatError, match=rf"in\.txt:1: {message}"):
        read(read_token_graphs, write(json.dumps({**RECIPE, **changes})))


# The command


def test_command(write, tmp_path):
    target = tmp_path / "out.spacy"
    first = write(json.dumps([PORT]), "a.json")
    second = write(json.dumps([SAILS]), "b.json")
    code, output = run(first, second, target, "--form", "spert")
    assert code == 0
    assert "listed again, kept once 1" in " ".join(output.split())
    assert [len(doc._.relations) for doc in docs_in(target)] == [2, 0]
    code, output = run(target, tmp_path / "back.json")
    assert code == 0
    assert "relations 2" in " ".join(output.split())
    again = read(read_spert, tmp_path / "back.json")
    assert [relations(doc) for doc in again] == [relations(doc) for doc in docs_in(target)]


def test_command_for_each_form(write, tmp_path):
    target = tmp_path / "out.spacy"
    scierc = write(json.dumps(ABSTRACT), "a.json")
    assert run(scierc, target, "--form", "scierc", "--related-sentences")[0] == 0
    assert [len(doc) for doc in docs_in(target)] == [5]
    ids = write("dev\t2050\n", "ids.txt")
    options = ["--form", "conll04", "--ids", ids, "--split", "dev", "--spans-key", "sc"]
    assert run(write(WORKE, "a.txt"), target, *options)[0] == 0
    assert [list(doc.spans) for doc in docs_in(target)] == [
        ["sc", f"spacy_biaffine.graph.{RELATIONS}"]
    ]
    assert run(write(json.dumps([RECIPE]), "g.json"), target, "--form", "graph")[0] == 0
    assert [has_graph(doc, DEP_GRAPH) for doc in docs_in(target)] == [True]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--form", "spert"], "this is no JSON"),
        (["--form", "conll04", "--split", "dev"], "--ids and --split go together"),
    ],
)
def test_command_fails_with_a_message_and_leaves_nothing(write, tmp_path, options, message):
    code, output = run(write(WORKE), tmp_path / "out.spacy", *options)
    assert code == 1
    assert message in " ".join(output.split())
    assert [file.name for file in tmp_path.iterdir()] == ["in.txt"]


def test_command_recognizes_a_form_or_asks_for_it(write, tmp_path):
    target = tmp_path / "out.spacy"
    assert run(write(WORKE), target)[0] == 0
    assert [len(doc._.relations) for doc in docs_in(target)] == [2, 0]
    code, output = run(write("Rain fell.", "b.txt"), target)
    assert code == 1
    assert "say what IN is" in " ".join(output.split())
