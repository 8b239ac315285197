"""Files of every form with mistakes put in by chance: readers read them, or say what is where."""

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli.cli_cases import call
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.docbin import read_docbin

N_FILES = 12
"""Mutated files of each form; others have been tried once."""

CONLLU = """\
# newdoc id = a
# sent_id = 1
1-2	Vámonos	_	_	_	_	_	_	_	Mine=Yes
1	Vamos	ir	VERB	V	Mood=Imp	0	root	0:root	_
2	nos	nosotros	PRON	P	_	1	obj	1:obj|2.1:x	SpaceAfter=No
2.1	ya	_	_	_	_	_	_	1:y	_
3	!	!	PUNCT	_	_	1	punct	1:punct	_

# sent_id = 2
1	Ya	ya	ADV	_	_	0	root	_	_
2	es	ser	AUX	_	_	1	cop	_	_
"""
PLUS = "# global.columns = FORM ID UPOS HEAD X:Y\nVámonos\t1\tVERB\t0\t_\n!\t2\tPUNCT\t1\tx\n"
CONLL04 = """\
#doc 1
0	John	B-Peop	['Live_In']	[2]
1	in	O	['N']	[1]
2	Oslo	B-Loc	['N']	[2]
#doc 2
0	a	O	['N']	[0]
"""
COLUMNS = "Oslo\tB-LOC\tO\nfjord\tI-LOC\tB-X\n\n# c\nin\tO\tO\nNorway\tB-LOC\tO\n"
PROPBANK = """\
# sent_id = a
1	Songs	song	NOUN	NNS	2	nsubj	-	-	(ARG1*)
2	fell	fall	VERB	VBD	0	root	fall	fall.01	(V*)

1	She	she	PRON	PRP	2	nsubj	-	-	(A0*	*
2	wrote	write	VERB	VBD	0	root	write	write.01	*)	(C-A0*)
3	is	be	AUX	VBZ	2	aux	be	be.03	(V*)	(V*)
"""
CONLL05 = "Songs\t-\t(A1*)\nfell\tfall\t(V*)\n\nA\t-\n"
CONLL09 = """\
1	Birds	bird	bird	NOUN	NOUN	_	_	2	2	nsubj	nsubj	_	_	A0
2	sing	sing	sing	VERB	VERB	_	_	0	0	root	root	Y	sing.01	_
"""
UP = """\
# newdoc
1-2	Birds'	_	_	_	_	_	_	_	SpaceAfter=No
1	Birds	bird	NOUN	_	_	3	nsubj	_	_	_	A0
2	'	bird	NOUN	_	_	3	nsubj	_	_	_	_
2.1	e	_	_	_	_	_	_	3:x	_
3	sing	sing	VERB	_	_	0	root	_	_	sing.01	_
"""
SPERT = [
    {
        "tokens": ["John", "in", "Oslo"],
        "entities": [
            {"type": "Peop", "start": 0, "end": 1},
            {"type": "Loc", "start": 2, "end": 3},
        ],
        "relations": [{"type": "Live_In", "head": 0, "tail": 1}],
        "orig_id": 7,
    },
    {"tokens": ["a"], "entities": [], "relations": []},
]
SCIERC = [
    {
        "doc_key": "d",
        "sentences": [["We", "use", "it", "."], ["It", "works"]],
        "ner": [[[0, 0, "A"], [2, 2, "B"]], [[4, 4, "B"]]],
        "relations": [[[0, 0, 2, 2, "R"]], []],
    }
]
GRAPH = [
    {
        "words": ["a", "b", "c"],
        "pos_tags": ["B-X", "I-X", "O"],
        "head_indices": [0, 1, [1, 2]],
        "head_tags": ["r", "x", ["y", "z"]],
    }
]
LAYERS = [
    {
        "sent_id": "1",
        "tokens": ["Vamos", "nos", "!"],
        "entities": [{"type": "P", "start": 0, "end": 2}],
        "relations": [{"type": "r", "head": 0, "tail": 0}],
        "frames": [
            {
                "predicate": [0],
                "sense": "go.01",
                "roles": [
                    {"label": "A0", "start": 1, "end": 2},
                    {"label": "C-A0", "start": 2, "end": 3},
                ],
            }
        ],
    },
    {"sent_id": "2", "tokens": ["Ya", "es"], "entities": [], "relations": [], "frames": []},
]
ENTITIES = [
    {
        "text": "Oslo is in Norway",
        "entities": [[0, 4, "LOC"], {"start": 11, "end": 17, "label": "LOC", "text": "Norway"}],
    },
    {"text": "", "entities": []},
]
CLUENER = [{"text": "Oslo fjord", "label": {"LOC": {"Oslo": [[0, 3]]}}}]
ALL_LAYERS = [
    {
        "format": "spacy-biaffine.layers.v1",
        "text": "Olga owns it ",
        "tokens": [
            {"start": 0, "end": 4, "pos": "PROPN", "morph": "A=B", "head": 1, "dep": "nsubj"},
            {"start": 5, "end": 9, "tag": "V", "lemma": "own", "head": 1, "dep": "root"},
            {"start": 10, "end": 12, "norm": "it", "head": 1, "dep": "obj"},
        ],
        "sentences": [{"start": 0, "end": 12}],
        "entities": [{"id": 0, "start": 0, "end": 4, "label": "P", "kb_id": "Q", "score": 0.5}],
        "entities_unknown": [{"start": 10, "end": 12}],
        "spans": {"sc": [{"id": 0, "start": 0, "end": 4, "label": "P", "kb_id": "Q"}]},
        "span_attrs": {"sc": {"id": 7}},
        "relation_ends": [{"id": 1, "start": 10, "end": 12, "label": "X"}],
        "relations": [{"head": 0, "tail": 1, "label": "owns", "score": 1}],
        "dep_graph": [{"head": None, "dependent": 1, "label": "r"}],
        "frames": [
            {
                "predicate": [{"start": 5, "end": 9}],
                "sense": None,
                "roles": [{"label": "A0", "spans": [{"start": 0, "end": 4}]}],
            }
        ],
        "token_labels": {"s": ["a", None, "b"]},
        "token_scores": {"p": [0.1, 0.2, 0.3]},
        "cats": {"x": 1},
        "meta": {"id": 3},
    }
]
SPACY_JSON = [
    {
        "text": "Olga owns it ",
        "ents": [{"start": 0, "end": 4, "label": "P"}],
        "sents": [{"start": 0, "end": 13}],
        "cats": {"x": 1.0},
        "tokens": [
            {"id": 0, "start": 0, "end": 4, "tag": "N", "pos": "PROPN", "dep": "nsubj", "head": 1},
            {"id": 1, "start": 5, "end": 9, "tag": "V", "pos": "VERB", "dep": "ROOT", "head": 1},
            {"id": 2, "start": 10, "end": 12, "tag": "P", "pos": "PRON", "dep": "obj", "head": 1},
        ],
        "spans": {"sc": [{"start": 0, "end": 9, "label": "P", "kb_id": "Q"}]},
    }
]


