"""``spacy biaffine report``: a Markdown file with tables, tests and figures of a grid."""

import json
import os
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from . import figures, tables
from .grid import Grid
from .results import Results
from .runs import Paper, Runs, Setting, name_of, read_layout, read_papers
from .watch_figure import watch_by_step


def write_report(grid: Grid, command: str) -> list[Path]:
    """Write the report of the runs that have finished, and its figures beside it.

    command: the command line, named in the report. Returns the files.
    Raises GridError where the grid file asks for what isn't there, ValueError without any result.
    """
    layout = read_layout(grid)
    papers = read_papers(grid)
    runs = Runs(grid, layout, Results(grid.results).read())
    if not runs.lines:
        raise ValueError(
            f"{grid.results} has no finished run of this grid. Run `experiment {grid.path}` first."
        )
    output = (grid.path.parent / grid.report["output"]).resolve()
    report = Report(grid, runs, papers, output)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n\n".join(report.parts(command)) + "\n", encoding="utf8")
    return [output, *report.drawn]


class Report:
    """The parts of a report.

    drawn: the figures so far.
    """

    def __init__(self, grid: Grid, runs: Runs, papers: list[Paper], output: Path) -> None:
        self.grid = grid
        self.runs = runs
        self.papers = papers
        self.output = output
        self.drawn: list[Path] = []

    def parts(self, command: str) -> Iterator[str]:
        """From the title to the last table."""
        yield f"# {self.grid.name}"
        yield _origin(self.grid, self.runs, command)
        for metric in self.grid.metrics:
            yield f"## {metric}"
            yield from self._metric(metric)
        yield "## Score deviation, effective rank, gradients"
        yield from self._watched()
        yield "## Trained parameters"
        yield from self._parameters(self.grid.metrics[0])
        yield "## What was run"
        yield _settings(self.grid, self.runs)

    def _metric(self, metric: str) -> Iterator[str]:
        layout = self.runs.layout
        yield (
            f"Mean ± standard deviation (n) over {layout.seeds}; then paired one-tailed Wilcoxon "
            f"signed-rank tests that {layout.better} is above {layout.worse}, with the "
            f"rank-biserial correlation r. Pairs have the same {layout.seeds}; the row 'all' "
            f"takes those of all rows."
        )
        for table in self.runs.tables:
            papers = [
                paper
                for paper in self.papers
                if paper.metric == metric and (paper.table is None or paper.table in table)
            ]
            yield from self._heading(table)
            yield tables.score_table(self.runs, metric, table, papers)
            yield from (f"(paper {i}) not ours: {p.title}" for i, p in enumerate(papers, 1))
            yield from filter(None, [tables.test_table(self.runs, metric, table)])
        name = metric.replace(".", "-")
        if figures.score_by_row(self.runs, metric, self._figure(name)):
            yield self._shown(name, f"{metric} against {layout.rows[0]}, ± one deviation")
        figures.score_by_step(self.runs, metric, self._figure(f"{name}-steps"))
        yield self._shown(
            f"{name}-steps", "Dev score against training steps, ± one deviation; without step 0"
        )

    def _watched(self) -> Iterator[str]:
        yield (
            "At the last evaluation, mean over seeds. Scores are those before the softmax in "
            "training, scaled where normalized, over real words without the mask: over all pairs "
            "of a batch, and over the candidate heads of one word. Effective rank after Roy and "
            "Vetterli (2007); lstm_i is the mean over the four matrices of a layer."
        )
        for number, table in enumerate(self.runs.tables, start=1):
            yield from self._heading(table)
            yield tables.watch_table(self.runs, table) or "Nothing was watched."
            name = f"watch-{number}" if len(self.runs.tables) > 1 else "watch"
            if watch_by_step(self.runs, table, self._figure(name)):
                yield self._shown(name, "Deviation, rank and gradients against training steps")

    def _parameters(self, metric: str) -> Iterator[str]:
        for table in self.runs.tables:
            yield from self._heading(table)
            yield tables.parameter_table(self.runs, metric, table)
        figures.score_by_parameters(self.runs, metric, self._figure("parameters"))
        yield self._shown("parameters", f"{metric} against trained parameters")

    def _heading(self, table: Setting) -> list[str]:
        return [f"### {name_of(self.runs.layout.tables, table)}"] if table else []

    def _figure(self, name: str) -> Path:
        return self.output.parent / f"{self.output.stem}-{name}"

    def _shown(self, name: str, caption: str) -> str:
        path = self._figure(name)
        self.drawn += [path.with_suffix(".svg"), path.with_suffix(".png")]
        return f"![{caption}]({path.name}.svg)\n\n*{caption}.*"


def _origin(grid: Grid, runs: Runs, command: str) -> str:
    return (
        f"Generated by `{command}` on {date.today().isoformat()}, from {len(runs.lines)} of "
        f"{len(grid.cells)} runs in `{_beside(grid.results, grid)}`."
    )


def _settings(grid: Grid, runs: Runs) -> str:
    """The grid, and the versions that it ran with."""
    common = {
        path: value
        for path, value in runs.lines[0]["overrides"].items()
        if all(line["overrides"].get(path) == value for line in runs.lines)
    }
    rows = [["config", f"`{grid.config}`"]]
    rows += [[f"`{path}`", f"`{json.dumps(value)}`"] for path, value in common.items()]
    rows += [[f"`vars.{name}`", f"`{json.dumps(value)}`"] for name, value in grid.settings.items()]
    rows += [[axis, ", ".join(map(str, grid.axes[axis]))] for axis in grid.axes]
    rows += [[f"{name} version", ", ".join(found)] for name, found in _versions(runs).items()]
    seconds = [line["times"]["train"] for line in runs.lines]
    memory = [line["peak_memory_mb"] for line in runs.lines if line["peak_memory_mb"]]
    rows.append(["seconds of training, one thread", tables.spread(seconds)])
    rows.append(["peak memory (MB)", tables.spread(memory)])
    rows.append(["steps run", _range([line["steps"] for line in runs.lines])])
    return tables.markdown(["setting", "value"], rows)


def _versions(runs: Runs) -> dict[str, Sequence[str]]:
    names: dict[str, Any] = {}
    for line in runs.lines:
        for name, version in line["versions"].items():
            names.setdefault(name, set()).add(version)
    return {name: sorted(found) for name, found in names.items()}


def _range(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _beside(path: Path, grid: Grid) -> str:
    return os.path.relpath(path, grid.path.parent).replace(os.sep, "/")
