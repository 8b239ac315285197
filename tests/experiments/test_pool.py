import json
from pathlib import Path

import pytest

from spacy_biaffine.experiments.pool import LocalPool, collect


@pytest.mark.parametrize("keep", [True, False])
def test_models_are_deleted_unless_kept(tmp_path: Path, keep: bool) -> None:
    folder = tmp_path / "key"
    (folder / "model" / "model-best").mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps({"steps": 3}), encoding="utf-8")
    assert collect(folder, keep=keep) == ("key", {"steps": 3}, "")
    assert (folder / "model").exists() == keep


@pytest.mark.parametrize(
    ("log", "error"),
    [("Traceback\nValueError: no such thing\n\n", "ValueError: no such thing"), ("", "it printed")],
)
def test_a_failure_tells_the_end_of_its_log(tmp_path: Path, log: str, error: str) -> None:
    (tmp_path / "output.log").write_text(log, encoding="utf-8")
    finished = collect(tmp_path, keep=False)
    assert finished.result is None
    assert finished.error.startswith(error)
    assert f"see {tmp_path / 'output.log'}" in finished.error


def test_processes_of_a_pool(tmp_path: Path) -> None:
    pool = LocalPool(tmp_path, 2, keep=False)
    pool.start("bad", "[paths]\n")
    pool.start("slow", "[paths]\n")
    done = []
    while not done:
        done = pool.wait()
    assert done[0].result is None
    pool.stop()
    assert pool.wait() == []
    assert (tmp_path / "bad" / "config.cfg").read_text(encoding="utf-8") == "[paths]\n"
