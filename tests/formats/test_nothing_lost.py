"""What readers leave out or doubt is counted and named; what was asked for must be there."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.cli_cases import call
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.docbin import read_docbin

UD = "{0}\t{1}\t_\tX\t_\t_\t{2}\t{3}\t{4}\t_\n"


def ud(*words: tuple[Any, ...], before: str = "") -> str:
    rows = [
        UD.format(n, f"w{n}", *word, *["_"][len(word) - 2 :]) for n, word in enumerate(words, 1)
    ]
    return before + "".join(rows) + "\n"


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


ENTITY = {"type": "A", "start": 0, "end": 1}
SPERT = {"tokens": ["a", "b"], "entities": [ENTITY], "relations": []}
SCIERC = {"sentences": [["a", "b"]], "ner": [[[0, 0, "A"]]], "relations": [[]]}
GRAPH = {"words": ["a", "b"], "head_indices": [0, 1], "head_tags": ["_", "x"]}
CONLL09 = "1\ta\ta\tb\tN\tM\t_\t_\t0\t0\tROOT\tROOT\tY\ta.01\tA0\n\n"
EMPTY_NODES = (
    "1\ta\t_\t_\t_\t_\t0\troot\t0:root|0:root|1.1:x|1.3:y\t_\n"
    "1.1\tb\t_\t_\t_\t_\t_\t_\t1.2:x\t_\n1.2\tc\t_\t_\t_\t_\t_\t_\t1.1:x\t_\n"
    "1.3\td\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
)

COUNTED = {
    "keys of json": (
        "convert --form json",
        lines({"text": "a", "entities": [], "label": 1}, {"text": "b", "entities": [], "id": 3}),
        ["not kept: label 1", "not kept: id 1"],
    ),
    "keys of an entity": (
        "convert --form json",
        lines({"text": "a", "entities": [{"start": 0, "end": 1, "label": "A", "kb": 7}]}),
        ["not kept: of an entity: kb 1"],
    ),
    "keys of cluener": (
        "convert --form cluener",
        lines({"text": "a", "label": {}, "entities": []}),
        ["not kept: entities 1"],
    ),
    "keys of spert": (
        "convert --form spert",
        lines({**SPERT, "pos": 1, "entities": [{**ENTITY, "kb": 7}]}),
        ["not kept: pos 1", "not kept: of entities: kb 1"],
    ),
    "keys of scierc": (
        "convert --form scierc",
        lines({**SCIERC, "clusters": [], "ner": [[[0, 0, "A", 0.7]]]}),
        ["not kept: clusters 1", "not kept: values behind labels 1"],
    ),
    "labels of head 0": (
        "convert --form graph",
        lines({**GRAPH, "head_tags": ["root", "x"], "id": 1}),
        ["not kept: id 1", "not kept: labels of head 0, which is no arc 1"],
    ),
    "columns and comments": (
        "convert --form columns --tag-column 3",
        "# a\n-DOCSTART-\tO\tO\n\nOslo\tNNP\tB-LOC\n",
        ["not kept: comments 1", "not kept: lines -DOCSTART- 1", "not kept: column 2 1", "texts 1"],
    ),
    "entities listed again": (
        "convert --form json",
        lines({"text": "a", "entities": [[0, 1, "A"], [0, 1, "A"]]}),
        ["entities 1", "listed again, kept once 1"],
    ),
    "entities in others": (
        "convert --form spert",
        lines({**SPERT, "entities": [ENTITY, {**ENTITY, "end": 2}]}),
        ["entities 2", "entities inside or across others, not in doc.ents 1"],
    ),
    "a block without tokens": (
        "convert --form conll04",
        "#doc 1\n#doc 2\n0\ta\tO\t['N']\t[0]\n",
        ["not kept: sentences without a token 1"],
    ),
    "columns of recipes": (
        "convert --form erfgc",
        "1\tHeat\theat\tVV0\tB-Ac\tf=1\t0\troot\t_\t_\n",
        ["not kept: column 3 1", "not kept: column 6 1"],
    ),
    "automatic columns": (
        "convert --form conll09",
        CONLL09,
        ["not kept: column PLEMMA 1", "not kept: column PPOS 1", "not kept: column PDEPREL 1"],
    ),
    "columns before predicates": (
        "convert --form conll05 --props-column 3",
        "rain (S*) fall (V*)\n\n",
        ["not kept: column 2 1"],
    ),
    "arcs that lead nowhere": (
        "convert --form conllu-layers",
        EMPTY_NODES,
        [
            "arcs 1",
            "not kept: arcs of DEPS that are there already 1",
            "not kept: arcs of DEPS between empty nodes in a circle 1",
            "not kept: arcs of DEPS at empty nodes without a head 1",
        ],
    ),
    "marks that are none": (
        "convert --form conllu",
        ud((0, "root"), before="# newdoc_id = a\n") + ud((0, "root"), before="# newdoc_id = b\n"),
        ["comments '# newdoc_id', which begin no document: only '# newdoc' does (first: ", " 2"],
    ),
    "a mark of OntoNotes": (
        "convert --form conllu",
        ud((0, "root"), before="#begin document (x); part 000\n"),
        ["comments '# begin document', which begin no document"],
    ),
    "roots with heads": (
        "convert --form conllu",
        ud((2, "root"), (0, "nsubj"), (2, "x")),
        [
            "words labelled root that have a head (first: ",
            "words without a head whose label is not root (first: ",
        ],
    ),
    "roots of treebanks with layers": (
        "convert-relations --form conllu",
        ud((2, "root", "2:x"), (0, "root", "0:root")),
        ["words labelled root that have a head (first: "],
    ),
    "a long token": (
        "convert --form labels",
        "a NN\n" + "b" * 600 + " NN\n",
        ["tokens of more than 512 characters", "(first: Doc 1, token 2, 600 characters) 1"],
    ),
    "a long Doc": (
        "convert --form labels",
        "a NN\n" * 20_001,
        ["docs of more than 20,000 tokens", "(first: Doc 1, 20,001 tokens) 1"],
    ),
    "an empty text": (
        "convert --form json",
        lines({"text": "", "entities": []}, {"text": "a", "entities": []}),
        ["docs without a token, which training passes over (first: Doc 1) 1"],
    ),
}


@pytest.mark.parametrize("name", COUNTED)
def test_it_is_counted(name: str, tmp_path: Path) -> None:
    command, text, told = COUNTED[name]
    code, output = converted(tmp_path, command, text)
    assert code == 0, output
    assert [each for each in told if each not in output] == []
    if not name.startswith("entities"):
        assert "✔" not in output and "⚠" in output


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("convert --form json", lines({"text": "a", "entities": []})),
        ("convert --form spert", lines({**SPERT, "orig_id": 3})),
        ("convert --form graph", lines(GRAPH)),
        ("convert --form labels", "1 NN\n2 NN\n"),
        ("convert --form columns --token-column 2 --tag-column 3", "1\tOslo\tB-LOC\t_\t-\n"),
        ("convert --form conllu", ud((0, "root"), before="# newdoc id = a\n# doc_id = b\n")),
        ("convert --form conllu", ud((0, "root:x"), before="# document about tea\n# newpar\n")),
    ],
)
def test_nothing_is_counted_where_all_is_read(command: str, text: str, tmp_path: Path) -> None:
    code, output = converted(tmp_path, command, text)
    assert code == 0
    assert "not kept" not in output and "first:" not in output
    assert "✔" in output and "⚠" not in output


def test_labels_are_counted_and_must_be_there(tmp_path: Path) -> None:
    code, output = converted(tmp_path, "convert-labels", "a NN\nb _\n")
    assert code == 0
    assert "words 2 docs 1 labels 1" in output
    code, output = converted(tmp_path, "convert-labels", "a _\nb _\n")
    assert code == 1
    assert "in.txt: no word has a label" in output


PRODIGY = {"text": "a", "tokens": [], "spans": [{"start": 0, "end": 1, "label": "A"}]}

MISSING = {
    "entities": ("convert-entities --form json", lines(PRODIGY), "not read: tokens (1), spans (1)"),
    "relations": (
        "convert-relations --form spert",
        lines({"tokens": ["a"], "entities": [], "links": []}),
        "read as spert, is annotated with relations or arcs; not read: links (1)",
    ),
    "all layers of spert": (
        "convert-relations --form spert",
        lines({"tokens": ["a"], "pos": []}),
        "not read: pos (1)",
    ),
    "graphs": (
        "convert-relations --form conllu",
        ud((0, "root")),
        "none of the 1 docs",
    ),
}


@pytest.mark.parametrize("name", MISSING)
def test_the_layer_that_was_asked_for_is_not_there(name: str, tmp_path: Path) -> None:
    command, text, told = MISSING[name]
    code, output = converted(tmp_path, command, text)
    assert code == 1
    assert told in output and "✔" not in output
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


@pytest.mark.parametrize(
    ("form", "record"),
    [
        ("spert", {"tokens": ["a"], "relations": []}),
        ("scierc", {"sentences": [["a"]], "relations": [[]]}),
    ],
)
def test_relations_need_their_entities(form: str, record: Any, tmp_path: Path) -> None:
    code, output = converted(tmp_path, f"convert --form {form}", lines(record))
    assert code == 1
    assert 'in.txt:1: it has "relations" and no' in output


def test_layers_of_other_sentences_are_counted(tmp_path: Path) -> None:
    (tmp_path / "layers.jsonl").write_text(
        lines(
            {"sent_id": "1", "tokens": ["w1"], "entities": [], "by": "me"},
            {"sent_id": "2", "tokens": ["w1"]},
            {"sent_id": "3", "tokens": ["w1"], "entities": []},
        ),
        encoding="utf-8",
    )
    text = ud((0, "root"), before="# sent_id = 1\n") + ud((0, "root"), before="# sent_id = 2\n")
    layers = tmp_path / "layers.jsonl"
    command = f"convert --form conllu-layers --n-sents 2 --layers {layers}"
    code, output = converted(tmp_path, command, text)
    assert code == 0
    assert "not kept: by 1" in output
    assert "not kept: entities of docs with sentences that have none 1" in output
    assert "not kept: layers of sentences that are not in the treebank 1" in output


def test_documents_of_ontonotes_share_no_doc(tmp_path: Path) -> None:
    row = "x 0 0 Oslo NNP (TOP*) - - - - * -\n\n"
    text = f"#begin document (x); part 000\n{row}{row}#begin document (y); part 000\n{row}"
    assert converted(tmp_path, "convert --form conll12 --n-sents 3", text)[0] == 0
    docs = list(read_docbin(tmp_path / "out.spacy", Vocab()))
    assert [len(doc) for doc in docs] == [2, 1]


def converted(tmp_path: Path, command: str, text: str) -> tuple[int, str]:
    """Exit code and output of a command on a file."""
    (tmp_path / "in.txt").write_text(text, encoding="utf-8")
    name, *options = command.split()
    return call(name, tmp_path / "in.txt", tmp_path / "out.spacy", *options)
