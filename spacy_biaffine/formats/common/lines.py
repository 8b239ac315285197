"""Lines of files with their places, and what becomes of what can't be read there."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

Line = tuple[str, str]
"""Its place, FILE:NUMBER, and the line without its end."""


class FormatError(ValueError):
    """Input that can't be read, and where it stands. ``reason`` is a short name to count by.
    ``block``: what was left out, as written, where a reader gives it."""

    def __init__(self, place: str, reason: str, detail: str) -> None:
        super().__init__(f"{place}: {detail}")
        self.reason = reason
        self.block = ""


@dataclass
class Skipped:
    """What was left out because it can't be read: how often for each reason, and the errors."""

    skipped: Counter[str] = field(default_factory=Counter)
    errors: list[FormatError] = field(default_factory=list)

    def rows(self) -> list[tuple[str, int]]:
        """What was counted, with its name; further counts only where there are some."""
        return []

    def attempt(self, make: Callable[[], T], *, skip_bad: bool) -> Iterator[T]:
        """What is made, or with skip_bad nothing where it can't be. Raises FormatError."""
        try:
            yield make()
        except FormatError as error:
            if not skip_bad:
                raise
            self.skipped[error.reason] += 1
            self.errors.append(error)


def numbered_lines(path: Path) -> Iterator[Line]:
    """Each line without its end, and its place, FILE:NUMBER. Raises FormatError for no UTF-8."""
    for number, raw in enumerate(path.read_bytes().split(b"\n"), start=1):
        place = f"{path}:{number}"
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(place, "encoding", f"this is no UTF-8 ({error.reason})") from error
        yield place, line.removesuffix("\r")


def blocks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Runs of lines between blank ones."""
    for is_blank, run in groupby(lines, lambda line: not line[1].strip()):
        if not is_blank:
            yield list(run)
