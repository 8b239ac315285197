"""The registered logger: the usual table, a JSONL file, TensorBoard, and readings of the watch."""

import importlib.util
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, Protocol

from spacy.language import Language
from spacy.training.loggers import console_logger_v3

from ..memory import give_back

Info = dict[str, Any]
LogStep = Callable[[Info | None], None]
SetUp = Callable[[Language, IO, IO], tuple[LogStep, Callable[[], None]]]


class _Board(Protocol):
    def add_scalar(self, tag: str, value: float, step: int) -> None: ...
    def close(self) -> None: ...


def JsonlLogger(  # noqa: N802 (spaCy names registered functions like classes)
    path: Path, watch: bool = False, progress_bar: str | None = None
) -> SetUp:
    """Print the table of spaCy's console logger and write one JSON object per evaluation.

    path: the file; an older one is overwritten. An evaluation has epoch, step, seconds since
        training started, losses, score (the weighted one) and scores. The last line is
        {"end": {"step": ..., "seconds": ...}}.
    watch: add readings of arc scores, weights and gradients, for each biaffine parser in the
        pipeline (see `Watch`). Costs a few percent of the time of a step.
    progress_bar: "train", "eval" or null, as in spaCy's.

    Where the package tensorboard is installed, the same numbers are written for it, to the folder
    of the file.
    """

    def setup(
        nlp: Language, stdout: IO = sys.stdout, stderr: IO = sys.stderr
    ) -> tuple[LogStep, Callable[[], None]]:
        print_step, stop_printing = console_logger_v3(progress_bar=progress_bar)(
            nlp, stdout, stderr
        )
        log = _Log(nlp, Path(path), watch)

        def log_step(info: Info | None) -> None:
            print_step(info)
            log.step(info)

        def finalize() -> None:
            stop_printing()
            log.close()

        return log_step, finalize

    return setup


class _Log:
    def __init__(self, nlp: Language, path: Path, watch: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("w", encoding="utf8")
        self._board = _open_board(path.parent)
        self._watches: dict[str, Any] = {}
        if watch:
            from .watch import watches

            self._watches = watches(nlp)
        self._start = time.perf_counter()
        self._step = -1

    def step(self, info: Info | None) -> None:
        self._step += 1
        if info is None:
            return
        entry = {
            "epoch": info["epoch"],
            "step": info["step"],
            "seconds": self._seconds(),
            "losses": {name: float(loss) for name, loss in info["losses"].items()},
            "score": float(info["score"]),
            "scores": numbers(info["other_scores"]),
        }
        if self._watches:
            entry["watch"] = {name: watch.read() for name, watch in self._watches.items()}
        self._write(entry)
        give_back()  # an evaluation has taken and left much of it
        if self._board is not None:
            for tag, value in _flat(entry):
                self._board.add_scalar(tag, value, info["step"])

    def close(self) -> None:
        self._write({"end": {"step": self._step, "seconds": self._seconds()}})
        self._file.close()
        if self._board is not None:
            self._board.close()
        for watch in self._watches.values():
            watch.close()

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    def _seconds(self) -> float:
        return round(time.perf_counter() - self._start, 3)


def numbers(scores: dict[str, Any]) -> dict[str, float]:
    """The scores that are plain numbers and no speed: no tables per label."""
    return {
        name: float(score)
        for name, score in scores.items()
        if isinstance(score, int | float) and name != "speed"
    }


def _open_board(folder: Path) -> _Board | None:
    if importlib.util.find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder))


def _flat(entry: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    for name, value in entry.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}/")
        elif name not in ("epoch", "step"):
            yield f"{prefix}{name}", value
