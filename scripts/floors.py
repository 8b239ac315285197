"""Draw the picture of floors in ARCHITECTURE.md from the imports, and check them.

python scripts/floors.py            # write the picture
python scripts/floors.py --arrows   # and say which module makes each arrow

A room is what stands at the package's top level. It is on the floor above the highest of those that
it imports, so no arrow goes up where there is no circle.
"""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "spacy_biaffine"
PAGE = ROOT / "ARCHITECTURE.md"

MOST_ROOMS = 19
MOST_ARROWS = 60

FOREIGN = {"decode": ("torch", "thinc", "spacy"), "nn": ("thinc", "spacy")}
"""What a room must not import."""

Arrows = dict[tuple[str, str], list[str]]
"""From a room to one that it imports, and the modules that do so."""


def modules() -> Iterator[tuple[tuple[str, ...], ast.Module]]:
    """The modules of the package but its tests, by the parts of their names, and their code."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts[0] not in ("__init__", "tests"):
            yield parts, ast.parse(path.read_text(encoding="utf-8"))


def imported(parts: tuple[str, ...], code: ast.Module) -> Iterator[str]:
    """What a module imports: the room of ours, or the package of others behind a dot."""
    for node in ast.walk(code):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = [*parts[: len(parts) - node.level], *(node.module or "").split(".")]
            yield from [above[0]] if above[0] else [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            yield f".{(node.module or '').partition('.')[0]}"
        elif isinstance(node, ast.Import):
            yield from (f".{alias.name.partition('.')[0]}" for alias in node.names)


def arrows() -> Arrows:
    """All arrows between rooms. Raises ValueError for a foreign import that is not allowed."""
    found: Arrows = defaultdict(list)
    for parts, code in modules():
        for name in imported(parts, code):
            if name.removeprefix(".") in FOREIGN.get(parts[0], ()) and name.startswith("."):
                raise ValueError(f"{'/'.join(parts)}.py imports {name[1:]}")
            if not name.startswith(".") and name != parts[0]:
                found[parts[0], name].append("/".join(parts))
    return found


def floors(found: Arrows) -> list[list[str]]:
    """The rooms of each floor, from the ground up. Raises ValueError for a circle."""
    below: dict[str, set[str]] = {parts[0]: set() for parts, _ in modules()}
    for room, other in found:
        below[room].add(other)
    built: list[list[str]] = []
    done: set[str] = set()
    while len(done) < len(below):
        floor = sorted(room for room in below if room not in done and below[room] <= done)
        if not floor:
            raise ValueError(f"there is a circle among {', '.join(sorted(set(below) - done))}")
        built.append(floor)
        done.update(floor)
    return built


def picture() -> str:
    """The floors, the highest first. Raises ValueError where a rule is broken."""
    found = arrows()
    built = floors(found)
    n_rooms = sum(map(len, built))
    if n_rooms > MOST_ROOMS or len(found) > MOST_ARROWS:
        raise ValueError(f"{n_rooms} rooms and {len(found)} arrows: too many")
    lines = []
    for number, floor in reversed(list(enumerate(built))):
        for room in floor:
            below = sorted(other for each, other in found if each == room)
            lines.append(f"{number}  {room:<12} {'-> ' if below else ''}{' '.join(below)}".rstrip())
    return "\n".join([*lines, "", f"{n_rooms} rooms, {len(found)} arrows"])


def with_picture(page: str) -> str:
    """The page with the picture in its first block of text."""
    before, fence, rest = page.partition("```text\n")
    return f"{before}{fence}{picture()}\n```{rest.partition('```')[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_picture(PAGE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
    if "--arrows" in sys.argv:
        for (room, other), names in sorted(arrows().items()):
            print(f"{room} -> {other}: {', '.join(sorted(set(names)))}")
