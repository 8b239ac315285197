"""Lines of files with their places, and the error for what can't be read there."""

from collections.abc import Iterator
from pathlib import Path


class FormatError(ValueError):
    """Input that can't be read, and where it stands. ``reason`` is a short name to count by."""

    def __init__(self, place: str, reason: str, detail: str) -> None:
        super().__init__(f"{place}: {detail}")
        self.reason = reason


def numbered_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Each line without its end, and its place, FILE:NUMBER. Raises FormatError for no UTF-8."""
    for number, raw in enumerate(path.read_bytes().split(b"\n"), start=1):
        place = f"{path}:{number}"
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise FormatError(place, "encoding", f"this is no UTF-8 ({error.reason})") from error
        yield place, line.removesuffix("\r")
