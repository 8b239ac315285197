"""Several processes under the start methods of macOS, Windows and newer Pythons."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from saved_family import SAVED

from spacy_biaffine import __version__

CODE = """
import multiprocessing
import sys

import spacy
from saved_family import PARTS

from spacy_biaffine.doc.scores import register_token_label

TEXTS = ["Rain fell on us .", "Nobody slept .", "Ann fell ."] * 2


def main(method, folder):
    multiprocessing.set_start_method(method)
    nlp = spacy.load(folder)
    register_token_label("supertag")
    assert len(nlp.pipe_names) == 5
    docs = nlp.pipe(TEXTS, n_process=2, batch_size=2)
    for ours, theirs in zip(docs, nlp.pipe(TEXTS, batch_size=2), strict=True):
        for part in PARTS.values():
            assert part.read(ours) == part.read(theirs)
    print(method, multiprocessing.get_start_method())


if __name__ == "__main__":
    main(*sys.argv[1:])
"""


METHODS = ["spawn"] if sys.platform == "win32" else ["spawn", "forkserver"]


@pytest.mark.parametrize("method", METHODS)
def test_all_components(method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"  # what is spawned imports it
    script.write_text(CODE, encoding="utf8")
    run = subprocess.run(
        [sys.executable, script, method, SAVED / f"family-{__version__}"],
        env=with_tests_on_path(),
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [method, method]


def with_tests_on_path() -> dict[str, str]:
    """The environment of a process that can import what lies beside the tests."""
    tests = str(Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": tests, "OMP_NUM_THREADS": "1"}
