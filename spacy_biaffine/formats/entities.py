"""Files with entities <-> spaCy Docs: the names other modules use."""

from .entities_columns import Columns, read_columns
from .entities_docs import Offsets, by_character
from .entities_json import (
    cluener_offsets,
    entities_record,
    offsets_of,
    read_entities_json,
    write_entities_json,
)
from .entities_report import EntityReport

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
