"""The rooms of the package: what imports what."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

FLOORS = runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "floors.py"))


def test_the_picture_is_that_of_the_imports() -> None:
    """It raises ValueError for a circle, for too many rooms or arrows, and for torch in decode."""
    page = FLOORS["PAGE"].read_text(encoding="utf-8")
    assert FLOORS["with_picture"](page) == page, "run scripts/floors.py"


def test_nothing_but_the_command_line_imports_components() -> None:
    assert {room for room, other in FLOORS["arrows"]() if other == "pipeline"} <= {"cli"}


def test_a_circle_is_found() -> None:
    found = {("nn", "models"): ["nn/x"], ("models", "nn"): ["models/y"]}
    with pytest.raises(ValueError, match="circle among models, nn"):
        FLOORS["floors"](found)


@pytest.mark.parametrize(
    ("room", "absent"), [("decode", ["torch", "spacy", "thinc"]), ("nn", ["spacy", "thinc"])]
)
def test_a_room_loads_nothing_foreign(room: str, absent: list[str]) -> None:
    """Not by what it imports either."""
    names = [".".join(parts) for parts, _ in FLOORS["modules"]() if parts[0] == room]
    code = f"""
import importlib, sys
for name in {names}:
    importlib.import_module("spacy_biaffine." + name.removesuffix(".__init__"))
print([name for name in {absent} if name in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "[]\n", run.stderr
