"""Values of an object of JSON, each checked when it is taken."""

from typing import Any

from ..common.lines import FormatError

Record = dict[str, Any]


class Checked:
    """An object at a place of a file. name: what it is, for messages."""

    def __init__(self, value: Any, place: str, name: str) -> None:
        self.place = place
        self.name = name
        if not isinstance(value, dict):
            raise self.error(f"must be an object, not {value!r:.60}")
        self.record: Record = value

    def error(self, detail: str) -> FormatError:
        return FormatError(self.place, self.name, f"{self.name} {detail}")

    def only(self, *keys: str) -> None:
        """Raises FormatError for other keys: they would be lost."""
        other = [key for key in self.record if key not in keys]
        if other:
            raise self.error(f"has unknown keys: {', '.join(other):.80}; put them into meta")

    def text(self, key: str, default: str | None = None) -> str:
        """A string. Raises FormatError for another value, and for none without a default."""
        value = self.record.get(key, default)
        if not isinstance(value, str):
            raise self.error(f"needs a string as {key}, not {value!r:.60}")
        return value

    def number(self, key: str, size: int) -> int:
        """A whole number from 0 to size - 1."""
        value = self.record.get(key)
        if type(value) is not int or not 0 <= value < size:
            raise self.error(f"needs a number from 0 to {size - 1} as {key}, not {value!r:.60}")
        return value

    def score(self) -> float | None:
        value = self.record.get("score")
        if value is not None and type(value) not in (int, float):
            raise self.error(f"needs a number as score, not {value!r:.60}")
        return None if value is None else float(value)

    def boolean(self, key: str) -> bool:
        value = self.record.get(key, False)
        if not isinstance(value, bool):
            raise self.error(f"needs true or false as {key}, not {value!r:.60}")
        return value

    def items(self, key: str) -> list[Any]:
        value = self.record.get(key, [])
        if not isinstance(value, list):
            raise self.error(f"needs a list as {key}, not {value!r:.60}")
        return value

    def objects(self, key: str, name: str) -> "list[Checked]":
        return [Checked(each, self.place, name) for each in self.items(key)]

    def object(self, key: str) -> Record:
        return Checked(self.record.get(key, {}), self.place, key).record
