"""Docs -> DocBin files, cut into shards where there are too many for one."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.training.corpus import walk_corpus
from spacy.vocab import Vocab

from .atomic import replace_on_disk, sync_files
from .span_groups import docs_of

MAX_DOCS = 100_000
# DocBin packs its tokens into one msgpack value, which ends at 4 GB: about 41 million words.
MAX_WORDS = 10_000_000

_SHARD = re.compile(r"\d{5,}\.spacy")


def write_docbin(docs: Iterable[Doc], path: Path, *, max_docs: int = MAX_DOCS) -> list[Path]:
    """Write Docs to path (NAME.spacy), or to shards NAME/00000.spacy, ... of max_docs each.

    Everything is written under a temporary name and renamed at the end: a run that fails leaves an
    earlier result whole. A folder takes two renames: a run that is killed between them leaves the
    earlier one as .NAME.old, which the next run puts back. An earlier result of the other kind
    (NAME/ or NAME.spacy) is removed, so that nobody trains on it. Returns the files. Raises
    ValueError where there are no Docs, and IsADirectoryError where NAME.spacy is a folder.
    """
    if max_docs < 1:
        raise ValueError(f"max_docs is {max_docs}; it must be 1 or more")
    if path.suffix != ".spacy":
        raise ValueError(f"{path} must end in .spacy")
    if path.is_dir():
        raise IsADirectoryError(
            f"{path} is a folder; give the name of a file, such as {path / path.name}"
        )
    folder = path.with_suffix("")
    old = path.with_name(f".{folder.name}.old")
    if old.exists() and not folder.exists():
        old.replace(folder)
    temporary = path.with_name(f".{folder.name}.{os.getpid()}.tmp")
    temporary.mkdir(parents=True)
    try:
        n_shards = 0
        for docbin in _shards(docs, max_docs):
            if n_shards == 1:
                _check_free(folder)
            docbin.to_disk(temporary / f"{n_shards:05}.spacy")
            n_shards += 1
        if n_shards == 0:
            raise ValueError(f"no Docs to write to {path}")
        sync_files(temporary)
        if n_shards == 1:
            replace_on_disk(temporary / "00000.spacy", path)
            _remove_shards(folder)
            return [path]
        if folder.exists():
            folder.replace(old)
        replace_on_disk(temporary, folder)
        path.unlink(missing_ok=True)
        return sorted(folder.iterdir())
    finally:
        if old.exists() and not folder.exists():
            old.replace(folder)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(temporary, ignore_errors=True)


def read_docbin(path: Path, vocab: Vocab) -> Iterator[Doc]:
    """Docs of a .spacy file, or of all .spacy files in a folder, in the order of their names.

    Raises FileNotFoundError where there is none, ValueError for files of another kind.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist; wanted a .spacy file or a folder of them")
    if path.is_file() and path.suffix != ".spacy":
        raise ValueError(f"{path} is no .spacy file; `python -m spacy biaffine convert` makes them")
    files = walk_corpus(path, ".spacy")
    if not files:
        raise FileNotFoundError(f"no .spacy file in {path}")
    for file in files:
        yield from docs_in(file, vocab)


def docs_in(file: Path, vocab: Vocab) -> Iterator[Doc]:
    """Docs of one .spacy file. Raises ValueError for one that is broken, and OSError."""
    try:
        yield from docs_of(DocBin().from_disk(file), vocab)
    except OSError:
        raise
    except Exception as error:  # a broken file fails anywhere in zlib, msgpack, numpy or spaCy
        raise ValueError(
            f"{file} is no DocBin, or a broken one ({type(error).__name__}: {error}); convert or "
            f"copy it again"
        ) from error


def holds_shards(folder: Path) -> bool:
    """Whether a folder is one written by `write_docbin`: shards and nothing else."""
    return folder.is_dir() and any(folder.iterdir()) and not _foreign(folder)


def _shards(docs: Iterable[Doc], max_docs: int) -> Iterator[DocBin]:
    docbin = DocBin()
    n_words = 0
    for doc in docs:
        if len(docbin) == max_docs or n_words > MAX_WORDS:
            yield docbin
            docbin = DocBin()
            n_words = 0
        docbin.add(doc)
        n_words += len(doc)
    if len(docbin):
        yield docbin


def _check_free(folder: Path) -> None:
    in_the_way = [folder] if folder.is_file() else _foreign(folder)
    if in_the_way:
        raise ValueError(f"shards go to {folder}/, where {in_the_way[0]} is in the way; remove it")


def _foreign(folder: Path) -> list[Path]:
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return [file for file in files if not _SHARD.fullmatch(file.name)]


def _remove_shards(folder: Path) -> None:
    if holds_shards(folder):
        shutil.rmtree(folder)
