"""Files that are there as a whole or not at all."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO


@contextmanager
def whole_text(path: Path) -> Iterator[TextIO]:
    """A text file to write, under a temporary name, which gets its own at the end.

    Its folder is made. After an error the file is as it was. When this returns the new one is on
    the disk. Raises IsADirectoryError where the name is that of a folder.
    """
    with (
        _renamed(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        yield file
        _sync(file)


@contextmanager
def whole_bytes(path: Path) -> Iterator[BinaryIO]:
    """The same for bytes."""
    with _renamed(path) as temporary, temporary.open("wb") as file:
        yield file
        _sync(file)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, under a temporary name, which gets its own at the end.

    After an error nothing is there. Raises FileExistsError where the name is that of a file, or of
    a folder that is not empty.
    """
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileExistsError(f"{path} is there already; name a new folder")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    temporary.mkdir(parents=True)
    try:
        yield temporary
        sync_files(temporary)
        if path.exists():
            path.rmdir()
        replace_on_disk(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def replace_on_disk(source: Path, target: Path) -> None:
    """Rename a file or folder, in place of what has that name; on the disk when this returns."""
    source.replace(target)
    sync_folder(target.parent)


def sync_files(folder: Path) -> None:
    """Have all files of a folder, and of those in it, on the disk."""
    for path in folder.iterdir():
        if path.is_dir():
            sync_files(path)
        else:
            with path.open("rb+") as file:
                _sync(file)
    sync_folder(folder)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk. Windows has no way to ask for that."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync(file: BinaryIO | TextIO) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def _renamed(path: Path) -> Iterator[Path]:
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file, such as {path}/out")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        replace_on_disk(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
