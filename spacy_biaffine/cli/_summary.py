"""What the conversions print on their way, and at their end."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from tqdm import tqdm
from wasabi import msg

MAX_LISTED = 50

docs_bar = partial(tqdm, unit=" docs", leave=False)


def left_out(reasons: Counter[str]) -> list[tuple[str, int]]:
    """Rows of the table, the most frequent reason first."""
    return [(f"left out: {reason}", n) for reason, n in reasons.most_common()]


def show_summary(
    source: str,
    files: Sequence[Path],
    rows: Iterable[tuple[str, int]],
    bad: Sequence[object],
    *,
    is_whole: bool = True,
) -> None:
    """Where it went, a table of counts, and what was left out, at most MAX_LISTED lines of it.

    is_whole: whether nothing else of the source is missing or doubtful.
    """
    show = msg.good if is_whole and not bad else msg.warn
    show(f"{source} -> {files[0] if len(files) == 1 else files[0].parent}")
    msg.table([(name, f"{n:,}") for name, n in rows], aligns=("l", "r"))
    for error in bad[:MAX_LISTED]:
        msg.warn(f"left out {error}")
    if len(bad) > MAX_LISTED:
        msg.warn(f"... and {len(bad) - MAX_LISTED} more")
