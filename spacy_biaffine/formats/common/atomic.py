"""Files that are there as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO


@contextmanager
def whole_text(path: Path) -> Iterator[TextIO]:
    """A text file to write, under a temporary name, which gets its own at the end.

    Its folder is made. After an error the file is as it was.
    """
    with (
        _renamed(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file


@contextmanager
def whole_bytes(path: Path) -> Iterator[BinaryIO]:
    """The same for bytes."""
    with _renamed(path) as temporary, temporary.open("wb") as file:
        yield file


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
