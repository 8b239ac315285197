"""The file of result lines, shared by any number of processes, and claims of cells to run."""

import json
import os
from pathlib import Path
from typing import Any

from filelock import FileLock

from ..formats.common.atomic import sync_folder
from ..formats.common.locks import holder, take

Line = dict[str, Any]


class Results:
    """One JSON object a line, one line a finished cell.

    Lines are only ever appended, whole and under a lock. So a last line without its newline was
    torn off by a crash: readers leave it out, and the next writer cuts it away.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._locks = path.parent / ".locks" / path.stem

    def read(self) -> dict[str, Line]:
        """Key to result line. Raises ValueError, with file and line."""
        if not self.path.exists():
            return {}
        *whole, _torn = self.path.read_bytes().split(b"\n")
        lines: dict[str, Line] = {}
        for number, text in enumerate(whole, start=1):
            try:
                line = json.loads(text)
                lines[line["key"]] = line
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"{self.path}:{number} is no result line. Delete it: its cell runs again."
                ) from None
        return lines

    def append(self, line: Line) -> None:
        """Add a line. When this returns, it is on the disk."""
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        with FileLock(str(self._lock_file("file"))):
            self.path.touch()
            with self.path.open("r+b") as file:
                file.seek(_end_of_lines(self.path.read_bytes()))
                file.truncate()
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        sync_folder(self.path.parent)

    def claim(self, key: str) -> FileLock | None:
        """The right to run a cell, to be released; None where another process has it.

        The system releases the claims of a process that dies.
        """
        return take(self._lock_file(key))

    def holder(self, key: str) -> str:
        """Who runs a cell."""
        return holder(self._lock_file(key))

    def _lock_file(self, name: str) -> Path:
        self._locks.mkdir(parents=True, exist_ok=True)
        return self._locks / f"{name}.lock"


def _end_of_lines(data: bytes) -> int:
    return data.rfind(b"\n") + 1
