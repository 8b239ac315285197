"""Inputs that are no file of the form that was named: the message says what they are."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cli.cli_cases import call

from spacy_biaffine.formats.forms import FORMS, form_of

PRODIGY = json.dumps(
    {"text": "Oslo", "spans": [{"start": 0, "end": 4, "label": "LOC"}], "answer": "accept"}
)
DOCCANO = json.dumps({"text": "Oslo", "label": [[0, 4, "LOC"]]})
STUDIO = json.dumps({"data": {"text": "Oslo"}, "annotations": [{"result": []}]})
WEBANNO = "#FORMAT=WebAnno TSV 3.3\n"
RELATED = json.dumps({"text": "Oslo", "entities": [[0, 4, "LOC"]], "relations": []})


def convert(*arguments: Any) -> str:
    """What a command that fails says."""
    code, output = call(*arguments)
    assert code == 1
    assert "Errno" not in output and "✔" not in output
    return output


def file_of(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "in.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("form", [form.name for form in FORMS if form.read])
def test_an_empty_file(form: str, tmp_path: Path) -> None:
    path = file_of(tmp_path, "")
    output = convert("convert", path, tmp_path / "a.spacy", "--form", form)
    assert "in.txt: the file is empty" in output
    assert not (tmp_path / "a.spacy").exists()


def test_an_empty_file_of_no_form(tmp_path: Path) -> None:
    assert "the file is empty" in convert("convert", file_of(tmp_path, ""), tmp_path / "a.spacy")


@pytest.mark.skipif(os.name == "nt", reason="has no such files")
def test_a_device(tmp_path: Path) -> None:
    output = convert("convert", os.devnull, tmp_path / "a.spacy", "--form", "json")
    assert f"{os.devnull} is a device" in output


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes")
def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    output = convert("convert", tmp_path / "pipe", tmp_path / "a.spacy", "--form", "spert")
    assert "is a device or a pipe" in output


def test_an_output_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "y.spacy").mkdir()
    source = file_of(tmp_path, DOCCANO)
    output = convert("convert", source, tmp_path / "y.spacy", "--form", "doccano")
    assert "y.spacy is a folder; give the name of a file" in output


def test_an_input_that_is_an_empty_folder_with_the_name_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "y.spacy").mkdir()
    output = convert("convert", tmp_path / "y.spacy", tmp_path / "a.conllu")
    assert "no treebank in" in output and "and no .spacy file" in output


@pytest.mark.parametrize(
    ("text", "looks_like"),
    [(PRODIGY, "prodigy"), (DOCCANO, "doccano"), (STUDIO, "label-studio"), (WEBANNO, "webanno")],
)
@pytest.mark.parametrize(
    ("command", "form"),
    [
        ("convert", "conllu"),
        ("convert", "layers"),
        ("convert-entities", "json"),
        ("convert-entities", "columns"),
        ("convert-relations", "spert"),
        ("convert-roles", "conll09"),
    ],
)
def test_files_of_tools(
    command: str, form: str, text: str, looks_like: str, tmp_path: Path
) -> None:
    path = file_of(tmp_path, text)
    output = convert(command, path, tmp_path / "a.spacy", "--form", form)
    assert f"It looks like {looks_like}, which `convert --form {looks_like}` reads" in output


@pytest.mark.parametrize("command", ["convert-entities", "convert-relations", "convert-roles"])
def test_commands_name_the_form_that_they_do_not_read(command: str, tmp_path: Path) -> None:
    output = convert(command, file_of(tmp_path, PRODIGY), tmp_path / "a.spacy")
    assert "in.txt looks like prodigy, which `convert` reads" in output


@pytest.mark.parametrize("form", ["json", "spert", "columns", "layers", "conll09"])
def test_a_folder_of_brat(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "a.txt").write_text("Oslo", encoding="utf-8")
    (folder / "a.ann").write_text("T1\tLOC 0 4\tOslo\n", encoding="utf-8")
    output = convert("convert", folder, tmp_path / "a.spacy", "--form", form)
    assert "It looks like brat, which `convert --form brat` reads" in output


def test_entities_with_relations_beside_them(tmp_path: Path) -> None:
    path = file_of(tmp_path, RELATED)
    found = form_of(path)
    assert found is not None and found.name == "json"
    code, output = call("convert", path, tmp_path / "a.spacy")
    assert code == 0
    assert "not kept: relations 1" in output and "✔" not in output
