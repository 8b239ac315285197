"""What training will leave out, counted once when it starts."""

import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from spacy.training import Example

from ..gold.alignment import misaligned
from ..gold.left_out import LabelNumbers, LeftOut

MAX_LISTED = 10


class Learner(Protocol):
    """A component, as far as it is needed here."""

    name: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that it learns; none where they are still to be collected."""

    def left_out(self, example: Example, numbers: LabelNumbers) -> LeftOut:
        """What can't be learned of an Example. The numbers are asked for all of its labels."""


class Tally:
    """Counts what a component can't learn while its Examples are read."""

    def __init__(self, pipe: Learner) -> None:
        self.pipe = pipe
        self.left_out: LeftOut = Counter()
        self.unknown: set[str] = set()
        self.tokens = self.misaligned = 0

    def counted(self, examples: Iterable[Example]) -> Iterator[Example]:
        """The Examples, counted on the way."""
        numbers = LabelNumbers(self.pipe.labels)
        for example in examples:
            self.left_out.update(self.pipe.left_out(example, numbers))
            self.tokens += len(example.predicted)
            self.misaligned += misaligned(example)
            yield example
        self.unknown = numbers.unknown

    def warn(self, stacklevel: int) -> None:
        """Say how many tokens are aligned with none, and of what can't be learned how much there
        is of each kind, with its remedy."""
        if self.misaligned:
            warnings.warn(
                f"[{self.pipe.name}] {self.misaligned} of {self.tokens} tokens "
                f"({self.misaligned / self.tokens:.1%}) are tokenized otherwise than in the gold "
                f"standard: annotation that does not fit them is left out of training.",
                stacklevel=stacklevel + 1,
            )
        kinds = self.left_out.most_common()
        lines = [f"- {kind.what}: {count}; {kind.remedy}." for kind, count in kinds]
        if unknown := self.unknown - set(self.pipe.labels):
            lines.append(f"- it {unknown_labels(unknown, self.pipe.name)}")
        if lines:
            said = "\n".join(lines)
            warnings.warn(
                f"[{self.pipe.name}] of the gold annotation this can't be learned:\n{said}",
                stacklevel=stacklevel + 1,
            )


def unknown_labels(labels: Collection[str], name: str) -> str:
    """What is said about labels that a component does not learn."""
    listed = ", ".join(map(repr, sorted(labels)[:MAX_LISTED]))
    more = f" and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else ""
    return (
        f"does not learn {listed}{more}: it has seen no such label when it was initialized. Of a "
        f"corpus that is streamed spaCy shows 100 examples: write all labels with `python -m spacy "
        f"init labels`, and name the file in [initialize.components.{name}.labels]."
    )
