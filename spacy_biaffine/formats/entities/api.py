"""Files with entities <-> spaCy Docs: the names other modules use."""

from .bio_columns import Columns, read_columns
from .json_offsets import (
    cluener_offsets,
    entities_record,
    offsets_of,
    read_entities_json,
    write_entities_json,
)
from .report import EntityReport
from .to_docs import Offsets, by_character

__all__ = [
    "Columns",
    "EntityReport",
    "Offsets",
    "by_character",
    "cluener_offsets",
    "entities_record",
    "offsets_of",
    "read_columns",
    "read_entities_json",
    "write_entities_json",
]
