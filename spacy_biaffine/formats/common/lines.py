"""Lines of files with their places, and what becomes of what can't be read there."""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TextIO, TypeVar

T = TypeVar("T")
S = TypeVar("S", bound="Skipped")

UTF8 = "utf8"

Line = tuple[str, str]
"""Its place, FILE:NUMBER, and the line without its end."""

BYTE = re.compile("[\udc80-\udcff]")
"""A byte that is not UTF-8, see `opened`."""


class FormatError(ValueError):
    """Input that can't be read, and where it stands. ``reason`` is a short name to count by.
    ``block``: what was left out, as written, where a reader gives it."""

    def __init__(self, place: str, reason: str, detail: str) -> None:
        super().__init__(f"{place}: {detail}")
        self.reason = reason
        self.block = ""


@dataclass
class Skipped:
    """What a reader leaves out or doubts.

    skipped: what can't be read, by reason; errors: each of these. not_kept: what files have and
    Docs have not. doubtful: what is kept as it is, and may be a mistake; first: where each stood
    first.
    """

    skipped: Counter[str] = field(default_factory=Counter)
    errors: list[FormatError] = field(default_factory=list)
    not_kept: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def shared(self, kind: type[S]) -> S:
        """A report that counts into this one what was left out or is doubted."""
        return kind(self.skipped, self.errors, self.not_kept, self.doubtful, self.first)

    def rows(self) -> list[tuple[str, int]]:
        """What was counted, with its name; further counts only where there are some."""
        return []

    def reasons(self) -> str:
        """For an error: what was left out, by kind, and the first of it; empty for nothing."""
        if not self.skipped:
            return ""
        counted = ", ".join(f"{n} {reason}" for reason, n in self.skipped.most_common())
        return f" (left out as not valid: {counted}; the first: {self.errors[0]})"

    def doubt(self, what: str, place: str, count: int = 1) -> None:
        """Count what is kept and may be a mistake. place: of the first."""
        self.doubtful[what] += count
        self.first.setdefault(what, place)

    def attempt(self, make: Callable[[], T], *, skip_bad: bool) -> Iterator[T]:
        """What is made, or with skip_bad nothing where it can't be. Raises FormatError."""
        try:
            yield make()
        except FormatError as error:
            if not skip_bad:
                raise
            self.skipped[error.reason] += 1
            self.errors.append(error)


@contextmanager
def opened(path: Path, encoding: str = UTF8) -> Iterator[TextIO]:
    """A text file to read, whose lines end at \\n alone.

    A byte 0xNN that is not UTF-8 becomes U+DCNN, which `check_encoding` finds; in other encodings
    reading raises UnicodeError. Raises ValueError for an encoding that Python does not know.
    """
    try:
        name = codecs.lookup(encoding).name
    except LookupError as error:
        raise ValueError(f"--encoding {encoding}: no such encoding; try utf8 or latin-1") from error
    is_utf8 = name == "utf-8"
    errors = "surrogateescape" if is_utf8 else "strict"
    name = "utf-8-sig" if is_utf8 else name
    with path.open(encoding=name, errors=errors, newline="\n") as file:
        yield file


def text_lines(path: Path, encoding: str = UTF8) -> Iterator[str]:
    """Each line without its end, read one by one; see `raw_lines`."""
    for line in raw_lines(path, encoding):
        yield line.removesuffix("\n").removesuffix("\r")


def raw_lines(path: Path, encoding: str = UTF8) -> Iterator[str]:
    """Each line as it is; see `opened`. Raises FormatError, with file and line, where an encoding
    that is not UTF-8 does not fit."""
    number = 0
    with opened(path, encoding) as file:
        try:
            for line in file:
                number += 1
                yield line
        except UnicodeDecodeError as error:
            number += 1 + error.object[: error.start].count(b"\n")
            detail = f"not {encoding} ({error.reason}). Give another --encoding"
            raise FormatError(f"{path}:{number}", "encoding", detail) from error


def numbered_lines(path: Path, encoding: str = UTF8) -> Iterator[Line]:
    """`text_lines` with the place of each."""
    for number, line in enumerate(text_lines(path, encoding), start=1):
        yield f"{path}:{number}", line


def check_encoding(lines: Iterable[Line]) -> None:
    """Raise FormatError for the first byte that is not UTF-8."""
    for place, line in lines:
        bad = None if line.isascii() else BYTE.search(line)
        if bad:
            raise FormatError(place, "encoding", not_utf8(bad[0], bad.start() + 1))


def not_utf8(character: str, column: int) -> str:
    """For a message: the byte, its column from 1, and the remedy. character: U+DCNN."""
    byte = ord(character) - 0xDC00
    remedy = "utf-16" if byte >= 0xFE and column == 1 else "latin-1"
    return (
        f"not UTF-8 (byte 0x{byte:02X} at column {column}). Give --encoding {remedy}, or --skip-bad"
    )


def unread_cells(
    rows: Iterable[Sequence[str]], read: Collection[int], names: Sequence[str] = ()
) -> Counter[str]:
    """How many cells there are in each column that is not read, of the rows of a sentence.

    Those that say nothing are none: "", "_", "-", and the number of the word, from 0 or 1.
    read: counted from 0, or from the end if negative. names: of the columns, where they have any.
    """
    found: Counter[str] = Counter()
    for number, row in enumerate(rows):
        chosen = {column + len(row) if column < 0 else column for column in read}
        nothing = ("", "_", "-", str(number), str(number + 1))
        for at, cell in enumerate(row):
            if at not in chosen and cell not in nothing:
                found[f"column {names[at] if at < len(names) else at + 1}"] += 1
    return found


def blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Runs of lines between blank ones."""
    for is_blank, run in groupby(lines, lambda line: not line[1].strip()):
        if not is_blank:
            yield list(run)
