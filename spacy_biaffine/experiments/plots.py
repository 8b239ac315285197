"""What the figures of a report share: style, panels, and lines with a band of deviation."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .grid import Label
from .runs import Runs, Setting, mean_and_deviation

COLORS = ("#56B4E9", "#E69F00", "#CC79A7", "#009E73", "#0072B2", "#D55E00")
"""Of Okabe and Ito, told apart by the colour-blind too. The last is that of `better`, vermilion."""
MARKERS = "vP^Dso"
ROW_MARKERS = "osD^vP*X"

STYLE: Any = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "axes.titlesize": 10,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.hashsalt": "spacy-biaffine",  # the same figure gives the same file
}
PANEL = (3.6, 2.9)

Points = Sequence[tuple[float, list[float]]]
"""x to values of y, one a seed."""


@contextmanager
def figure(
    path: Path, rows: int, columns: int, *, beside: float = 0.0, **options: Any
) -> Iterator[Any]:
    """Panels (rows, columns) of a figure that is saved as path with .svg.

    beside: inches for a legend at the right.
    """
    with matplotlib.rc_context(STYLE):
        size = (PANEL[0] * columns + beside, PANEL[1] * rows)
        drawn = Figure(figsize=size, layout="constrained")
        yield drawn.subplots(rows, columns, squeeze=False, **options)
        path.parent.mkdir(parents=True, exist_ok=True)
        drawn.savefig(path.with_suffix(".svg"), metadata={"Date": None})


def colors_of(columns: Sequence[Label]) -> Sequence[str]:
    """A color for each column."""
    return COLORS[-len(columns) :]


def draw(panel: Axes, points: Points, columns: Sequence[Label], column: Label) -> None:
    """A line of means in a band of one standard deviation."""
    xs, means, deviations = statistics(points)
    series = columns.index(column) - len(columns)
    color = COLORS[series]
    panel.plot(xs, means, color=color, marker=MARKERS[series], markersize=5, label=str(column))
    panel.fill_between(xs, means - deviations, means + deviations, color=color, alpha=0.2, lw=0)


def statistics(points: Points) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, and the mean and the standard deviation of y."""
    spreads = np.array([mean_and_deviation(values) for _, values in points]).reshape(-1, 2)
    return np.array([x for x, _ in points]), spreads[:, 0], spreads[:, 1]


def add_legend(panels: Any, handles: Sequence[Any], columns: int) -> None:
    """Above all panels, where it hides nothing; in fewer columns where so many are too wide."""
    page = panels[0][0].figure
    for ncols in range(columns, 0, -1):
        legend = page.legend(handles=handles, loc="outside upper center", ncols=ncols)
        if ncols == 1 or legend.get_window_extent().width <= page.bbox.width:
            return
        legend.remove()


def curve(
    runs: Runs,
    table: Setting,
    row: Setting,
    column: Label,
    read: Callable[[dict[str, Any]], float | None],
) -> Points:
    """Training step to what `read` finds in the evaluation there."""
    found: dict[float, list[float]] = {}
    for line in runs.by_seed(table, row, column).values():
        for entry in line["history"]:
            value = read(entry)
            if value is not None:
                found.setdefault(entry["step"], []).append(value)
    return sorted(found.items())
