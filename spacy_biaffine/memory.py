"""Memory of a process that runs for long over sentences of ever new lengths."""

import ctypes
import os
from collections.abc import Callable

FEW = 64
"""LSTMs of oneDNN that are kept, one for each shape of a batch it has met. To make one anew takes
hardly longer than to run it; the 1,024 that oneDNN keeps take about a hundred megabytes."""


def keep_few_primitives() -> None:
    """Let oneDNN keep few of what it makes for each shape of a batch, or what the user has set.

    It reads the setting once, when torch first runs a layer by it: call this before.
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", str(FEW))


def give_back() -> None:
    """Return the memory that is free to the system.

    glibc keeps what lies between blocks in use, which is half of it after many batches of different
    sizes. Does nothing where the C library is another.
    """
    if _trim is not None:
        _trim(0)


def _find_trim() -> Callable[[int], int] | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None


_trim = _find_trim()
