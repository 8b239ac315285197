"""CoNLL-U Plus: the columns of CoNLL-U among others, in the order that the first line tells.

    # global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE

Columns of CoNLL-U that a file has not are unknown; columns that CoNLL-U has not are counted.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..common.lines import UTF8, FormatError, text_lines
from .api import docs_of
from .read import COLUMNS, ReadReport, parse_sentences

_HEADER = re.compile(r"#\s*global\.columns\s*=\s*(.*)")

_NOTHING = ("_", "*", "")
"""Cells that say nothing; in PARSEME:MWE * is a word outside of all expressions."""


def read_conllu_plus(
    path: Path,
    vocab: Vocab,
    *,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: ReadReport | None = None,
    **options: Any,
) -> Iterator[Doc]:
    """Docs of a file; options are those of `read_conllu`. Raises FormatError with file and line."""
    report = ReadReport() if report is None else report
    columns = _columns(path, encoding)
    sentences = parse_sentences(
        _lines(path, encoding, columns, report),
        str(path),
        report,
        skip_bad=skip_bad,
        check_bytes=True,
        columns=columns,
    )
    return docs_of(sentences, vocab, **options)


def header_of(line: str) -> list[str] | None:
    """The columns that a first line names; None where it names none."""
    match = _HEADER.match(line.removeprefix("\ufeff"))
    return match[1].split() if match else None


def _columns(path: Path, encoding: str) -> list[str]:
    columns = header_of(next(text_lines(path, encoding), ""))
    if columns is None:
        detail = "the first line must name the columns, as in # global.columns = ID FORM UPOS"
        raise FormatError(f"{path}:1", "columns", detail)
    if len(set(columns)) < len(columns) or not {"ID", "FORM"} <= set(columns):
        detail = f"ID, FORM and each other column must stand once in {' '.join(columns)!r:.80}"
        raise FormatError(f"{path}:1", "columns", detail)
    return columns


def _lines(path: Path, encoding: str, columns: Sequence[str], report: ReadReport) -> Iterator[str]:
    """All lines, the first one empty. Counts what stands in columns that are not read."""
    others = [number for number, name in enumerate(columns) if name not in COLUMNS]
    lines = text_lines(path, encoding)
    next(lines)
    yield ""
    for line in lines:
        cells = [] if line.startswith("#") else line.split("\t")
        report.not_kept.update(
            f"column {columns[n]}" for n in others if n < len(cells) and cells[n] not in _NOTHING
        )
        yield line
