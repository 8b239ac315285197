"""Features of texts by key, kept in memory or in a folder that several processes share.

A folder holds two files per writing process. NAME.features is plain little-endian float32, one
record after the other. NAME.index has an entry of 32 bytes per record: key, offset, rows, checksum.
Files are only ever appended to, each by the one process that created it, data before entry. So
no lock is needed, and what a crash tears off is an entry that is missing or whose checksum fails:
both mean that the text is encoded again. A damaged file is named once. Where the disk is full,
training goes on, and texts that are not kept are encoded in each epoch.

float32, not float16: a word of a 384-wide encoder takes 1.5 KB instead of 0.75, but a trained
pipeline scores in production what it scored in training, with a cache or without.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
import warnings
import zlib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import numpy as np

ENTRY = np.dtype([("key", "V16"), ("offset", "<u8"), ("rows", "<u4"), ("checksum", "<u4")])
FLOAT = np.dtype("<f4")
REFRESH_SECONDS = 1.0


def text_key(words: list[str]) -> bytes:
    """16 bytes that name a text: its words and where each begins."""
    return hashlib.blake2b(json.dumps(words).encode(), digest_size=16).digest()


class FeatureCache(Protocol):
    """Keys to features (n_words, width), float32."""

    def read(self, keys: Iterable[bytes]) -> dict[bytes, np.ndarray]:
        """Those of the keys that are known."""

    def write(self, features: Mapping[bytes, np.ndarray]) -> None:
        """Keep features."""


class MemoryCache:
    """Keeps features until `limit` bytes are full; later texts are not kept.

    The first ones stay: training visits every text once per epoch, and throwing out the oldest
    would throw out each text just before its turn. Warns once when a text is not kept.
    """

    def __init__(self, limit: int):
        self.limit = limit
        self._size = 0
        self._has_warned = False
        self._features: dict[bytes, np.ndarray] = {}

    def read(self, keys: Iterable[bytes]) -> dict[bytes, np.ndarray]:
        return {key: self._features[key] for key in keys if key in self._features}

    def write(self, features: Mapping[bytes, np.ndarray]) -> None:
        for key, array in features.items():
            if self._size + array.nbytes <= self.limit:
                self._features[key] = array.copy()  # a view would keep its whole batch alive
                self._size += array.nbytes
            elif not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"FrozenTransformer: the features of {len(self._features)} texts fill the "
                    f"{self.limit / 1024**2:,.0f} MiB that are kept in memory. Texts that no "
                    f"longer fit are encoded again in each epoch: set `cache` to a folder to keep "
                    f"theirs on disk.",
                    stacklevel=2,
                )


class Record(NamedTuple):
    """Where a text's features lie: offset in floats, checksum over the bytes."""

    path: Path
    offset: int
    rows: int
    checksum: int


