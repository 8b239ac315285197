"""What the conversions print at their end."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from wasabi import msg

MAX_LISTED = 50


def show_summary(
    source: str, files: Sequence[Path], rows: Iterable[tuple[str, int]], left_out: Sequence[object]
) -> None:
    """Where it went, a table of counts, and what was left out, at most MAX_LISTED lines of it."""
    msg.good(f"{source} -> {files[0] if len(files) == 1 else files[0].parent}")
    msg.table([(name, f"{n:,}") for name, n in rows], aligns=("l", "r"))
    for error in left_out[:MAX_LISTED]:
        msg.warn(f"left out {error}")
    if len(left_out) > MAX_LISTED:
        msg.warn(f"... and {len(left_out) - MAX_LISTED} more")
