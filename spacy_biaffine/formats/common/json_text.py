"""JSON that is read strictly: what would be lost, or could not be written again, is refused."""

import json
import re
from typing import Any, NoReturn


def json_value(text: str) -> Any:
    """The value of a JSON text. Raises ValueError as `value_at`."""
    value, end = value_at(text, len(text) - len(text.lstrip(_BLANKS)))
    if text[end:].strip(_BLANKS):
        raise ValueError(f"this is no JSON (it goes on after its end, character {end + 1})")
    return value


def value_at(text: str, at: int) -> tuple[Any, int]:
    """The value that begins at text[at], and where it ends.

    Raises ValueError for what is no JSON or is nested too deeply, for a key that stands twice in an
    object, and for half of a surrogate pair.
    """
    try:
        value, end = _DECODER.raw_decode(text, at)
        written = json.dumps(value, ensure_ascii=False) if _SURROGATE.search(text, at, end) else ""
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON ({error})") from error
    check_characters(written)
    return value, end


def check_characters(text: str) -> None:
    """Raise ValueError where a text has no UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        code = ord(text[error.start])
        at = f"character {error.start + 1}"
        if 0xDC80 <= code <= 0xDCFF:
            detail = f"this is no UTF-8 (byte 0x{code - 0xDC00:x} in place of {at})"
        else:
            detail = f"half of a surrogate pair, \\u{code:x}, stands alone ({at})"
        raise ValueError(detail) from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r:.40} stands twice in an object; keep one of them")
    return found


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number in JSON")


_BLANKS = " \t\n\r"

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
