"""A few of the faults of benchmarks/faults, which breaks work at random moments."""

import random
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("faults are made as Linux has them", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.faults.__main__ import table
from benchmarks.faults.breaking import damage, faults
from benchmarks.faults.work import WORKS

BY_NAME = {work.name: work for work in WORKS}


@pytest.mark.parametrize(
    ("name", "tried"),
    [
        ("converting to JSON", {"Ctrl-C", "disk full"}),
        ("annotating to found.conllu", {"killed"}),
    ],
)
def test_nothing_is_lost(name: str, tried: set[str], tmp_path: Path) -> None:
    work = BY_NAME[name]
    whole = work.undisturbed(tmp_path / "whole")
    assert whole.results
    for fault in [each for each in faults(work) if each.name in tried]:
        found = fault.tried(work, tmp_path / fault.name, random.Random(1), whole)
        assert found["lost"] == "", found


def test_what_is_lost_is_seen(tmp_path: Path) -> None:
    """A work whose output is torn after a fault, and another one at its end."""
    work = BY_NAME["converting to JSON"]
    whole = work.undisturbed(tmp_path / "whole")
    output = tmp_path / "whole" / "o.layers.jsonl"
    damage(output, random.Random(0))
    assert work.partly(tmp_path / "whole", whole) == "not whole after the fault: ['o.layers.jsonl']"
    assert work.compared(tmp_path / "whole", whole) == "other at the end: ['o.layers.jsonl']"
    output.unlink()
    assert work.partly(tmp_path / "whole", whole) == ""
    assert work.compared(tmp_path / "whole", whole) == "other at the end: ['o.layers.jsonl']"


def test_table() -> None:
    lines = [
        {"work": "a", "fault": "killed", "lost": ""},
        {"work": "a", "fault": "killed", "lost": "x"},
        {"work": "b", "fault": "Ctrl-C", "lost": ""},
    ]
    assert table(lines)[2:] == [
        "| a | 2 |  | 1 |",
        "| b |  | 1 | 0 |",
        "| **all** | 2 | 1 | 1 |",
    ]
