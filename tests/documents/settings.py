"""What can be set, and to what it is set by default: read from the code."""

import inspect
import json
from importlib.metadata import entry_points
from typing import Any

from spacy.language import Language

GROUPS = (
    "spacy_architectures",
    "spacy_misc",
    "spacy_scorers",
    "spacy_readers",
    "spacy_callbacks",
    "spacy_loggers",
    "thinc_schedules",
    "thinc_optimizers",
)

REQUIRED = inspect.Parameter.empty


def registered() -> set[str]:
    """Every name under which this package registers something."""
    return {each.name for group in (*GROUPS, "spacy_factories") for each in _entries(group)}


def objects() -> set[str]:
    """The places of what is registered: module.name."""
    entries = [each for group in (*GROUPS, "spacy_factories") for each in _entries(group)]
    return {each.value.replace(":", ".") for each in entries}


def defaults() -> dict[str, dict[str, Any]]:
    """Settings with their defaults (`REQUIRED` without one) of each component, as
    "[components.NAME]", and of each registered function that has some."""
    found = {}
    for each in _entries("spacy_factories"):
        each.load()
        config = Language.get_factory_meta(each.name).default_config
        settings = {name: value for name, value in config.items() if name != "model"}
        found[f"[components.{each.name}]"] = {k: _plain(v) for k, v in settings.items()}
    for group in GROUPS:
        for each in _entries(group):
            parameters = inspect.signature(each.load()).parameters.values()
            settings = {p.name: _plain(p.default) for p in parameters if p.name != "nO"}
            if settings:
                found[each.name] = settings
    return found


def read(text: str) -> Any:
    """A default as it is written in a table."""
    if not text:
        return REQUIRED
    try:
        return json.loads(text)
    except ValueError:
        return None if text == "none" else text


def same(first: Any, second: Any) -> bool:
    """Whether two defaults are the same; 1 and true are not."""
    return first == second and isinstance(first, bool) == isinstance(second, bool)


def _entries(group: str) -> list[Any]:
    ours = [each for each in entry_points(group=group) if each.value.startswith("spacy_biaffine.")]
    return list({each.name: each for each in ours}.values())


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict) and len(value) == 1:
        return next(iter(value.values()))
    return value
