"""Nodes of graphs, and the spans that say what they are, in plain data."""

import json
import struct
from functools import lru_cache
from typing import NamedTuple

import srsly
from spacy.tokens import SpanGroup

Incoming = tuple[tuple[int | None, str], ...]
"""The edges that lead to a node: how many nodes before it the head stands, None for the root; and
the label."""


class KeptNode(NamedTuple):
    """A node: its first character and the one after its last; hashes of its label and kb_id."""

    start: int
    end: int
    label: int
    kb_id: int
    edges: Incoming


@lru_cache(maxsize=100_000)
def write_edges(edges: Incoming) -> str:
    """JSON, "" without edges."""
    return json.dumps(edges, ensure_ascii=False) if edges else ""


@lru_cache(maxsize=100_000)
def read_edges(written: str) -> Incoming:
    """What `write_edges` has written. Raises TypeError or ValueError for something else."""
    edges = tuple((offset, label) for offset, label in json.loads(written or "[]"))
    for offset, label in edges:
        if not (offset is None or type(offset) is int) or not isinstance(label, str):
            raise ValueError(f"{written!r} holds no edges")
    return edges


class PackedSpan(NamedTuple):
    """A span of a group, as `SpanGroup.to_bytes` packs it: hashes and places."""

    id: int
    kb_id: int
    label: int
    first_token: int
    end_token: int
    start: int
    end: int


_PACKED = struct.Struct(">QQQllll")


def packed_spans(group: SpanGroup) -> list[PackedSpan]:
    """The spans of a group, also those that reach past the end of the Doc, which spaCy refuses to
    give where tokens were merged."""
    try:
        return [
            PackedSpan(s.id, s.kb_id, s.label, s.start, s.end, s.start_char, s.end_char)
            for s in group
        ]
    except IndexError:
        packed = srsly.msgpack_loads(group.to_bytes())["spans"]
        return [PackedSpan(*_PACKED.unpack(each)) for each in packed]
