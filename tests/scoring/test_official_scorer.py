"""Our scorer against the official one, where udtools and the repository's treebank are at hand."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARK = ROOT / "benchmarks" / "official_scorer.py"
TREEBANK = ROOT / "assets" / "treebank" / "en_sampler-ud-dev.conllu"


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("udeval"), reason="needs udtools")
@pytest.mark.skipif(not (BENCHMARK.exists() and TREEBANK.exists()), reason="needs the repository")
def test_agrees_to_the_digit():
    command = [sys.executable, BENCHMARK, TREEBANK, "--n-sents", "4"]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    rows = [line.split("|")[1:-1] for line in answer.stdout.splitlines()[2:]]
    assert len(rows) >= 15
    # It is a comparison of something: most scores are not perfect.
    assert len([row for row in rows if float(row[3]) < 99]) >= 5
