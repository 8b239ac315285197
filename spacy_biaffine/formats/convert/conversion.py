"""What the conversions of files to .spacy and back share."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from spacy.tokens import Doc

Progress = Callable[[Iterable[Doc]], Iterable[Doc]]
"""Wraps the Docs as they come, such as tqdm."""

Report = TypeVar("Report")


@dataclass
class Conversion(Generic[Report]):
    """What one conversion read and wrote."""

    report: Report
    docs: int = 0
    files: list[Path] = field(default_factory=list)

    def counted(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        """The Docs, each counted when it comes."""
        for doc in docs:
            self.docs += 1
            yield doc
