"""Files of JSON objects: one array of them, or one a line."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from .json_text import json_value, value_at
from .lines import FormatError, numbered_lines

Record = dict[str, Any]


def json_records(path: Path) -> Iterator[tuple[str, Callable[[], Record]]]:
    """The place of each object, FILE:LINE, in an array with its number; and a function that gives
    the object, or raises FormatError where there is none.

    Raises FormatError itself where an array ends too soon, since nothing more can be read.
    """
    lines = list(numbered_lines(path))
    first = next((line.lstrip() for _, line in lines if line.strip()), "")
    if first.startswith("["):
        yield from _from_array(path, "\n".join(line for _, line in lines))
        return
    for place, line in lines:
        if line.strip():
            yield place, partial(_loaded, place, line)


def _from_array(path: Path, text: str) -> Iterator[tuple[str, Callable[[], Record]]]:
    at = text.index("[") + 1
    line, counted, number = 1, 0, 0
    while True:
        at = _skip(text, at, " \t\n")
        line, counted = line + text.count("\n", counted, at), at
        place = f"{path}:{line} (object {number})"
        if text[at : at + 1] == "]":
            return
        try:
            value, at = value_at(text, at)
        except ValueError as error:
            raise FormatError(place, "json", str(error)) from error
        yield place, partial(_checked, place, value)
        number += 1
        at = _skip(text, at, " \t\n")
        if text[at : at + 1] == ",":
            at += 1
        elif text[at : at + 1] != "]":
            raise FormatError(place, "json", "after this object the array goes on without , or ]")


def _skip(text: str, at: int, blanks: str) -> int:
    while at < len(text) and text[at] in blanks:
        at += 1
    return at


def _loaded(place: str, line: str) -> Record:
    try:
        value = json_value(line)
    except ValueError as error:
        raise FormatError(place, "json", str(error)) from error
    return _checked(place, value)


def _checked(place: str, value: Any) -> Record:
    if not isinstance(value, dict):
        raise FormatError(place, "json", f"{value!r:.40} is no JSON object")
    return value
