"""What went wrong, and how much there was, while entities were read."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class EntityError(ValueError):
    """Entities that can't be read. ``reason`` is a short name to count by."""

    def __init__(self, place: str, reason: str, detail: str) -> None:
        super().__init__(f"{place}: {detail}")
        self.reason = reason


@dataclass
class EntityReport:
    """Counts filled while reading.

    snapped: entities whose edges were moved to tokens. stray: tags that continue an entity where
    none of their type is open; each begins one. errors: of what was skipped.
    """

    texts: int = 0
    entities: int = 0
    snapped: int = 0
    stray: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    errors: list[ValueError] = field(default_factory=list)

    def attempt(self, make: Callable[[], T], *, skip_bad: bool) -> Iterator[T]:
        """What is made, or with skip_bad nothing where it can't be. Raises EntityError."""
        try:
            yield make()
        except EntityError as error:
            if not skip_bad:
                raise
            self.skipped[error.reason] += 1
            self.errors.append(error)


def numbered_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Each line without its end, and its place, FILE:NUMBER. Raises EntityError for no UTF-8."""
    for number, raw in enumerate(path.read_bytes().split(b"\n"), start=1):
        place = f"{path}:{number}"
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise EntityError(place, "encoding", f"this is no UTF-8 ({error.reason})") from error
        yield place, line.removesuffix("\r")
