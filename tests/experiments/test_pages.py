"""The pages of results are what `report` makes of the results that lie beside the grids."""

from pathlib import Path

import pytest

from spacy_biaffine.experiments import figures, report
from spacy_biaffine.experiments.grid import read_grid
from spacy_biaffine.experiments.results import Results
from spacy_biaffine.experiments.runs import Runs, read_layout, read_papers

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "results"
GRIDS = [
    path
    for path in sorted((ROOT / "experiments").glob("*.yml"))
    if (path.parent / "results" / f"{path.stem}.jsonl").exists()
]


def is_drawn(*arguments) -> bool:
    """In place of what draws a figure: whether it lies beside the page."""
    return arguments[-1].with_suffix(".svg").exists()


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.stem)
def test_page_is_what_report_makes(path, monkeypatch):
    for draw in ("score_by_row", "score_by_step", "score_by_parameters"):
        monkeypatch.setattr(figures, draw, is_drawn)
    monkeypatch.setattr(report, "watch_by_step", is_drawn)
    grid = read_grid(path, {})
    lines = Results(grid.results).read()
    runs = Runs(grid, read_layout(grid), lines)
    page = (path.parent / grid.report["output"]).resolve()
    made = report.Report(grid, runs, read_papers(grid), page, len(lines) - len(runs.lines))
    text = "\n\n".join(made.parts(f"python -m spacy biaffine report experiments/{path.name}"))
    again = f"make it again: python -m spacy biaffine report experiments/{path.name}"
    assert page.read_text(encoding="utf8") == text + "\n", again
    assert all(figure.exists() for figure in made.drawn), again


def test_every_figure_stands_on_a_page():
    pages = "".join(page.read_text(encoding="utf8") for page in PAGES.glob("*.md"))
    lost = [figure.name for figure in PAGES.glob("*.svg") if f"]({figure.name})" not in pages]
    assert not lost
    assert {file.suffix for file in PAGES.iterdir()} == {".md", ".svg"}
