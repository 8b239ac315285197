"""A grid on a Ray cluster of two nodes of this machine, one of which dies in the middle."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_grid import load, tiny_grid, without_times

pytest.importorskip("ray")


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_twice_when_a_node_dies(tmp_path: Path, cluster: Any) -> None:
    node = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    grid = load(tmp_path, tiny_grid())
    work = tmp_path / "work" / "tiny"
    process = subprocess.Popen(
        [*command(grid.path, tmp_path), "--ray", cluster.address],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        wait_for(lambda: len(begun(work)) == 2)
        cluster.remove_node(node, allow_graceful=False)
        output, _ = process.communicate(timeout=300)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, output
    lines = [json.loads(line) for line in grid.results.open(encoding="utf-8")]
    assert sorted(line["key"] for line in lines) == sorted(cell.key for cell in grid.cells)
    assert len(begun(work)) == 5  # four cells, one of them begun twice

    grid.results.rename(tmp_path / "ray.jsonl")
    subprocess.run(command(grid.path, tmp_path), check=True, stdout=subprocess.DEVNULL)
    alone = {line["key"]: line for line in map(json.loads, grid.results.open(encoding="utf-8"))}
    for line in lines:
        assert without_times(line) == without_times(alone[line["key"]])


def command(file: Path, folder: Path) -> list[str]:
    base = [sys.executable, "-m", "spacy", "biaffine", "experiment", str(file)]
    return [*base, "--vars.data", str(folder / "data")]


def begun(work: Path) -> list[Path]:
    """The attempts at cells whose training has begun."""
    return list(work.glob("*-*/output.log"))


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)
