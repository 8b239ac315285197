"""What went wrong, and how much there was, while entities were read."""

from dataclasses import dataclass
from operator import itemgetter

from ..common.lines import Skipped


@dataclass
class EntityReport(Skipped):
    """Counts filled while reading.

    snapped: entities whose edges were moved to tokens. stray: tags that continue an entity where
    none of their type is open; each begins one.
    """

    texts: int = 0
    entities: int = 0
    snapped: int = 0
    stray: int = 0

    def rows(self) -> list[tuple[str, int]]:
        further = [
            ("entities moved to tokens", self.snapped),
            ("tags that continue nothing", self.stray),
        ]
        return [("texts", self.texts), ("entities", self.entities), *filter(itemgetter(1), further)]
