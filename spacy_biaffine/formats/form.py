"""The record of one file form. The commands `convert` and `convert-*`, `annotate`, the project's
`form`, the table in the docs and `--help` are made from these records.

To add a form:

1. Write its reader, and a writer if it needs one, in a module of a folder beside this file.
   The reader is a function (paths, lang, report, *, skip_bad, OPTIONS) that yields Docs, counts in
   the report, and raises FormatError with file and line. The writer is a function (doc, number,
   OPTIONS) that returns the text of one Doc, or raises ValueError where the form can't hold it.
2. Make a `Form` of them in the folder's `forms.py`. OPTIONS are those that its `options` and
   `write_options` name, see `options.py`; those that the user does not set are not passed.
3. Add it to `FORMS` in `forms.py`.

`tests/formats/test_forms.py` then reads its sample, recognizes it, and writes it again.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from .common.language import vocab_for
from .common.lines import Skipped
from .options import Option

HEAD_BYTES = 65536

_TOKENS = re.compile(r'("(?:[^"\\]|\\.)*")\s*(:)?|([{}\[\]])', re.DOTALL)
"""Strings, with the colon behind keys, and brackets."""

Docs = Iterator[Doc]

Read = Callable[..., Docs]
"""(paths, lang, report, *, skip_bad, OPTIONS) -> Docs."""

Write = Callable[..., str]
"""(doc, number, OPTIONS) -> the text of a Doc; number counts the Docs of a file, from 1."""


Files = Callable[..., Mapping[str, str]]
"""(doc, OPTIONS) -> the texts of the files of a Doc, by the endings of their names."""


@dataclass(frozen=True, eq=False)
class Form:
    """What the package knows about one form of files.

    title: what it is, in one line. holds: names of the layers it can hold, see `doc.layers`.
    sample: the smallest files of the form, text by name; the first name is what is read.
    example: how to convert such a file, behind `convert`.
    fits: whether a path leaves no doubt that it is of this form; None where none can.
    suffix: ends the names of files that are written in it; None where any name does.
    files: writes a form that has files of its own for each Doc, into a folder.
    group: which span group its writer takes entities from where there is one and `spans_key` names
        no other; None for doc.ents.
    opening, between, closing: frame the texts of Docs. folders: whether a folder is one input.
    keeps_keys: whether its writer writes the further keys of records that a reader has kept.
    report: what its reader counts in; made without arguments.
    aliases: further names that commands take.
    """

    name: str
    title: str
    holds: tuple[str, ...]
    sample: Mapping[str, str]
    example: str
    read: Read | None = None
    options: tuple[Option, ...] = ()
    report: type[Skipped] = Skipped
    fits: Callable[[Path], bool] | None = None
    folders: bool = False
    write: Write | None = None
    files: Files | None = None
    write_options: tuple[Option, ...] = ()
    suffix: str | None = None
    group: str | None = None
    keeps_keys: bool = False
    opening: str = ""
    between: str = ""
    closing: str = ""
    aliases: tuple[str, ...] = field(default=())


def head(path: Path) -> str:
    """The first characters of a file, for `Form.fits`; empty for a folder."""
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES).decode("utf-8-sig", "replace")


def first_row(path: Path) -> list[str]:
    """The cells between tabs of the first line that is no comment; empty without any."""
    lines = (line.rstrip("\r") for line in head(path).split("\n"))
    return next((line.split("\t") for line in lines if line.strip() and line[0] != "#"), [])


def has_keys(path: Path, *keys: str) -> bool:
    """Whether the first object of JSON, or of JSON lines, has all of these keys."""
    return set(keys) <= keys_of(head(path))


def keys_of(text: str) -> set[str]:
    """The keys of the first object of a JSON text, of an array too; the text may be cut off."""
    found: set[str] = set()
    depth = 0
    for match in _TOKENS.finditer(text.lstrip().removeprefix("[")):
        string, colon, sign = match.groups()
        if sign:
            depth += 1 if sign in "{[" else -1
        elif colon and depth == 1:
            found.add(string[1:-1])
        if depth <= 0:
            break
    return found


def each_file(read: Callable[..., Docs]) -> Read:
    """A `Form.read` of a reader of one file, (path, vocab, *, report, OPTIONS) -> Docs."""

    def read_all(paths: Sequence[Path], lang: str, report: Skipped, **options: Any) -> Docs:
        vocab = vocab_for(lang)
        for path in paths:
            yield from read(path, vocab, report=report, **options)

    return read_all
