"""The rooms of the package: what imports what."""

import ast
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
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8")
    assert run.stdout == "[]\n", run.stderr


def test_text_is_read_and_written_in_a_named_encoding() -> None:
    """Without a name it is the encoding of the machine: on Windows, or with LC_ALL=C, not UTF-8."""
    root = Path(__file__).parents[1]
    folders = ("spacy_biaffine", "scripts", "pipelines", "benchmarks", "tests")
    sources = [path for folder in folders for path in (root / folder).rglob("*.py")]
    assert len(sources) > 100
    calls = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in sources
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and has_no_encoding(node)
    ]
    assert calls == [], 'write encoding="utf-8"'


@pytest.mark.parametrize(
    ("code", "is_right"),
    [
        ("open(path)", False),
        ("open(path, 'w')", False),
        ("path.open('wb')", True),
        ("path.open(mode='a')", False),
        ("path.open(encoding='utf-8')", True),
        ("path.read_text()", False),
        ("path.read_text('utf-8')", True),
        ("path.write_text(text)", False),
        ("path.write_text(text, encoding='utf-8')", True),
        ("subprocess.run(command, text=True)", False),
        ("subprocess.run(command, encoding='utf-8')", True),
        ("zipped.open(name)", True),
    ],
)
def test_calls_without_encoding_are_found(code: str, is_right: bool) -> None:
    (call,) = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call))
    assert has_no_encoding(call) != is_right


BINARY = {"zipped", "wheel", "tarfile", "os", "webbrowser", "Image"}
"""Names whose method open gives bytes, or no file."""


def has_no_encoding(call: ast.Call) -> bool:
    """Whether a call opens a text, or a process, in the encoding of the machine."""
    options = {each.arg: each.value for each in call.keywords}
    if "encoding" in options:
        return False
    if getattr(options.get("text"), "value", False) is True:
        return True
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    owner = getattr(getattr(call.func, "value", None), "id", "")
    if name == "open" and owner not in BINARY:
        place = 0 if isinstance(call.func, ast.Attribute) else 1
        mode = options.get("mode") or (call.args[place] if len(call.args) > place else None)
        return "b" not in getattr(mode, "value", "")
    return len(call.args) <= {"read_text": 0, "write_text": 1}.get(name, -1)
