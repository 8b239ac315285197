"""One token a line with its label in a column, blank lines between sentences -> Docs."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...doc.scores import register_token_label
from ..common.lines import (
    UTF8,
    FormatError,
    Line,
    Skipped,
    blocks,
    check_encoding,
    numbered_lines,
    unread_cells,
)

MISSING = "_"
"""What stands in the column of a token that has no label."""


@dataclass
class LabelReport(Skipped):
    """Counts filled while reading."""

    words: int = 0
    labels: int = 0

    def rows(self) -> list[tuple[str, int]]:
        return [("words", self.words), ("labels", self.labels)]


def read_labels(
    path: Path,
    vocab: Vocab,
    *,
    target: str = "tag",
    token: int = 0,
    label: int = 1,
    n_sents: int = 1,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: LabelReport | None = None,
) -> Iterator[Doc]:
    """Docs of n_sents sentences with gold labels.

    A line with a tab has its columns between tabs; one without between blanks. Lines that are empty
    or blank end a sentence. The label "_" is none.
    target: where the label goes: tag, pos, or a token extension such as `_.supertag`.
    token, label: number of the column, from 0; negative ones count from the end of the line.
    Further columns are counted in report. skip_bad: leave out sentences that can't be read.
    Raises FormatError, with file and line, also where no word has a label, and ValueError for
    another target.
    """
    if target not in ("tag", "pos") and not target.startswith("_."):
        raise ValueError(f"target is {target!r}; columns go to tag, pos or _.NAME.")
    report = LabelReport() if report is None else report
    before = report.labels
    rows_of = partial(_rows, token=token, label=label, target=target, report=report)
    waiting: list[list[tuple[str, str]]] = []
    found = False
    for block in blocks(numbered_lines(path, encoding)):
        found = True
        waiting += report.attempt(partial(rows_of, block), skip_bad=skip_bad)
        if waiting and len(waiting) == n_sents:
            yield _doc(waiting, vocab, target)
            waiting = []
    if waiting:
        yield _doc(waiting, vocab, target)
    if not found:
        raise FormatError(str(path), "empty", "no sentences found")
    if report.words and report.labels == before:
        detail = f"no word has a label: all are {MISSING!r} in column {label}, counted from 0"
        raise FormatError(str(path), "labels", detail)


def _rows(
    block: list[Line], *, token: int, label: int, target: str, report: LabelReport
) -> list[tuple[str, str]]:
    """The word and the label of each line."""
    check_encoding(block)
    lines = [line.split("\t") if "\t" in line else line.split() for _, line in block]
    places = [place for place, _ in block]
    rows = [_row(*each, token, label) for each in zip(places, lines, strict=True)]
    if target == "pos":
        for place, (_, name) in zip(places, rows, strict=True):
            if name not in POS_IDS:
                known = ", ".join(filter(None, POS_IDS))
                raise FormatError(place, "pos", f"{name!r:.40} is no part of speech; use {known}")
    report.words += len(rows)
    report.labels += sum(bool(name) for _, name in rows)
    report.not_kept.update(unread_cells(lines, (token, label)))
    return rows


def _row(place: str, columns: list[str], token: int, label: int) -> tuple[str, str]:
    try:
        word, name = columns[token].strip(), columns[label].strip()
    except IndexError:
        raise FormatError(
            place,
            "columns",
            f"{len(columns)} columns; wanted the token in column {token} and the label in column "
            f"{label}, counted from 0",
        ) from None
    if not word or not name:
        empty = "label" if word else "token"
        raise FormatError(place, empty, f"the {empty} is empty; '_' is no label")
    return word, "" if name == MISSING else name


def _doc(sentences: list[list[tuple[str, str]]], vocab: Vocab, target: str) -> Doc:
    words = [word for rows in sentences for word, _ in rows]
    labels = [label for rows in sentences for _, label in rows]
    starts: list[bool | int | None] = [
        place == 0 for rows in sentences for place in range(len(rows))
    ]
    if target == "tag":
        return Doc(vocab, words=words, sent_starts=starts, tags=labels)
    if target == "pos":
        return Doc(vocab, words=words, sent_starts=starts, pos=labels)
    name = target.removeprefix("_.")
    register_token_label(name)
    doc = Doc(vocab, words=words, sent_starts=starts)
    for token, label in zip(doc, labels, strict=True):
        token._.set(name, label or None)
    return doc