class DiskCache:
    """Keeps features in a folder; see above. The folder is created at the first write.

    Warns once of each file that is damaged, and once when features can't be written.
    """

    def __init__(self, folder: Path, width: int):
        self.folder = folder
        self.width = width
        self._records: dict[bytes, Record] = {}
        self._doubles: dict[bytes, list[Record]] = {}
        self._index_sizes: dict[Path, int] = {}
        self._damaged: set[Path] = set()
        self._refreshed = float("-inf")
        self._writer: Writer | None = None
        self._is_full = False

    def read(self, keys: Iterable[bytes]) -> dict[bytes, np.ndarray]:
        keys = list(keys)
        if any(key not in self._records for key in keys):
            self._refresh()
        known = [key for key in keys if key in self._records]
        known.sort(key=lambda key: self._records[key])  # file by file
        found = {}
        with _Files() as files:
            for key in known:
                array = self._load(key, files)
                if array is not None:
                    found[key] = array
        return found

    def write(self, features: Mapping[bytes, np.ndarray]) -> None:
        if self._is_full:
            return
        try:
            if self._writer is None or self._writer.pid != os.getpid():
                self._writer = Writer(self.folder)  # a forked child starts files of its own
            self._records.update(self._writer.append(features))
        except OSError as error:
            self._is_full = True
            _warn(
                f"can't write to {self.folder} ({error}). Training goes on; texts that are not "
                f"kept are encoded again in each epoch."
            )

    def _refresh(self) -> None:
        """Take in what other processes have appended since the last look."""
        if time.monotonic() - self._refreshed < REFRESH_SECONDS:
            return
        self._refreshed = time.monotonic()
        for index in sorted(self.folder.glob("*.index")):
            seen = self._index_sizes.get(index, 0)
            try:
                if index.stat().st_size < seen:
                    self._tell_damage(index)
                    seen = 0
                entries = np.fromfile(index, dtype=ENTRY, offset=seen)  # drops a torn last entry
            except FileNotFoundError:  # it was removed meanwhile
                continue
            self._index_sizes[index] = seen + entries.nbytes
            data = index.with_suffix(".features")
            for key, offset, rows, checksum in entries.tolist():
                self._add(key, Record(data, offset, rows, checksum))

    def _add(self, key: bytes, record: Record) -> None:
        known = self._records.setdefault(key, record)
        if known != record:  # two processes have encoded the same text, or one anew
            self._doubles.setdefault(key, []).append(record)

    def _load(self, key: bytes, files: _Files) -> np.ndarray | None:
        """The features of a known text, (rows, width); None, and no longer known, if damaged."""
        while (record := self._records.pop(key, None)) is not None:
            data = files.read(record.path, record.offset, record.rows * self.width)
            if data is not None and zlib.crc32(data) == record.checksum:
                self._records[key] = record
                return np.frombuffer(data, dtype=FLOAT).reshape(record.rows, self.width)
            self._tell_damage(record.path)
            doubles = self._doubles.get(key)
            if doubles:
                self._records[key] = doubles.pop()
        return None

    def _tell_damage(self, path: Path) -> None:
        if path not in self._damaged:
            self._damaged.add(path)
            _warn(f"{path} is damaged. What was lost is encoded again, and kept in another file.")


class _Files:
    """Data files, each opened once. They are read, not mapped: what a mapped file has lost ends
    the process."""

    def __enter__(self) -> _Files:
        self._open: dict[Path, BinaryIO] = {}
        self._stack = ExitStack()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def read(self, path: Path, offset: int, size: int) -> bytes | None:
        """Floats from an offset in floats; None where the file is shorter, or is not there."""
        try:
            if path not in self._open:
                self._open[path] = self._stack.enter_context(path.open("rb"))
            file = self._open[path]
            start, length = offset * FLOAT.itemsize, size * FLOAT.itemsize
            if start + length > os.fstat(file.fileno()).st_size:
                return None
            file.seek(start)
            data = file.read(length)
            return data if len(data) == length else None
        except OSError:
            return None


class Writer:
    """The two files of one process in a cache folder."""

    def __init__(self, folder: Path):
        folder.mkdir(parents=True, exist_ok=True)
        self.pid = os.getpid()
        name = f"{self.pid}-{secrets.token_hex(6)}"
        self.path = folder / f"{name}.features"
        self._data: BinaryIO = self.path.open("xb")
        self._index: BinaryIO = self.path.with_suffix(".index").open("xb")

    def append(self, features: Mapping[bytes, np.ndarray]) -> dict[bytes, Record]:
        """Write all data, then all entries: an entry on disk has its data on disk."""
        records = {}
        for key, array in features.items():
            data = np.ascontiguousarray(array, dtype=FLOAT)
            offset = self._data.tell() // FLOAT.itemsize
            records[key] = Record(self.path, offset, len(array), zlib.crc32(data.data))
            self._data.write(data.data)
        self._data.flush()
        entries = [(key, r.offset, r.rows, r.checksum) for key, r in records.items()]
        self._index.write(np.array(entries, dtype=ENTRY).tobytes())
        self._index.flush()
        return records


def _warn(message: str) -> None:
    warnings.warn(f"FrozenTransformer: {message}", stacklevel=3)
