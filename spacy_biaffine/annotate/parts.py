"""OUT.parts/, the finished shards of a job.

shards/N    the part of the output
bad/N       the records that are not in it, if any, a line each
done/N      written last: whose job the two are of, their sizes and digests, and what they hold
"""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from ..formats.common.atomic import whole_bytes
from .records import Bad
from .shards import Finished


class Counts(NamedTuple):
    """What parts of an output hold.

    left_out: records that are not in them. lost: how much of each layer has no place in the form.
    """

    docs: int
    words: int
    left_out: int
    lost: dict[str, int]


class Parts:
    """The folder. suffix: of its shards."""

    def __init__(self, folder: Path, suffix: str) -> None:
        self.folder = folder
        self.joined = folder / "joined"
        self.again: list[str] = []
        self._suffix = suffix
        self._done: dict[int, Counts] = {}

    def begin(self, job: str) -> None:
        """Keep the whole shards of this job alone. `again`: names of those that were removed, and
        are made again."""
        self._job = job
        for name in ("shards", "bad", "done"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self._done = {}
        for path in (self.folder / "done").glob("*.json"):
            counts = self._read(path)
            if counts is not None:
                self._done[int(path.stem)] = counts
        for path in sorted(self.folder.glob("*/*")):
            number = int(path.stem) if path.stem.isdigit() else -1
            if number not in self._done or path not in self._files(number):
                if path.parent.name == "shards" and path.suffix == self._suffix:
                    self.again.append(str(path))
                path.unlink()

    def finished(self) -> set[int]:
        """Numbers of the shards that are there."""
        return set(self._done)

    def put(self, shard: Finished) -> None:
        """Keep a shard; it is on the disk when this returns."""
        data, bad, done = self._files(shard.number)
        lines = "".join(map(_bad_line, shard.bad)).encode()
        counts = Counts(shard.docs, shard.words, len(shard.bad), dict(shard.lost))
        if lines:
            _write(bad, lines)
        else:
            bad.unlink(missing_ok=True)
        _write(data, shard.data)
        note = {"job": self._job, "data": _mark(shard.data), "bad": _mark(lines)}
        _write(done, json.dumps({**note, "counts": counts._asdict()}).encode())
        self._done[shard.number] = counts

    def shards(self, n_shards: int) -> list[Path]:
        """The first n, in their order."""
        return [self._files(number)[0] for number in range(n_shards)]

    def bad(self, n_shards: int) -> Iterable[Path]:
        """Those of the first n that have records left out, in their order."""
        return (path for n in range(n_shards) if (path := self._files(n)[1]).exists())

    def counts(self, n_shards: int) -> Counts:
        """The sum over the first n."""
        every = [self._done[number] for number in range(n_shards)]
        lost: Counter[str] = Counter()
        for each in every:
            lost.update(each.lost)
        docs, words, left_out = (sum(column) for column in list(zip(*every, strict=True))[:3])
        return Counts(docs, words, left_out, dict(lost))

    def remove(self) -> None:
        """All of it, if it is there."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _files(self, number: int) -> tuple[Path, Path, Path]:
        name = f"{number:05}"
        return (
            self.folder / "shards" / f"{name}{self._suffix}",
            self.folder / "bad" / f"{name}.jsonl",
            self.folder / "done" / f"{name}.json",
        )

    def _read(self, done: Path) -> Counts | None:
        """What a shard holds; None where it is not whole, or of another job."""
        try:
            note: dict[str, Any] = json.loads(done.read_bytes())
            data, bad, _ = self._files(int(done.stem))
            lines = bad.read_bytes() if bad.exists() else b""
            found = {"job": self._job, "data": _mark(data.read_bytes()), "bad": _mark(lines)}
            whole = found == {key: note[key] for key in found}
            return Counts(**note["counts"]) if whole else None
        except (OSError, ValueError, KeyError, TypeError):
            return None


def _write(path: Path, data: bytes) -> None:
    with whole_bytes(path) as file:
        file.write(data)


def _mark(data: bytes) -> list[int | str]:
    """Size and digest."""
    return [len(data), hashlib.blake2b(data, digest_size=16).hexdigest()]


def _bad_line(bad: Bad) -> str:
    return json.dumps(bad._asdict()) + "\n"  # ASCII: bytes that are no UTF-8 stay as \udcNN
