"""Outputs are whole or as they were, whatever ends a run."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.formats.common import docbin
from spacy_biaffine.formats.common.atomic import whole_bytes, whole_text
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin


def docs(*words: str) -> list[Doc]:
    vocab = Vocab()
    return [Doc(vocab, words=[word]) for word in words]


def texts(path: Path) -> list[str]:
    return [doc.text.strip() for doc in read_docbin(path, Vocab())]


def names(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


@pytest.mark.parametrize("writing", [whole_text, whole_bytes])
def test_an_error_leaves_the_file_as_it_was(writing, tmp_path):
    path = tmp_path / "new" / "out"
    content = "one" if writing is whole_text else b"one"
    with writing(path) as file:
        file.write(content)
    with pytest.raises(OSError, match="full"), writing(path) as file:
        file.write(content)
        raise OSError("the disk is full")
    assert path.read_text(encoding="utf-8") == "one"
    assert names(path.parent) == {"out"}


@pytest.mark.parametrize("writing", [whole_text, whole_bytes])
def test_a_folder_is_no_file(writing, tmp_path):
    (tmp_path / "out").mkdir()
    told = pytest.raises(IsADirectoryError, match=r"out is a folder; give the name of a file")
    with told, writing(tmp_path / "out"):
        raise AssertionError
    assert names(tmp_path) == {"out"}


def test_docs_into_a_folder(tmp_path):
    (tmp_path / "out.spacy").mkdir()
    with pytest.raises(IsADirectoryError, match=r"out.spacy is a folder; give the name"):
        write_docbin(docs("a"), tmp_path / "out.spacy")
    assert names(tmp_path) == {"out.spacy"}


@pytest.mark.parametrize("earlier", [1, 3])
@pytest.mark.parametrize("later", [1, 3])
def test_docs_that_end_early_leave_the_earlier_ones(tmp_path, earlier, later):
    path = tmp_path / "out.spacy"

    def broken() -> Iterator[Doc]:
        yield from docs(*"xyz"[:later])
        raise OSError("the disk is full")

    write_docbin(docs(*"abc"[:earlier]), path, max_docs=1)
    before = names(tmp_path)
    with pytest.raises(OSError, match="full"):
        write_docbin(broken(), path, max_docs=1)
    assert names(tmp_path) == before
    assert texts(path if earlier == 1 else tmp_path / "out") == list("abc"[:earlier])


def test_shards_in_place_of_others(tmp_path):
    write_docbin(docs(*"abc"), tmp_path / "out.spacy", max_docs=1)
    write_docbin(docs(*"xy"), tmp_path / "out.spacy", max_docs=1)
    assert (names(tmp_path), texts(tmp_path / "out")) == ({"out"}, ["x", "y"])


def test_a_kill_between_two_renames_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "out.spacy"
    write_docbin(docs(*"abc"), path, max_docs=1)

    def full(source: Path, target: Path) -> None:
        raise OSError("no")

    with monkeypatch.context() as patched, pytest.raises(OSError, match="no"):
        patched.setattr(docbin, "replace_on_disk", full)
        write_docbin(docs(*"xy"), path, max_docs=1)
    assert (names(tmp_path), texts(tmp_path / "out")) == ({"out"}, ["a", "b", "c"])
    (tmp_path / "out").replace(tmp_path / ".out.old")  # what a kill would leave
    with pytest.raises(ValueError, match="no Docs"):
        write_docbin([], path)
    assert (names(tmp_path), texts(tmp_path / "out")) == ({"out"}, ["a", "b", "c"])
