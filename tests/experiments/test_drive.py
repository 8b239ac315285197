"""The driver, on a pool that trains nothing, and whole commands, killed and resumed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from thinc.api import Config
from tiny_grid import load, tiny_grid, without_times, write_grid
from typer.testing import CliRunner

from spacy_biaffine.cli import app
from spacy_biaffine.experiments.cell import run
from spacy_biaffine.experiments.drive import Drive, filled
from spacy_biaffine.experiments.grid import read_grid
from spacy_biaffine.experiments.pool import Finished
from spacy_biaffine.experiments.results import Results


class QuickPool:
    """Finishes a cell at each call. Fails those in `bad`, and is interrupted after `stop_after`."""

    def __init__(self, size: int = 1, bad: tuple[str, ...] = (), stop_after: int = 1000) -> None:
        self.size = size
        self.bad = bad
        self.stop_after = stop_after
        self.started: list[str] = []
        self.finished: list[str] = []
        self.stopped = False

    def start(self, key: str, config: str) -> None:
        assert len(self.started) - len(self.finished) < self.size
        assert Config().from_str(config)["paths"]["train"].endswith("data/train.spacy")
        self.started.append(key)

    def wait(self) -> list[Finished]:
        if len(self.finished) == self.stop_after:
            raise KeyboardInterrupt
        if len(self.finished) == len(self.started):
            return []
        key = next(key for key in self.started if key not in self.finished)
        self.finished.append(key)
        if key in self.bad:
            return [Finished(key, None, "it broke")]
        times = {"initialize": 1.0, "train": 60.0, "test": 1.0}
        return [Finished(key, {"test": {"dep_las": 0.5}, "times": times}, "")]

    def stop(self) -> None:
        self.stopped = True


def drive(folder: Path, pool: QuickPool, content: dict[str, Any] | None = None) -> list[str]:
    said: list[str] = []
    grid = load(folder, content or tiny_grid())
    Drive(grid, pool, folder / "work", said.append).run()
    return said


def keys_of(folder: Path) -> list[str]:
    lines = results_of(folder).path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["key"] for line in lines]


def results_of(folder: Path) -> Results:
    return Results(folder / "results" / "tiny.jsonl")


@pytest.mark.parametrize("size", [1, 3, 9])
def test_every_cell_runs_once(tmp_path: Path, size: int) -> None:
    pool = QuickPool(size)
    said = drive(tmp_path, pool)
    assert sorted(keys_of(tmp_path)) == sorted(pool.started)
    assert len(pool.started) == 4
    assert said[0] == "tiny: [0 done, 0 running, 4 left]"
    assert said[1] == f"N=0 scores=raw: started as {pool.started[0]}"
    assert (
        said[-1] == "N=1 scores=normalized: test.dep_las 0.5000  60 s  [4 done, 0 running, 0 left]"
    )
    again = QuickPool(size)
    drive(tmp_path, again)
    assert again.started == []


def test_time_left_goes_by_the_median_and_the_workers(tmp_path: Path) -> None:
    assert "[1 done, 0 running, 3 left, about 3 min]" in drive(tmp_path, QuickPool(1))[2]


def test_interrupted_and_resumed(tmp_path: Path) -> None:
    first = QuickPool(size=2, stop_after=2)
    with pytest.raises(KeyboardInterrupt):
        drive(tmp_path, first)
    assert first.stopped
    second = QuickPool()
    drive(tmp_path, second)
    assert first.started[:2] == keys_of(tmp_path)[:2]
    assert second.started == keys_of(tmp_path)[2:]
    assert len(set(keys_of(tmp_path))) == len(keys_of(tmp_path)) == 4


def test_failed_cells_are_told_and_tried_again(tmp_path: Path) -> None:
    key = load(tmp_path, tiny_grid()).cells[1].key
    said = drive(tmp_path, QuickPool(bad=(key,)))
    assert "N=0 scores=normalized: FAILED: it broke  [1 done, 0 running, 3 left" in said[4]
    assert key not in keys_of(tmp_path)
    again = QuickPool()
    drive(tmp_path, again)
    assert again.started == [key]


def test_cells_of_another_process_are_left_to_it(tmp_path: Path) -> None:
    cells = load(tmp_path, tiny_grid()).cells
    claim = results_of(tmp_path).claim(cells[0].key)
    pool = QuickPool()
    said = drive(tmp_path, pool)
    assert claim is not None
    assert "N=0 scores=raw: another process runs it" in said
    assert any(line.startswith(f"  process {os.getpid()} on ") for line in said)
    assert pool.started == [cell.key for cell in cells[1:]]


def test_cell_finished_by_another_process_in_the_meantime(tmp_path: Path) -> None:
    cells = load(tmp_path, tiny_grid()).cells

    class Slow(QuickPool):
        def start(self, key: str, config: str) -> None:
            super().start(key, config)
            if key == cells[0].key:
                times = {"initialize": 0, "train": 0, "test": 0}
                results_of(tmp_path).append({"key": cells[1].key, "times": times})

    pool = Slow()
    drive(tmp_path, pool)
    assert pool.started == [cells[0].key, cells[2].key, cells[3].key]


def test_cells_that_another_grid_has_finished_are_taken_from_it(tmp_path: Path) -> None:
    axes = tiny_grid()["axes"]
    half = {
        **tiny_grid(),
        "axes": {"layers": axes["N"], "a": {"1/sqrt(d)": axes["scores"]["normalized"]}},
    }
    drive(tmp_path, QuickPool(), half)
    first = results_of(tmp_path)
    first.path.rename(first.path.with_name("first.jsonl"))
    pool = QuickPool()
    said = drive(tmp_path, pool, {**tiny_grid(), "shares": ["first", "never_run"]})
    assert "N=0 scores=normalized: taken from first" in said
    assert len(pool.started) == 2
    lines = results_of(tmp_path).read()
    taken = load(tmp_path, tiny_grid()).cells[1]
    assert lines[taken.key]["axes"] == taken.axes == {"N": 0, "scores": "normalized"}
    assert lines[taken.key]["overrides"] == taken.overrides
    assert len(lines) == len(keys_of(tmp_path)) == 4


def test_a_broken_file_of_another_grid_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "first.jsonl").write_text("nonsense\n", encoding="utf-8")
    path = write_grid(tmp_path, {**tiny_grid(), "shares": ["first"]})
    arguments = ["experiment", str(path), "--vars.data", str(tmp_path / "data")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "first.jsonl:1 is no result line" in " ".join(result.output.split())


def test_torn_line_runs_again(tmp_path: Path) -> None:
    drive(tmp_path, QuickPool())
    path = results_of(tmp_path).path
    data = path.read_bytes()
    path.write_bytes(data[:-20])
    pool = QuickPool()
    drive(tmp_path, pool)
    assert pool.started == [load(tmp_path, tiny_grid()).cells[-1].key]
    assert len(results_of(tmp_path).read()) == 4


def test_unknown_metric_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no 'test\.las'.*dep_las"):
        drive(tmp_path, QuickPool(), {**tiny_grid(), "metrics": ["test.las"]})


def command(folder: Path) -> list[str]:
    arguments = [str(folder / "tiny.yml"), "--vars.data", str(folder / "data"), "--workers", "1"]
    return [sys.executable, "-m", "spacy", "biaffine", "experiment", *arguments]


@contextmanager
def running(arguments: list[str]) -> Iterator[subprocess.Popen]:
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, encoding="utf-8")
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for(condition: Any, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kills as POSIX systems do")
def test_killed_and_resumed_grid_equals_an_uninterrupted_one(tmp_path: Path) -> None:
    content = tiny_grid()
    content["axes"]["N"]["values"] = [1]
    write_grid(tmp_path, content)
    work = tmp_path / "work" / "tiny"

    with running(command(tmp_path)) as process:
        wait_for(lambda: len(list(work.glob("*/log.jsonl"))) == 2)  # in the middle of the second
        assert len(keys_of(tmp_path)) == 1
        process.send_signal(signal.SIGKILL)
    wait_for(lambda: not _cells_in(tmp_path), seconds=5)

    done = subprocess.run(command(tmp_path), capture_output=True, encoding="utf-8", check=True)
    assert "[2 done, 0 running, 0 left]" in done.stdout
    lines = results_of(tmp_path).read()
    assert len(keys_of(tmp_path)) == len(lines) == 2

    grid = read_grid(tmp_path / "tiny.yml", {"data": str(tmp_path / "data")})
    for cell in grid.cells:
        folder = tmp_path / cell.key
        folder.mkdir()
        filled(cell, tmp_path / "work").to_disk(folder / "config.cfg", interpolate=False)
        alone = {"key": cell.key, "axes": cell.axes, "overrides": cell.overrides, **run(folder)}
        alone = json.loads(json.dumps(alone))
        assert without_times(lines[cell.key]) == without_times(alone)


@pytest.mark.skipif(sys.platform == "win32", reason="signals as on POSIX systems")
def test_cells_end_with_the_command(tmp_path: Path) -> None:
    write_grid(tmp_path, tiny_grid())
    with running(command(tmp_path)) as process:
        wait_for(lambda: list(tmp_path.glob("work/tiny/*/config.cfg")))
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Stopped" in output
    assert not _cells_in(tmp_path)


def _cells_in(folder: Path) -> list[str]:
    """The running processes that have a folder in their command line."""
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, encoding="utf-8", check=True)
    return [line for line in found.stdout.splitlines() if f"{folder}/work" in line]


def test_command_asks_for_missing_variables(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["experiment", str(write_grid(tmp_path, tiny_grid()))])
    assert result.exit_code == 1
    assert "Add --vars.data VALUE" in result.output
