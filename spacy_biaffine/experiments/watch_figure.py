"""The figure of what the watch has read in training."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogFormatter

from .grid import Label
from .plots import ROW_MARKERS, add_legend, curve, figure
from .runs import Runs, Setting, mean_and_deviation, name_of, watched

RANK = "effective rank\n(share of the largest)"


def watch_by_step(runs: Runs, table: Setting, path: Path) -> bool:
    """Score deviation, effective rank and gradient norm against steps (Section 3, Figure 1).

    A panel a measure and column, a line a row. The rank is the mean over the BiLSTM layers; where
    there are none, over the two arc projections, dashed. False where nothing was watched.
    """
    if not any(watched(line) for line in runs.lines):
        return False
    with figure(path, len(MEASURES), len(runs.columns), sharey="row") as panels:
        for line, (measure, read) in zip(panels, MEASURES.items(), strict=True):
            line[0].set_ylabel(measure)
            for panel, column in zip(line, runs.columns, strict=True):
                if measure != RANK:
                    _make_logarithmic(panel)
                _draw(panel, runs, table, column, read)
        for panel, column in zip(panels[0], runs.columns, strict=True):
            panel.set_title(column)
        for panel in panels[-1]:
            panel.set_xlabel("training steps")
        names = [name_of(runs.layout.rows, row) for row in runs.rows]
        handles = [
            Line2D([], [], label=name, **_style(i, len(names)))
            for i, name in enumerate(names)
            if name
        ]
        add_legend(panels, handles, columns=4 if len(runs.layout.rows) == 1 else 2)
    return True


def _make_logarithmic(panel: Axes) -> None:
    """With plain numbers."""
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.4)))


def _draw(
    panel: Axes,
    runs: Runs,
    table: Setting,
    column: Label,
    read: Callable[[dict[str, Any]], float | None],
) -> None:
    for number, row in enumerate(runs.rows):
        points = curve(runs, table, row, column, lambda entry: read(_reading(entry)))
        ys = [mean_and_deviation(values)[0] for _, values in points]
        is_dashed = read is _rank and not _has_lstm(runs, table, row, column)
        style = {**_style(number, len(runs.rows)), "linestyle": "--" if is_dashed else "-"}
        panel.plot([x for x, _ in points], ys, **style)


def _style(number: int, count: int) -> dict[str, Any]:
    """Rows are ordered, and so are the shades."""
    shade = matplotlib.colormaps["viridis"](np.linspace(0, 0.85, count)[number])
    return {"color": shade, "marker": ROW_MARKERS[number % len(ROW_MARKERS)], "markersize": 4}


def _reading(entry: dict[str, Any]) -> dict[str, Any]:
    return next(iter(entry.get("watch", {}).values()), {})


def _deviation(reading: dict[str, Any]) -> float | None:
    return reading.get("arc_score_std")


def _gradient(reading: dict[str, Any]) -> float | None:
    return reading.get("gradient_norm")


def _rank(reading: dict[str, Any]) -> float | None:
    shares: dict[str, float] = reading.get("rank_share", {})
    lstm = [share for layer, share in shares.items() if layer.startswith("lstm")]
    chosen = lstm or [shares[name] for name in ("arc_head", "arc_dependent") if name in shares]
    return sum(chosen) / len(chosen) if chosen else None


def _has_lstm(runs: Runs, table: Setting, row: Setting, column: Label) -> bool:
    lines = runs.by_seed(table, row, column).values()
    return any("lstm_1" in watched(line).get("effective_rank", {}) for line in lines)


MEASURES = {"arc score std": _deviation, RANK: _rank, "gradient norm": _gradient}
