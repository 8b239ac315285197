"""Runs of records that are annotated together, and what becomes of them."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from .records import Bad, Record


class Shard(NamedTuple):
    """Records that follow each other. first: the number of the first one in all input, from 0."""

    number: int
    first: int
    records: list[Record | Bad]


class Finished(NamedTuple):
    """An annotated shard: its part of the output, and the records that are not in it.

    lost: how much of each layer, by its title, the form has no place for.
    """

    number: int
    data: bytes
    bad: list[Bad]
    docs: int
    words: int
    lost: Mapping[str, int]


def cut(records: Iterable[Record | Bad], size: int) -> Iterator[Shard]:
    """Shards of `size` records, bad ones counted; the last may have fewer."""
    stream = iter(records)
    number = 0
    while found := list(islice(stream, size)):
        yield Shard(number, number * size, found)
        number += 1
