"""Mistakes in files that once were a crash, a hang or a loss: each is told, with its place."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.cli_cases import call
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.docbin import read_docbin
from spacy_biaffine.formats.conllu.api import docs_from_conllu, to_conllu
from spacy_biaffine.formats.entities.api import write_entities_json
from spacy_biaffine.formats.relations.api import set_enhanced, write_spert

UP = "1\ta\ta\tX\t_\t_\t0\troot\t_\t_\ta.01\t_\n"
PROPBANK = """\
1	a	a	X	X	_	_	a	a.01	(V*)
2	b	b	X	X	_	_	-	-	(A1*
3	c	c	X	X	_	_	-	-	*)
"""
ROW = "1\ta\t_\t_\t_\t_\t0\troot\t{}\t_\n\n"


def spert(**record: Any) -> str:
    return json.dumps({"tokens": ["a"], "entities": [], **record})


CASES = {
    "range without columns": ("convert-roles --form up", f"1-1\n{UP}", "wanted 10"),
    "range out of the sentence": (
        "convert-roles --form up",
        "1-999999999\tx" + "\t_" * 8 + "\n" + UP,
        "ID '1-999999999' behind word 0 of 1",
    ),
    "empty node elsewhere": (
        "convert-roles --form up",
        "7.1\tx" + "\t_" * 8 + "\n" + UP,
        "ID '7.1' behind word 0 of 1",
    ),
    "words without heads": ("convert-roles --form propbank --words", PROPBANK, "have no heads"),
    "no such column": (
        "convert-entities --form columns --token-column 5",
        "Oslo\tB-LOC\n",
        "2 columns where 5 are wanted",
    ),
    "a text too long": (
        "convert-entities --form json -l en",
        json.dumps({"text": "a" * 1_000_001, "entities": []}),
        "max_length",
    ),
    "nested too deeply": ("convert-entities --form json", "[" * 100_000, "no JSON"),
    "a key twice": (
        "convert-entities --form json",
        '{"text": "a", "text": "b"}',
        "'text' stands twice",
    ),
    "half a pair in a text": (
        "convert-entities --form json",
        '{"text": "\\ud800", "entities": []}',
        "half of a surrogate pair",
    ),
    "half a pair in a token": (
        "convert-relations --form spert",
        spert(tokens=["\ud800"]),
        "half of a surrogate pair",
    ),
    "no number": ("convert-relations --form spert", '{"tokens": NaN}', "no number"),
    "an array in an array": ("convert-relations --form spert", "[" * 100_000, "no JSON"),
    "a large id": ("convert-relations --form spert", spert(orig_id=10**30), "of 64 bits"),
    "a set": (
        "convert-relations --form conll04",
        "#doc 1\n0\ta\tO\t{[]}\t[0]\n",
        "no list such as",
    ),
    "many brackets": (
        "convert-relations --form conll04",
        f"#doc 1\n0\ta\tO\t{'[' * 3000}\t[0]\n",
        "no list such as",
    ),
    "no head": ("convert-relations --form conllu", ROW.format("0root"), "is not HEAD:LABEL"),
    "a head with zeros": ("convert-relations --form conllu", ROW.format("00:x"), "is not HEAD"),
    "digits": ("convert-relations --form conllu", ROW.format("9" * 5000 + ":x"), "is not HEAD"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_place_is_told(name: str, tmp_path: Path) -> None:
    command, content, reason = CASES[name]
    (tmp_path / "in.conllu").write_text(content, encoding="utf8")
    command, *options = command.split()
    arguments = [tmp_path / "in.conllu", tmp_path / "out.spacy", *options]
    code, output = call(command, *arguments)
    assert code == 1
    assert f"{tmp_path / 'in.conllu'}:1" in output or f"{tmp_path / 'in.conllu'}:2" in output
    assert reason in output
    assert [path.name for path in tmp_path.iterdir()] == ["in.conllu"]


def test_sentences_with_bad_deps_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "in.conllu").write_text(
        ROW.format("0:root") + ROW.format("x") + ROW.format("_"), encoding="utf-8"
    )
    arguments = [tmp_path / "in.conllu", tmp_path / "out.spacy", "--form", "conllu"]
    code, output = call("convert-relations", *arguments, "--skip-bad")
    assert code == 0
    assert "left out: DEPS 1" in output and f"{tmp_path / 'in.conllu'}:3" in output
    assert len(list(read_docbin(tmp_path / "out.spacy", Vocab()))) == 2


def layers(tmp_path: Path, *objects: dict[str, Any]) -> str:
    """What convert-relations says of them."""
    (tmp_path / "in.conllu").write_text("# sent_id = 1\n" + ROW.format("_"), encoding="utf-8")
    (tmp_path / "layers.jsonl").write_text(
        "".join(json.dumps(each) + "\n" for each in objects), encoding="utf-8"
    )
    arguments = [tmp_path / "in.conllu", tmp_path / "out.spacy", "--form", "conllu"]
    code, output = call("convert-relations", *arguments, "--layers", tmp_path / "layers.jsonl")
    assert code == 1
    return output


@pytest.mark.parametrize(
    "frame",
    [
        {"predicate": [], "sense": None, "roles": []},
        {"predicate": [0], "sense": 3, "roles": []},
        {"predicate": [0], "sense": None, "roles": [{"label": 7, "start": 0, "end": 1}]},
        {"predicate": [0], "sense": None, "roles": [{"label": "", "start": 0, "end": 1}]},
    ],
)
def test_frames_of_another_form(frame: dict[str, Any], tmp_path: Path) -> None:
    output = layers(tmp_path, {"sent_id": "1", "tokens": ["a"], "frames": [frame]})
    assert f"{tmp_path / 'layers.jsonl'}:1: " in output


def test_layers_of_one_sentence_stand_once(tmp_path: Path) -> None:
    output = layers(tmp_path, {"sent_id": "1", "tokens": ["a"]}, {"sent_id": "1", "tokens": ["a"]})
    assert f"layers.jsonl:2: sent_id 1 stands at {tmp_path / 'layers.jsonl'}:1 already" in output


def test_a_maze_of_empty_nodes_has_an_end() -> None:
    names = [f"1.{number}" for number in range(1, 16)]
    deps = "|".join(f"{name}:x" for name in names)
    rows = [f"1\ta\t_\t_\t_\t_\t0\troot\t{deps}\t_"]
    rows += [f"{name}\te\t_\t_\t_\t_\t_\t_\t{deps}\t_" for name in names]
    (doc,) = docs_from_conllu("\n".join(rows), Vocab())
    with pytest.raises(ValueError, match="thousands of ways"):
        set_enhanced(doc)


def test_a_long_chain_of_empty_nodes() -> None:
    rows = ["1\ta\t_\t_\t_\t_\t0\troot\t1.1:x\t_"]
    rows += [f"1.{n}\te\t_\t_\t_\t_\t_\t_\t1.{n + 1}:x\t_" for n in range(1, 2000)]
    rows += ["1.2000\te\t_\t_\t_\t_\t_\t_\t0:x\t_"]
    (doc,) = docs_from_conllu("\n".join(rows), Vocab())
    set_enhanced(doc)
    (arc,) = doc._.dep_graph
    assert arc.label.count("x") == 2001


def test_a_long_chain_with_a_multiword_token_takes_no_hours() -> None:
    rows = ["1-2\tab" + "\t_" * 8]
    rows += [f"{n}\tw\t_\t_\t_\t_\t{n - 1}\tx\t_\t_" for n in range(1, 20_001)]
    (doc,) = docs_from_conllu("\n".join(rows), Vocab(), merge_mwt=True)
    assert len(doc) == 19_999
    assert [token.head.i for token in doc] == [0, *range(19_998)]


def test_a_file_is_as_it_was_where_writing_fails(tmp_path: Path) -> None:
    def docs() -> Any:
        yield Doc(Vocab(), words=["a"])
        raise RuntimeError("no more")

    for write in (write_entities_json, write_spert):
        (tmp_path / "out").write_text("as before", encoding="utf-8")
        with pytest.raises(RuntimeError, match="no more"):
            write(docs(), tmp_path / "out")
        assert (tmp_path / "out").read_text(encoding="utf-8") == "as before"
        assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("command", ["convert", "convert-entities", "convert-relations", "render"])
def test_broken_docbins_are_named(command: str, tmp_path: Path) -> None:
    whole = DocBin(docs=[Doc(Vocab(), words=["a"])]).to_bytes()
    suffix = {"convert": ".conllu", "convert-entities": ".jsonl", "render": ".html"}
    out = tmp_path / f"out{suffix.get(command, '.json')}"
    for content in (b"", b"text", whole[:-9], whole[2:]):
        (tmp_path / "in.spacy").write_bytes(content)
        code, output = call(command, tmp_path / "in.spacy", out)
        assert code == 1 and "in.spacy is no DocBin" in output
        assert [path.name for path in tmp_path.iterdir()] == ["in.spacy"]


def test_heads_in_a_circle_of_blanks() -> None:
    words = ["a", "\n", "\n", "b"]
    doc = Doc(Vocab(), words=words, heads=[1, 2, 1, 3], deps=["x"] * 4, sent_starts=[1, 0, 0, 0])
    assert "a" in to_conllu(doc)
