"""CoNLL-U text -> checked sentences: the line format, without spaCy.

Lines are cut at ``\\n`` only (a final ``\\r`` is stripped) and columns at ``\\t`` only, so a FORM
may hold blanks, U+00A0 or U+2028. Every cell is kept as written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..common.lines import UTF8, FormatError, Skipped, check_encoding, text_lines
from .check import check_tree, split_deps
from .doubts import DocMarks, doubt_roots

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)

_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})", re.ASCII)
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]{0,8})\.([1-9][0-9]{0,8})", re.ASCII)
_SENT_ID = re.compile(r"#\s*sent_id\s*=\s*(.*)")
_NEWDOC = re.compile(r"#\s*newdoc\b")

Line = tuple[int, str]  # number in the file, from 1; text without its line end


class ConlluError(FormatError):
    """Input that is not valid CoNLL-U. ``block``: the sentence as written."""

    def __init__(self, place: str, sent_id: str, reason: str, detail: str) -> None:
        super().__init__(place, reason, f"sentence {sent_id}: {detail}" if sent_id else detail)


@dataclass
class Sentence:
    """One sentence as written. ``others`` holds the lines that are neither words nor leading
    comments (multiword ranges, empty nodes), each with the number of words before it.
    """

    comments: list[str]
    words: list[list[str]]
    others: list[tuple[int, str]]
    starts_doc: bool
    tail: list[str] = field(default_factory=list)  # comments after the last sentence of the file
    place: str = ""  # FILE:LINE of its first line, where it was read from CoNLL-U

    @property
    def sent_id(self) -> str:
        """Value of the ``# sent_id`` comment, or ''."""
        return _sent_id(self.comments)

    def ranges(self) -> Iterator[tuple[int, int, list[str]]]:
        """Multiword tokens as (first word, end word, cells): indices from 0, end exclusive."""
        for position, line in self.others:
            cells = line.split("\t")
            if "-" in cells[ID] and line[0] != "#":
                yield position, int(cells[ID].partition("-")[2]), cells


@dataclass
class ReadReport(Skipped):
    """Counts filled while reading."""

    sentences: int = 0
    words: int = 0
    ranges: int = 0
    empty_nodes: int = 0

    def rows(self) -> list[tuple[str, int]]:
        return [
            ("sentences", self.sentences),
            ("words", self.words),
            ("multiword tokens", self.ranges),
            ("empty nodes", self.empty_nodes),
        ]


def read_sentences(
    path: Path,
    report: ReadReport | None = None,
    *,
    skip_bad: bool = False,
    check_deps: bool = False,
    encoding: str = UTF8,
) -> Iterator[Sentence]:
    """Sentences of a CoNLL-U file, in order.

    skip_bad: leave out sentences that are not valid, and list them in ``report``. check_deps: a
    sentence is valid only if its DEPS are; otherwise they are kept as they are, whatever they are.
    Raises FormatError, also where the file holds no sentence at all.
    """
    return parse_sentences(
        text_lines(path, encoding),
        str(path),
        report,
        skip_bad=skip_bad,
        check_deps=check_deps,
        check_bytes=True,
    )


def parse_sentences(
    lines: Iterable[str],
    name: str,
    report: ReadReport | None = None,
    *,
    skip_bad: bool = False,
    check_deps: bool = False,
    check_bytes: bool = False,
    columns: Sequence[str] = COLUMNS,
) -> Iterator[Sentence]:
    """As `read_sentences`, from lines that still have or have lost their line end.

    columns: names of those that the lines have; of these, the ten of CoNLL-U are read.
    check_bytes: a sentence with a byte that is not UTF-8, which is U+DCNN here, is not valid.
    """
    report = ReadReport() if report is None else report
    waiting: Sentence | None = None  # held back one step: it takes the comments at the file's end
    loose: list[str] = []  # comments of a block without words: they go to the next sentence
    starts_doc = False
    marks = DocMarks(report)
    for block in _blocks(lines):
        marks.look(block, name)
        try:
            if check_bytes:
                check_encoding((f"{name}:{number}", text) for number, text in block)
            if all(text.startswith("#") for _, text in block):
                loose += [text for _, text in block]
                continue
            starts_doc |= any(_NEWDOC.match(text) for text in loose)
            sentence = _parse_block(block, name, check_deps, columns)
        except FormatError as error:
            if not skip_bad:
                raise
            error.block = "\n".join(text for _, text in block)
            report.skipped[error.reason] += 1
            report.errors.append(error)
            # The next good sentence still begins a new document.
            starts_doc |= any(_NEWDOC.match(text) for _, text in block)
            continue
        sentence.starts_doc |= starts_doc
        sentence.comments[:0] = loose
        loose, starts_doc = [], False
        if waiting is not None:
            yield waiting
        waiting = sentence
        _count(sentence, report)
        doubt_roots(sentence.words, sentence.place, report)
    marks.end()
    if waiting is None:
        raise ConlluError(
            name, "", "no sentences", f"no sentences found in {name}{report.reasons()}"
        )
    waiting.tail = loose
    yield waiting


