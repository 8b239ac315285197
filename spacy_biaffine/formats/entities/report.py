"""What went wrong, and how much there was, while entities were read."""

from dataclasses import dataclass
from operator import itemgetter

from ..common.lines import Skipped


@dataclass
class EntityReport(Skipped):
    """Counts filled while reading.

    snapped: entities whose edges were moved to tokens. stray: tags that continue an entity where
    none of their type is open; each begins one. repeated: what is listed again, and kept once.
    nested: entities that a group alone holds, since they overlap a longer one.
    """

    texts: int = 0
    entities: int = 0
    snapped: int = 0
    stray: int = 0
    repeated: int = 0
    nested: int = 0

    def rows(self) -> list[tuple[str, int]]:
        further = [
            ("entities moved to tokens", self.snapped),
            ("tags that continue nothing", self.stray),
            ("listed again, kept once", self.repeated),
            ("entities inside or across others, not in doc.ents", self.nested),
        ]
        return [("texts", self.texts), ("entities", self.entities), *filter(itemgetter(1), further)]
