"""A grid: the YAML file of an experiment, and the training configs that it stands for."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly
from spacy.language import DEFAULT_CONFIG_PATH
from spacy.util import load_config
from thinc.api import Config

KEYS = ("name", "config", "vars", "overrides", "axes", "tests", "metrics", "shares", "report")
REQUIRED = ("name", "config", "axes", "metrics")

Label = str | int | float | bool
Overrides = dict[str, Any]


class GridError(ValueError):
    """The file of an experiment can't be used: says which key, and what to do."""


@dataclass(frozen=True)
class Cell:
    """One training run.

    key: a hash of its config. What the user has to give on the command line (paths, as a rule)
        is no part of it, so that a cell has the same key on every machine.
    axes: axis to the label of its value, in the order of the file.
    overrides: what it changes in the base config, by dotted path.
    config: the whole config, variables not yet filled in.
    """

    key: str
    axes: dict[str, Label]
    overrides: Overrides
    config: Config


@dataclass(frozen=True)
class Grid:
    """What `read_grid` has read.

    config: the base config, as the file names it. settings: variables that have a value.
    axes: axis to its labels. missing: variables that the command line has not given.
    shares: names of grids on the same data, whose finished cells need not run again.
    """

    name: str
    path: Path
    config: str
    settings: dict[str, Any]
    axes: dict[str, list[Label]]
    metrics: list[str]
    shares: list[str]
    cells: list[Cell]
    report: dict[str, Any]
    missing: list[str]

    @property
    def results(self) -> Path:
        """The file of result lines."""
        return self.results_of(self.name)

    def results_of(self, name: str) -> Path:
        """That of a grid beside this one: results/NAME.jsonl beside the grid file."""
        return self.path.parent / "results" / f"{name}.jsonl"


def read_grid(path: Path, given: Mapping[str, Any]) -> Grid:
    """Read a grid file.

    given: values of `vars` from the command line, by name.
    Raises GridError.
    """
    content = _read(path)
    variables = _variables(path, content.get("vars") or {}, given)
    base = _base_config(path, content["config"])
    axes = {name: _axis(path, name, axis) for name, axis in _items(path, "axes", content["axes"])}
    common = dict(_items(path, "overrides", content.get("overrides") or {}))
    tests = _tests(path, content.get("tests") or {})
    settings = {name: value for name, value in variables.items() if value is not None}
    cells = [
        _cell(path, base, settings, common, tests, dict(zip(axes, combination, strict=True)))
        for combination in itertools.product(*(axis.items() for axis in axes.values()))
    ]
    _check_unique(path, cells)
    places = [name for name, value in (content.get("vars") or {}).items() if value is None]
    for cell in cells:
        cell.config["vars"].update({name: given[name] for name in places if name in given})
    return Grid(
        name=str(content["name"]),
        path=path,
        config=content["config"],
        settings=settings,
        axes={name: list(axis) for name, axis in axes.items()},
        metrics=_names(path, "metrics", content["metrics"]),
        shares=_names(path, "shares", content.get("shares") or []),
        cells=cells,
        report=content.get("report") or {},
        missing=[name for name in places if name not in given],
    )


def _read(path: Path) -> dict[str, Any]:
    try:
        content = srsly.read_yaml(path)
    except ValueError as error:
        raise GridError(f"{path} is no valid YAML: {error}") from error
    if not isinstance(content, dict):
        raise GridError(f"{path} must be a mapping with the keys {', '.join(REQUIRED)}.")
    for key in content:
        if key not in KEYS:
            raise GridError(f"{path}: unknown key '{key}'. Known keys: {', '.join(KEYS)}.")
    for key in REQUIRED:
        if not content.get(key):
            raise GridError(f"{path}: '{key}' is missing. Add it; docs/experiments.md shows how.")
    return content