def _blocks(lines: Iterable[str]) -> Iterator[list[Line]]:
    """Runs of lines between blank ones. A line of blanks only is blank."""
    block: list[Line] = []
    for number, raw in enumerate(lines, 1):
        line = raw.removesuffix("\n").removesuffix("\r")
        if number == 1:
            line = line.removeprefix("\ufeff")
        if line.strip(" \t\r"):
            block.append((number, line))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _parse_block(
    block: list[Line], name: str, check_deps: bool, columns: Sequence[str]
) -> Sentence:
    comments: list[str] = []
    words: list[list[str]] = []
    others: list[tuple[int, str]] = []
    numbers: list[int] = []
    range_end = empty_node = 0

    def fail(number: int, reason: str, detail: str) -> ConlluError:
        sent_id = _sent_id([text for _, text in block])
        return ConlluError(f"{name}:{number}", sent_id, reason, detail)

    for number, line in block:
        if line[0] == "#":
            if words or others:
                others.append((len(words), line))
            else:
                comments.append(line)
            continue
        cells = line.split("\t")
        if len(cells) != len(columns):
            wanted = f"wanted {len(columns)}, separated by single tabs"
            raise fail(number, "column count", f"{len(cells)} columns, {wanted}: {line[:60]!r}")
        if "" in cells:
            detail = f"column {columns[cells.index('')]} is empty; write _ for a missing value"
            raise fail(number, "empty column", detail)
        if columns is not COLUMNS:
            cells = [dict(zip(columns, cells, strict=True)).get(name, "_") for name in COLUMNS]
            line = "\t".join(cells)
        n_words = len(words)
        if cells[ID] == str(n_words + 1):
            words.append(cells)
            numbers.append(number)
            empty_node = 0
        elif (match := _RANGE.fullmatch(cells[ID])) and _range_fits(match, n_words, range_end):
            others.append((n_words, line))
            range_end = int(match[2])
        elif cells[ID] == f"{n_words}.{empty_node + 1}":
            others.append((n_words, line))
            empty_node += 1
        else:
            raise fail(number, "ID", _id_detail(cells[ID], n_words, range_end, empty_node))
    last = block[-1][0]
    if not words:
        raise fail(last, "no words", "no word in this sentence; delete the block or add its words")
    if range_end > len(words):
        detail = f"a multiword token ends at word {range_end}, the sentence has {len(words)} words"
        raise fail(last, "ID", detail)
    problem = check_tree([cells[HEAD] for cells in words])
    if problem is not None:
        raise fail(numbers[problem.word], problem.reason, problem.detail)
    for number, line in block if check_deps else ():
        cells = line.split("\t")
        try:
            split_deps(cells[DEPS] if line[0] != "#" else "_", len(words))
        except ValueError as error:
            raise fail(number, "DEPS", str(error)) from error
    starts_doc = any(_NEWDOC.match(comment) for comment in comments)
    return Sentence(comments, words, others, starts_doc, place=f"{name}:{block[0][0]}")


def _range_fits(match: re.Match[str], n_words: int, range_end: int) -> bool:
    start, end = int(match[1]), int(match[2])
    return start == n_words + 1 and start > range_end and start <= end


def _id_detail(found: str, n_words: int, range_end: int, empty_node: int) -> str:
    wanted = f"{n_words + 1}, {n_words}.{empty_node + 1}"
    if n_words >= range_end:
        wanted += f" or {n_words + 1}-N"
    remedy = "number the words 1, 2, 3, ... without gaps or repeats"
    return f"ID {found!r} where {wanted} can stand; {remedy}"


def _sent_id(comments: list[str]) -> str:
    matches = (_SENT_ID.match(comment) for comment in comments)
    return next((match[1].strip() for match in matches if match), "")


def _count(sentence: Sentence, report: ReadReport) -> None:
    report.sentences += 1
    report.words += len(sentence.words)
    for _, line in sentence.others:
        identifier = line.split("\t", 1)[0]
        report.ranges += "-" in identifier and line[0] != "#"
        report.empty_nodes += "." in identifier and line[0] != "#"