@dataclass(frozen=True)
class Form:
    """content: of a good file, lines or objects."""

    command: str
    content: Any
    options: tuple[str, ...] = ()


FORMS = {
    "conllu": Form("convert", CONLLU, ("--form", "conllu")),
    "conllu merged": Form("convert", CONLLU, ("--form", "conllu", "--merge-mwt", "--n-sents", "2")),
    "conllu plus": Form("convert", PLUS, ("--form", "conllu-plus")),
    "enhanced": Form("convert-relations", CONLLU, ("--form", "conllu")),
    "layers": Form("convert-relations", LAYERS, ("--form", "conllu")),
    "spert": Form("convert-relations", SPERT, ("--form", "spert")),
    "scierc": Form("convert-relations", SCIERC, ("--form", "scierc")),
    "related": Form("convert-relations", SCIERC, ("--form", "scierc", "--related-sentences")),
    "conll04": Form("convert-relations", CONLL04, ("--form", "conll04")),
    "graph": Form("convert-relations", GRAPH, ("--form", "graph")),
    "entities": Form("convert-entities", ENTITIES, ("--form", "json", "--lang", "en")),
    "snapped": Form("convert-entities", ENTITIES, ("--form", "json", "--snap")),
    "cluener": Form("convert-entities", CLUENER, ("--form", "cluener", "--characters")),
    "columns": Form("convert-entities", COLUMNS, ("--form", "columns")),
    "levels": Form(
        "convert-entities",
        COLUMNS,
        ("--form", "columns", "--levels", "0", "--outermost-first", "--spans-key", "sc"),
    ),
    "propbank": Form("convert-roles", PROPBANK, ("--form", "propbank")),
    "words": Form("convert-roles", PROPBANK, ("--form", "propbank", "--words", "--n-sents", "2")),
    "conll05": Form("convert-roles", CONLL05, ("--form", "conll05")),
    "conll09": Form("convert-roles", CONLL09, ("--form", "conll09")),
    "up": Form("convert-roles", UP, ("--form", "up")),
    "all layers": Form("convert", ALL_LAYERS, ("--form", "layers")),
    "of spaCy": Form("convert", SPACY_JSON, ("--form", "spacy-json", "--lang", "en")),
}

