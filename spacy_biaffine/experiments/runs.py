"""The finished runs of a grid, grouped as its report wants them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from statistics import mean, stdev
from typing import Any

from .drive import value_at
from .grid import Grid, GridError, Label
from .results import Line

KEYS = ("title", "output", "rows", "columns", "better", "seeds", "beside", "paper")
REQUIRED = ("output", "rows", "columns", "better", "seeds")
PAPER_KEYS = ("metric", "source", "encoder", "data", "scores")

MOST_COLUMNS = 6
"""As many as the figures have colors for."""

Setting = tuple[Label, ...]


@dataclass(frozen=True)
class Layout:
    """Which axis of a grid goes where in its report.

    rows: axes whose combinations are the rows of a table. columns: the axis of the settings that
    are compared, `better` with each of the `others`. seeds: the axis that makes the pairs. tables:
    all other axes; each of their combinations has tables of its own. beside: values of the result
    lines, by dotted path, that are shown without a test.
    """

    rows: list[str]
    columns: str
    seeds: str
    tables: list[str]
    better: Label
    others: list[Label]
    beside: list[str]


@dataclass(frozen=True)
class Paper:
    """Numbers of a paper: column to row to score, as printed there.

    table: the value of an axis; the numbers stand in its tables alone. None for all tables.
    """

    metric: str
    table: Label | None
    title: str
    scores: dict[Label, dict[Label, str]]


def read_layout(grid: Grid) -> Layout:
    """The layout that the key 'report' of the grid file asks for. Raises GridError."""
    where, report = f"{grid.path}: 'report'", grid.report
    for key in report:
        if key not in KEYS:
            raise GridError(f"{where} has an unknown key '{key}'. Known keys: {', '.join(KEYS)}.")
    for key in REQUIRED:
        if key not in report:
            raise GridError(f"{where} lacks '{key}'. Add it; docs/experiments.md shows how.")
    rows = report["rows"] if isinstance(report["rows"], list) else [report["rows"]]
    used = [*rows, report["columns"], report["seeds"]]
    for axis in used:
        if axis not in grid.axes:
            raise GridError(f"{where} names '{axis}'. The axes are: {', '.join(grid.axes)}.")
    labels = grid.axes[report["columns"]]
    if len(labels) > MOST_COLUMNS or report["better"] not in labels:
        raise GridError(
            f"{where} compares settings: the axis in 'columns' must have at most {MOST_COLUMNS} "
            f"values, and 'better' be one of them. '{report['columns']}' has {labels}."
        )
    return Layout(
        rows=rows,
        columns=report["columns"],
        seeds=report["seeds"],
        tables=[axis for axis in grid.axes if axis not in used],
        better=report["better"],
        others=[label for label in labels if label != report["better"]],
        beside=list(report.get("beside") or []),
    )


def read_papers(grid: Grid) -> list[Paper]:
    """The papers' numbers that the key 'report.paper' gives. Raises GridError."""
    papers = []
    for number, entry in enumerate(grid.report.get("paper") or [], start=1):
        if set(entry) - {"table"} != set(PAPER_KEYS):
            raise GridError(
                f"{grid.path}: entry {number} of 'report.paper' must have the keys "
                f"{', '.join(PAPER_KEYS)}: numbers of others are shown with where they are from."
            )
        title = f"{entry['source']}; encoder: {entry['encoder']}; data: {entry['data']}"
        papers.append(Paper(entry["metric"], entry.get("table"), title, entry["scores"]))
    return papers


class Runs:
    """Result lines by table, row, column and seed."""

    def __init__(self, grid: Grid, layout: Layout, lines: dict[str, Line]) -> None:
        self.grid = grid
        self.layout = layout
        self.lines = [lines[cell.key] for cell in grid.cells if cell.key in lines]
        self.tables = self._settings(layout.tables)
        self.rows = self._settings(layout.rows)
        self.columns = [*layout.others, layout.better]
        self._by_place: dict[tuple[Setting, Setting, Label, Label], Line] = {}
        for cell in grid.cells:
            if cell.key in lines:
                table = tuple(cell.axes[axis] for axis in layout.tables)
                row = tuple(cell.axes[axis] for axis in layout.rows)
                place = table, row, cell.axes[layout.columns], cell.axes[layout.seeds]
                self._by_place[place] = lines[cell.key]

    def _settings(self, axes: Sequence[str]) -> list[Setting]:
        return list(product(*(self.grid.axes[axis] for axis in axes)))

    def by_seed(self, table: Setting, row: Setting, column: Label) -> dict[Label, Line]:
        """The runs of a setting that have finished."""
        found = {s: self._by_place.get((table, row, column, s)) for s in self._seeds}
        return {seed: line for seed, line in found.items() if line is not None}

    @property
    def _seeds(self) -> list[Label]:
        return self.grid.axes[self.layout.seeds]

    def values(self, metric: str, table: Setting, row: Setting, column: Label) -> list[float]:
        """A metric of these runs, a value a seed."""
        return [value_at(line, metric) for line in self.by_seed(table, row, column).values()]

    def pairs(
        self, metric: str, table: Setting, rows: Sequence[Setting], other: Label
    ) -> tuple[list[float], list[float]]:
        """A metric where `better` and an other column have run with the same seed: of either."""
        better, worse = [], []
        for row in rows:
            ours = self.by_seed(table, row, self.layout.better)
            theirs = self.by_seed(table, row, other)
            for seed in ours.keys() & theirs.keys():
                better.append(value_at(ours[seed], metric))
                worse.append(value_at(theirs[seed], metric))
        return better, worse

    def on_same_code(self, table: Setting, rows: Sequence[Setting], other: Label) -> bool:
        """Whether both runs of each pair are of one version of this package's source."""
        for row in rows:
            ours = self.by_seed(table, row, self.layout.better)
            theirs = self.by_seed(table, row, other)
            for seed in ours.keys() & theirs.keys():
                sources = {line["versions"].get("source") for line in (ours[seed], theirs[seed])}
                if len(sources) > 1:
                    return False
        return True


def name_of(axes: Sequence[str], setting: Setting) -> str:
    """Such as "hidden = 100, N = 1"; empty for no axes."""
    return ", ".join(f"{axis} = {label}" for axis, label in zip(axes, setting, strict=True))


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """The mean and the standard deviation of the sample, 0 for a sample of one."""
    return mean(values), stdev(values) if len(values) > 1 else 0.0


def watched(line: Line, step: int = -1) -> dict[str, Any]:
    """The readings of a run at one of its evaluations, of the first watched component."""
    return next(iter(line["history"][step].get("watch", {}).values()), {})
