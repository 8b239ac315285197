"""Annotating in several processes, which are killed."""

import json
import multiprocessing
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from factories import FACTORIES

from spacy_biaffine.annotate.local import run_here, run_in_processes
from spacy_biaffine.annotate.run import annotate
from spacy_biaffine.annotate.worker import Job

TEXTS = [f"Letter {number} came. Nobody slept." for number in range(600)]


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A parser, which runs torch."""
    folder = tmp_path_factory.mktemp("model")
    FACTORIES[0].make().to_disk(folder)
    return Job(str(folder), "conllu", None, None, -1)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, one of them broken."""
    path = tmp_path_factory.mktemp("texts") / "in.jsonl"
    lines = [json.dumps({"text": text}) for text in TEXTS]
    path.write_text("\n".join([*lines[:300], "broken", *lines[300:]]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def alone(job: Job, source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one process makes of it."""
    target = tmp_path_factory.mktemp("alone") / "out.conllu"
    annotate(job, [source], target, run_here, shard_size=20)
    return target


KILLED = """
import os, signal, sys
from pathlib import Path
from spacy_biaffine.annotate.local import run_in_processes
from spacy_biaffine.annotate.run import annotate
from spacy_biaffine.annotate.worker import Job

model, source, target = sys.argv[1:]
seen = []

def told(records):
    seen.append(records)
    if len(seen) == 5:
        os.kill(os.getpid(), signal.SIGKILL)

job = Job(model, "conllu", None, None, -1)
annotate(job, [Path(source)], Path(target), run_in_processes(2), shard_size=20, told=told)
"""


@pytest.mark.slow
def test_a_killed_run_ends_its_processes_and_goes_on_to_the_same_bytes(
    job: Job, source: Path, alone: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.conllu"
    killed = subprocess.Popen(
        [sys.executable, "-c", KILLED, job.model, str(source), str(target)], stdout=subprocess.PIPE
    )
    killed.communicate(timeout=600)  # until its processes too have closed the pipe
    assert killed.returncode == -signal.SIGKILL
    assert not target.exists()
    summary = annotate(job, [source], target, run_in_processes(2), shard_size=20)
    assert 80 < summary.earlier < 600
    assert target.read_bytes() == alone.read_bytes()
    assert bad(target) == bad(alone) != []


@pytest.mark.slow
def test_a_process_that_dies_is_told(job: Job, source: Path, tmp_path: Path) -> None:
    """As for want of memory."""
    run = run_in_processes(2)
    target = tmp_path / "out.conllu"

    def kill_one(records: int) -> None:
        multiprocessing.active_children()[0].kill()

    with pytest.raises(ValueError, match="one of 2 processes has died"):
        annotate(job, [source], target, run, shard_size=20, told=kill_one)
    assert not target.exists()


@pytest.mark.slow
def test_an_error_in_a_process_is_told(source: Path, tmp_path: Path) -> None:
    (tmp_path / "config.cfg").write_text("[nothing]", encoding="utf-8")
    job = Job(str(tmp_path), "conllu", None, None, -1)
    with pytest.raises(ValueError, match="can't be loaded"):
        annotate(job, [source], tmp_path / "out.conllu", run_in_processes(2))


def bad(target: Path) -> list[str]:
    return target.with_name(target.name + ".bad.jsonl").read_text(encoding="utf-8").splitlines()
