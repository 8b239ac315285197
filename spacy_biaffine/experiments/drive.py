"""Run the cells of a grid that have no result line yet."""

import time
from collections import deque
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from statistics import median
from typing import Any

from filelock import FileLock
from thinc.api import Config

from .grid import Cell, Grid
from .pool import Finished, Pool
from .results import Line, Results

Say = Callable[[str], None]


class Drive:
    """One run of the command: claims cells, has the pool run them, writes their lines.

    work: the folder that configs know as `vars.work`.
    say: prints a line of progress.
    """

    def __init__(self, grid: Grid, pool: Pool, work: Path, say: Say) -> None:
        self.grid = grid
        self.pool = pool
        self.work = work
        self.say = say
        self.results = Results(grid.results)
        self.failed: list[str] = []
        self._cells = {cell.key: cell for cell in grid.cells}
        self._shared: dict[str, tuple[str, Line]] = {}
        self._claims: dict[str, FileLock] = {}
        self._started: dict[str, float] = {}

    def run(self) -> None:
        """Until every cell has a line, has failed, or is run by another process."""
        self._shared = {
            key: (name, line)
            for name in self.grid.shares
            for key, line in Results(self.grid.results_of(name)).read().items()
        }
        done = self.results.read()
        waiting = deque(cell for cell in self.grid.cells if cell.key not in done)
        self.say(f"{self.grid.name}: {self._state(len(waiting))}")
        try:
            while waiting or self._claims:
                while waiting and len(self._claims) < self.pool.size:
                    self._start(waiting.popleft())
                for finished in self.pool.wait():
                    self._finish(finished, len(waiting))
        finally:
            self.pool.stop()
            self._release(list(self._claims))

    def _start(self, cell: Cell) -> None:
        claim = self.results.claim(cell.key)
        if claim is None:
            self.say(f"{describe(cell.axes)}: another process runs it")
            self.say(f"  {self.results.holder(cell.key)}")
            return
        self._claims[cell.key] = claim
        if cell.key in self.results.read():  # finished by another process in the meantime
            self._release([cell.key])
            return
        if cell.key in self._shared:
            name, line = self._shared[cell.key]
            self.results.append({**line, "axes": cell.axes, "overrides": cell.overrides})
            self._release([cell.key])
            self.say(f"{describe(cell.axes)}: taken from {name}")
            return
        self._started[cell.key] = time.monotonic()
        self.pool.start(cell.key, filled(cell, self.work).to_str(interpolate=False))
        self.say(f"{describe(cell.axes)}: started as {cell.key}")

    def _finish(self, finished: Finished, waiting: int) -> None:
        cell = self._cells[finished.key]
        if finished.result is None:
            self.failed.append(finished.key)
            news = f"FAILED: {finished.error}"
        else:
            line = _line(cell, finished.result)
            self.results.append(line)
            scores = [f"{metric} {value_at(line, metric):.4f}" for metric in self.grid.metrics]
            news = "  ".join([*scores, f"{line['times']['train']:.0f} s"])
        self._release([finished.key])
        self.say(f"{describe(cell.axes)}: {news}  {self._state(waiting)}")

    def _release(self, keys: list[str]) -> None:
        for key in keys:
            self._claims.pop(key).release()
            self._started.pop(key, None)

    def _state(self, waiting: int) -> str:
        """Done / running / left, and how long it may take."""
        lines = self.results.read()
        done = [lines[cell.key] for cell in self.grid.cells if cell.key in lines]
        left = len(self.grid.cells) - len(done)
        counts = f"[{len(done)} done, {len(self._started)} running, {left} left"
        if not done or not left:
            return f"{counts}]"
        usual = median(_seconds(line) for line in done)
        now = time.monotonic()
        begun = sum(min(usual, now - start) for start in self._started.values())
        ahead = usual * (waiting + len(self._started)) - begun
        return f"{counts}, about {ahead / self.pool.size / 60:.0f} min]"


def filled(cell: Cell, work: Path) -> Config:
    """The cell's config with `vars.work`."""
    config = Config(cell.config)
    config["vars"] = {**config["vars"], "work": str(work)}
    return config


def _seconds(line: Line) -> float:
    return sum(line["times"][part] for part in ("initialize", "train", "test"))


def _line(cell: Cell, result: dict[str, Any]) -> Line:
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    line = {"key": cell.key, "axes": cell.axes, "overrides": cell.overrides, **result}
    line["times"] = {"finished": now, **{k: round(v, 2) for k, v in result["times"].items()}}
    return line


def value_at(line: Line, dotted: str) -> Any:
    """A value of a result line by its dotted path. Raises ValueError with what is there instead."""
    value: Any = line
    for name in dotted.split("."):
        if not isinstance(value, dict) or name not in value:
            known = ", ".join(value) if isinstance(value, dict) else "nothing"
            raise ValueError(
                f"a result line has no '{dotted}'; instead of '{name}' it has: {known}"
            )
        value = value[name]
    return value


def describe(axes: dict[str, Any]) -> str:
    return " ".join(f"{name}={label}" for name, label in axes.items())
