"""Cells as processes of this machine."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Protocol

STOP_SECONDS = 5.0
POLL_SECONDS = 0.1


class Finished(NamedTuple):
    """A cell that has run: its result, or where it failed."""

    key: str
    result: dict[str, Any] | None
    error: str


class Pool(Protocol):
    """Where cells run."""

    size: int

    def start(self, key: str, config: str) -> None:
        """Run a cell with a config, in the background."""

    def wait(self) -> list[Finished]:
        """Those that have finished since the last call; returns soon, also with none."""

    def stop(self) -> None:
        """End all that still runs."""


class LocalPool:
    """At most `size` processes, each with a folder in `work`."""

    def __init__(self, work: Path, size: int, *, keep: bool) -> None:
        self.size = size
        self.work = work
        self.keep = keep
        self._running: dict[str, subprocess.Popen] = {}

    def start(self, key: str, config: str) -> None:
        self._running[key] = start_process(self.work / key, config)

    def wait(self) -> list[Finished]:
        time.sleep(POLL_SECONDS)
        done = [key for key, process in self._running.items() if process.poll() is not None]
        for key in done:
            _close(self._running.pop(key))
        return [collect(self.work / key, keep=self.keep) for key in done]

    def stop(self) -> None:
        stop_processes(list(self._running.values()))
        self._running.clear()


def start_process(folder: Path, config: str) -> subprocess.Popen:
    """Run a cell in an empty folder of its own, on one thread.

    It gets a pipe as stdin: when this process dies, however it dies, the cell ends too.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "config.cfg").write_text(config, encoding="utf8")
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with (folder / "output.log").open("w", encoding="utf8") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "spacy_biaffine.experiments.cell", str(folder)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **threads, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,  # Ctrl-C reaches us alone, and we end the cells
        )


def collect(folder: Path, *, keep: bool) -> Finished:
    """The result of a process that has ended. Its models are deleted unless `keep`."""
    if not keep:
        shutil.rmtree(folder / "model", ignore_errors=True)
    result = folder / "result.json"
    if result.exists():
        return Finished(folder.name, json.loads(result.read_text(encoding="utf8")), "")
    log = folder / "output.log"
    lines = log.read_text(encoding="utf8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "it printed nothing")
    return Finished(folder.name, None, f"{last} (see {log})")


def stop_processes(processes: list[subprocess.Popen]) -> None:
    """Ask them to end, and end them."""
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        _close(process)


def _close(process: subprocess.Popen) -> None:
    if process.stdin is not None:
        process.stdin.close()