def _variables(path: Path, own: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with their values; None for what is left to the command line.

    A variable with a value in the file is a setting and belongs to the cell, whoever sets it. One
    without is a place on a machine.
    """
    variables = dict(_items(path, "vars", own)) if own else {}
    for name in given:
        if name not in variables:
            raise GridError(
                f"{path}: --vars.{name} is given, but 'vars' has no '{name}'. It has: "
                f"{', '.join(variables) or 'nothing'}."
            )
    return {n: given.get(n, value) if value is not None else None for n, value in variables.items()}


def _base_config(path: Path, name: str) -> Config:
    file = path.parent / name
    if not file.is_file():
        raise GridError(
            f"{path}: 'config' names {name}, but there is no {file}. The path is relative to the "
            f"folder of the grid file."
        )
    return Config().from_disk(file, interpolate=False)


def _axis(path: Path, name: str, axis: Any) -> dict[Label, Overrides]:
    """Label to overrides: of one config path, or a named bundle of several."""
    where = f"axes.{name}"
    items = dict(_items(path, where, axis))
    if "values" not in items:
        return {label: dict(_items(path, f"{where}.{label}", b)) for label, b in items.items()}
    if set(items) != {"path", "values"} or not isinstance(items["values"], list):
        raise GridError(
            f"{path}: '{where}' must have 'path', the dotted path of a setting in the config, and "
            f"'values', a list; or else one bundle of overrides for each of its values."
        )
    return {_label(value): {items["path"]: value} for value in items["values"]}


def _tests(path: Path, tests: Any) -> dict[str, Overrides]:
    """Name to overrides of each further test of the best model."""
    names = dict(_items(path, "tests", tests)) if tests else {}
    return {name: dict(_items(path, f"tests.{name}", names[name])) for name in names}


def _label(value: Any) -> Label:
    return value if isinstance(value, Label) else json.dumps(value)


def _names(path: Path, key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise GridError(f"{path}: '{key}' must be a list of names, not {value!r}.")
    return value


def _items(path: Path, key: str, value: Any) -> list[tuple[Any, Any]]:
    if not isinstance(value, dict) or not value:
        raise GridError(f"{path}: '{key}' must be a mapping that is not empty, not {value!r}.")
    return list(value.items())


def _cell(
    path: Path,
    base: Config,
    settings: dict[str, Any],
    common: Overrides,
    tests: dict[str, Overrides],
    values: dict[str, tuple[Label, Overrides]],
) -> Cell:
    overrides = dict(common)
    for _, bundle in values.values():
        overrides.update(bundle)
    config = _overridden(path, base, overrides)
    for changes in tests.values():
        _overridden(path, config, changes)
    if tests:
        config["tests"] = tests
    config.setdefault("vars", {}).update(settings)
    axes = {name: label for name, (label, _) in values.items()}
    return Cell(_hash(config), axes, overrides, config)


def _overridden(path: Path, base: Config, overrides: Overrides) -> Config:
    config = deepcopy(base)
    for dotted, value in overrides.items():
        try:
            override(config, dotted, value)
        except KeyError as error:
            raise GridError(f"{path}: can't override '{dotted}': {error.args[0]}") from None
    return config


def override(config: dict[str, Any], dotted: str, value: Any) -> None:
    """Set a value of a config by its dotted path, in a section that is there.

    Raises KeyError with what is there instead.
    """
    *sections, option = dotted.split(".")
    at = config
    for depth, section in enumerate(sections):
        if not isinstance(at.get(section), dict):
            within = ".".join(sections[:depth]) or "the config"
            known = ", ".join(key for key, inner in at.items() if isinstance(inner, dict))
            raise KeyError(f"{within} has no section '{section}'. Its sections: {known or 'none'}.")
        at = at[section]
    if not sections:
        raise KeyError("a path needs a section and a setting, such as training.max_steps.")
    at[option] = value


def _hash(config: Config) -> str:
    """12 hex digits, the same whether or not the config spells out spaCy's defaults.

    The logger is left out: runs of a grid have their own.
    """
    full = load_config(DEFAULT_CONFIG_PATH, interpolate=False).merge(config)
    full["training"].pop("logger", None)
    return hashlib.sha256(json.dumps(full, sort_keys=True).encode()).hexdigest()[:12]


def _check_unique(path: Path, cells: list[Cell]) -> None:
    seen: dict[str, Cell] = {}
    for cell in cells:
        other = seen.setdefault(cell.key, cell)
        if other is not cell:
            raise GridError(
                f"{path}: {other.axes} and {cell.axes} are the same run, as they make the same "
                f"config. Later axes win over earlier ones, and axes over 'overrides': see that "
                f"each axis sets a path of its own."
            )
