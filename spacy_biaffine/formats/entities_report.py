"""What went wrong, and how much there was, while entities were read."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from .lines import FormatError

T = TypeVar("T")


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
        """What is made, or with skip_bad nothing where it can't be. Raises FormatError."""
        try:
            yield make()
        except FormatError as error:
            if not skip_bad:
                raise
            self.skipped[error.reason] += 1
            self.errors.append(error)
