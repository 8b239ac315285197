"""Figures of scores: against the rows, against parameters, against training steps."""

from pathlib import Path
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from .plots import ROW_MARKERS, add_legend, colors_of, curve, draw, figure, statistics
from .runs import Runs, Setting, name_of

MOST_COLUMNS = 4


def score_by_row(runs: Runs, metric: str, path: Path) -> bool:
    """A metric against the axis of the rows (the paper's Figure 3), a panel a table.

    False, and nothing drawn, where the rows are no axis of numbers.
    """
    rows = [row[0] for row in runs.rows if len(row) == 1]
    if not rows or not all(type(row) in (int, float) for row in rows):
        return False
    with figure(path, 1, len(runs.tables)) as panels:
        for panel, table in zip(panels[0], runs.tables, strict=True):
            for column in runs.columns:
                values = {float(r[0]): runs.values(metric, table, r, column) for r in runs.rows}
                draw(panel, [(x, ys) for x, ys in values.items() if ys], runs.columns, column)
            panel.set(xticks=[float(row) for row in rows], title=_title(runs, table))
            panel.set(xlabel=runs.layout.rows[0], ylabel=metric)
        add_legend(panels, panels[0][0].get_lines(), columns=3)
    return True


def score_by_parameters(runs: Runs, metric: str, path: Path) -> None:
    """A metric against the number of trained parameters: a panel a table, a marker a row."""
    names = [name_of(runs.layout.rows, row) for row in runs.rows]
    colors = colors_of(runs.columns)
    beside = 0.6 + 0.09 * max(map(len, [*names, *map(str, runs.columns)]))
    with figure(path, 1, len(runs.tables), beside=beside) as panels:
        for panel, table in zip(panels[0], runs.tables, strict=True):
            for number, row in enumerate(runs.rows):
                for color, column in zip(colors, runs.columns, strict=True):
                    lines = list(runs.by_seed(table, row, column).values())
                    if lines:
                        size = lines[0]["parameters"]["trained"]
                        values = runs.values(metric, table, row, column)
                        x, mean, deviation = statistics([(size, values)])
                        style = {"color": color, "marker": _marker(number), "linestyle": ""}
                        panel.errorbar(x, mean, deviation, **style)
            panel.set(xscale="log", xlabel="trained parameters", ylabel=metric)
            panel.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            panel.xaxis.set_major_formatter(EngFormatter(sep=" "))
            panel.xaxis.set_minor_formatter(NullFormatter())
            panel.set(title=_title(runs, table))
        handles = [
            *(Patch(color=c, label=str(n)) for c, n in zip(colors, runs.columns, strict=True)),
            *(_key(i, name) for i, name in enumerate(names) if name),
        ]
        panels[0][0].figure.legend(handles=handles, loc="outside right upper")


def _marker(number: int) -> str:
    return ROW_MARKERS[number % len(ROW_MARKERS)]


def _key(number: int, name: str) -> Line2D:
    return Line2D([], [], linestyle="", color="0.4", marker=_marker(number), label=name)


def score_by_step(runs: Runs, metric: str, path: Path) -> None:
    """The dev score against training steps (the paper's Figure 4), a panel a table and row.

    Step 0, before which there was one update, is left out: it would flatten all else.
    """
    name = metric.split(".")[-1]

    def score(entry: dict[str, Any]) -> Any:
        return entry["scores"].get(name) if entry["step"] else None

    places = [(table, row) for table in runs.tables for row in runs.rows]
    columns = min(MOST_COLUMNS, len(runs.rows))
    with figure(path, -(-len(places) // columns), columns, sharex=True, sharey=True) as panels:
        for panel, (table, row) in zip(panels.flat, places, strict=False):
            for column in runs.columns:
                draw(panel, curve(runs, table, row, column, score), runs.columns, column)
            names = [_title(runs, table), name_of(runs.layout.rows, row)]
            panel.set(title="\n".join(filter(None, names)))
            panel.tick_params(labelbottom=True)
        for panel in panels.flat[len(places) :]:
            panel.axis("off")
        for panel in panels[:, 0]:
            panel.set_ylabel(f"dev.{name}")
        for panel in panels.flat[max(0, len(places) - columns) : len(places)]:
            panel.set_xlabel("training steps")
        add_legend(panels, panels[0][0].get_lines(), columns=3)


def _title(runs: Runs, table: Setting) -> str:
    return name_of(runs.layout.tables, table)
