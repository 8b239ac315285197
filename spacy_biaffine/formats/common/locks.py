"""One process at a time. The system frees a lock whose holder has died, however it died."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path

from filelock import FileLock, Timeout


def take(path: Path) -> FileLock | None:
    """The lock of a file, to be released; None where another process has it, see `holder`.

    Its folder is made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(str(path))
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return None
    since = datetime.now(timezone.utc).isoformat(timespec="seconds")
    note = {"process": os.getpid(), "host": socket.gethostname(), "since": since}
    _note(path).write_text(json.dumps(note), encoding="utf-8")
    return lock


def holder(path: Path) -> str:
    """Who has a lock: process, host, since when."""
    try:
        note = json.loads(_note(path).read_text(encoding="utf-8"))
        return f"process {note['process']} on {note['host']}, since {note['since']}"
    except (OSError, ValueError, KeyError, TypeError):  # it has just begun, or ended
        return "another process"


@contextmanager
def only_writer(target: Path) -> Iterator[None]:
    """Hold TARGET.lock, which is removed at the end. Raises ValueError where another has it."""
    path = target.with_name(target.name + ".lock")
    lock = take(path)
    if lock is None:
        raise ValueError(
            f"{target} is being written by {holder(path)}. Wait until it has ended, or choose "
            f"another OUT."
        )
    try:
        yield
    finally:
        _note(path).unlink(missing_ok=True)
        with suppress(PermissionError):  # of Windows, which removes no open file
            path.unlink(missing_ok=True)
        lock.release()
        if os.name == "nt":
            with suppress(PermissionError):
                path.unlink(missing_ok=True)


def _note(path: Path) -> Path:
    """Beside the lock, since Windows lets nobody read a locked file."""
    return path.with_name(path.name + ".json")
