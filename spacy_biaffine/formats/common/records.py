"""Files of JSON objects: one array of them, or one a line. Both are read piece by piece."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from .json_text import json_value, value_at
from .lines import (
    BYTE,
    UTF8,
    FormatError,
    Skipped,
    check_encoding,
    not_utf8,
    numbered_lines,
    opened,
)

Record = dict[str, Any]

CHUNK = 1 << 16
"""How many characters of an array are read at once."""

_LONGEST = len("-Infinity") + 3
"""How far before its end a text that is cut may be no JSON; strings aside."""

_BLANKS = re.compile(r"[ \t\r\n]*")


def json_records(path: Path, encoding: str = UTF8) -> Iterator[tuple[str, Callable[[], Record]]]:
    """The place of each object, FILE:LINE, in an array with its number; and a function that gives
    the object, or raises FormatError where there is none.

    Raises FormatError itself where an array ends too soon or goes on behind its end, since nothing
    more can be read.
    """
    if _is_array(path, encoding):
        with opened(path, encoding) as file:
            yield from _Array(path, file).objects()
        return
    for place, line in numbered_lines(path, encoding):
        if line.strip():
            yield place, partial(_loaded, place, line)


def count_rest(record: Record, known: Iterable[str], what: str, report: Skipped) -> None:
    """Count the keys of a record that are not among the known ones. what: in front of their
    names, such as "of an entity:"; empty for the record of a text."""
    report.not_kept.update(f"{what} {key}".strip() for key in record.keys() - set(known))


def _is_array(path: Path, encoding: str) -> bool:
    with opened(path, encoding) as file:
        for chunk in iter(lambda: file.read(CHUNK), ""):
            if chunk.strip():
                return chunk.lstrip().startswith("[")
    return False


class _Array:
    """An array in a file, of which one object at a time is in memory."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self._path = path
        self._file = file
        self._text = ""
        self._at = 0
        self._line = 1
        self._column = 0
        self._number = 0

    @property
    def place(self) -> str:
        """Where the next object begins."""
        return f"{self._path}:{self._line} (object {self._number})"

    def objects(self) -> Iterator[tuple[str, Callable[[], Record]]]:
        self._next()
        self._take(1)
        while self._next() != "]":
            place = self.place
            value, bad = self._value()
            yield place, partial(_checked, place, value, bad)
            self._number += 1
            if self._next() == ",":
                self._take(1)
            elif self._next() != "]":
                detail = "after this object the array goes on without , or ]"
                raise FormatError(place, "json", detail)
        self._take(1)
        if self._next():
            raise FormatError(self.place, "json", "the array ends here, and the file goes on")

    def _next(self) -> str:
        """The next character that is not blank; empty at the end of the file."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            assert blanks is not None
            self._take(blanks.end() - self._at)
            if self._at < len(self._text) or not self._more():
                return self._text[self._at : self._at + 1]

    def _value(self) -> tuple[Any, FormatError | None]:
        """The value that begins here, and what is wrong with its bytes."""
        while True:
            try:
                value, end = value_at(self._text, self._at)
            except ValueError as error:
                if _is_cut(error, len(self._text)) and self._more():
                    continue
                raise FormatError(self.place, "json", str(error)) from error
            bad = BYTE.search(self._text, self._at, end)
            self._take((bad.start() if bad else end) - self._at)
            problem = bad and FormatError(
                f"{self._path}:{self._line}", "encoding", not_utf8(bad[0], self._column + 1)
            )
            self._take(end - self._at)
            return value, problem

    def _take(self, count: int) -> None:
        end = self._at + count
        lines = self._text.count("\n", self._at, end)
        self._line += lines
        self._column = end - self._text.rindex("\n", 0, end) - 1 if lines else self._column + count
        self._at = end

    def _more(self) -> bool:
        """Read on, each time as much as there is already; whether there was more."""
        rest = self._text[self._at :]
        more = self._file.read(max(CHUNK, len(rest)))
        self._text, self._at = rest + more, 0
        return bool(more)


def _is_cut(error: ValueError, size: int) -> bool:
    """Whether what was read ends within a value."""
    cause = error.__cause__
    return isinstance(cause, json.JSONDecodeError) and (
        cause.pos > size - _LONGEST or cause.msg.startswith("Unterminated string")
    )


def _loaded(place: str, line: str) -> Record:
    check_encoding([(place, line)])
    try:
        value = json_value(line)
    except ValueError as error:
        raise FormatError(place, "json", str(error)) from error
    return _checked(place, value)


def _checked(place: str, value: Any, problem: FormatError | None = None) -> Record:
    if problem is not None:
        raise problem
    if not isinstance(value, dict):
        raise FormatError(place, "json", f"{value!r:.40} is no JSON object")
    return value