VALUES: list[Any] = [
    *(None, 3, -1, 0, 10**6, 10**30, 1.5, True, float("inf"), "", "x", "\ud800", "\0", " "),
    *([], {}, [[]], [1, 2, 3], {"a": 1}, "C-A0", "B-X", [3, "a", "b"], ["a"], 2**63),
]
CELLS = [
    *("", "_", "-", "0", "00", "1", "-1", "99999", "9" * 5000, "0.1", "1-2", "3-1", "5-7", "2.2"),
    *("1-999999999", "*", "(A*", "*)", "(V*)", "B-X", "I-", "é", "\0", " ", "['N','N']", "[9]"),
    *("{[]}", "(" * 3000, "[" * 3000, "x=y=z", "Y", "\u2028", "1:a|9:b", "00:a", "9" * 5000 + ":x"),
]
BYTES = [b"\xff", b"\0", b"\r", b"\n\n", b"\t", b"\xed\xa0\x80", b"[", b'"', b"\xef\xbb\xbf"]


@pytest.mark.parametrize("skip", [(), ("--skip-bad",)], ids=["strict", "skip"])
@pytest.mark.parametrize("name", FORMS)
def test_mistakes_are_told_with_their_place(
    name: str, skip: tuple[str, ...], tmp_path: Path
) -> None:
    form = FORMS[name]
    chance = random.Random(f"{name} {skip}")
    source, target = tmp_path / "in.conllu", tmp_path / "out.spacy"
    arguments = [form.command, source, target, *form.options, *skip]
    if name == "layers":
        (tmp_path / "trees.conllu").write_text(CONLLU, encoding="utf8")
        arguments[1:2] = [tmp_path / "trees.conllu"]
        arguments += ["--layers", source]
    for number, content in enumerate(files(chance, form.content)):
        source.write_bytes(content)
        target.write_bytes(b"as before")
        code, output = call(*arguments)
        if number == 0 or code == 0:
            assert code == 0, output
            assert len(list(read_docbin(target, Vocab()))) == count(output)
        else:
            told = output.partition(str(source))[2]
            whole_file = (
                "no sentence|no Docs to write|none of the [0-9]+ docs|no object for the sentence"
            )
            assert re.match(r":\d+", told) or re.search(whole_file, output), (output, content)
            assert target.read_bytes() == b"as before"
    assert not list(tmp_path.glob(".*"))


def count(output: str) -> int:
    """The Docs that a command says it has written."""
    return int(re.findall(r"docs (\d+)", output)[0])


def files(chance: random.Random, content: Any) -> Iterator[bytes]:
    """The good file, and some with mistakes."""
    change: Callable[[random.Random, Any], str]
    is_text = isinstance(content, str)
    change = with_other_cells if is_text else with_other_values
    good = (content if is_text else as_lines(content)).encode()
    yield good
    for _ in range(N_FILES):
        if chance.random() < 0.3:
            yield with_other_bytes(chance, good)
        else:
            yield change(chance, content).encode()


def as_lines(objects: list[Any]) -> str:
    return "".join(json.dumps(each) + "\n" for each in objects)


def with_other_bytes(chance: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(chance.choice([1, 2, 5])):
        at = chance.randrange(len(changed) or 1)
        what = chance.random()
        if what < 0.5:
            changed[at : at + 1] = bytes([chance.randrange(256)])
        elif what < 0.7:
            del changed[at : at + chance.randrange(20)]
        elif what < 0.9:
            changed[at:at] = chance.choice(BYTES)
        else:
            del changed[at:]
    return bytes(changed)


def with_other_cells(chance: random.Random, content: str) -> str:
    lines = content.split("\n")
    for _ in range(chance.choice([1, 1, 2, 3])):
        at = chance.randrange(len(lines))
        what = chance.random()
        if what < 0.1:
            lines.insert(at, chance.choice(lines))
        elif what < 0.2:
            lines[at] = lines[at][: chance.randrange(len(lines[at]) + 1)]
        elif what < 0.3:
            lines[at] = ""
        else:
            cells = lines[at].split("\t")
            cell = chance.randrange(len(cells))
            cells[cell : cell + (what < 0.9)] = [chance.choice(CELLS)] * (what > 0.4)
            lines[at] = "\t".join(cells)
    return "\n".join(lines)


def with_other_values(chance: random.Random, content: list[Any]) -> str:
    changed = json.loads(json.dumps(content))
    for _ in range(chance.choice([1, 1, 2])):
        holder, key = chance.choice(list(places_in(changed)) or [(changed, slice(0))])
        if chance.random() < 0.2:
            del holder[key]
        else:
            holder[key] = [] if isinstance(key, slice) else chance.choice(VALUES)
    return chance.choice([as_lines, lambda value: json.dumps(value, indent=1)])(changed)


def places_in(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list and object with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from places_in(inner)
