"""Reports of made-up result lines, their numbers counted by hand."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_grid import load, tiny_grid
from typer.testing import CliRunner

from spacy_biaffine.cli import app
from spacy_biaffine.experiments.grid import Grid, GridError, read_grid
from spacy_biaffine.experiments.report import write_report
from spacy_biaffine.experiments.results import Results
from spacy_biaffine.experiments.runs import Runs, read_layout, read_papers
from spacy_biaffine.experiments.tables import (
    beside_table,
    markdown,
    number,
    parameter_table,
    score_table,
    test_table,
    watch_table,
)

test_table.__test__ = False  # type: ignore[attr-defined]  # for pytest: no test

GRIDS = sorted((Path(__file__).parents[2] / "experiments").glob("*.yml"))

SCORES = {
    ("raw", 0): [0.50, 0.52, 0.54],
    ("normalized", 0): [0.60, 0.62, 0.58],
    ("raw", 1): [0.70, 0.70, 0.73],
    ("normalized", 1): [0.71, 0.69, 0.75],
    ("halved", 0): [0.60, 0.61, 0.61],
    ("halved", 1): [0.60, 0.61, 0.61],
}
"""By seed. Differences: .10, .10, .04; .01, -.01, .02.
To `halved`: .00, .01, -.03; .11, .08, .14."""

TWO = ("raw", "normalized")
THREE = (*TWO, "halved")


def report_grid(folder: Path, scores: Sequence[str] = TWO, **report: Any) -> Grid:
    content = tiny_grid()
    content["axes"]["scores"]["halved"] = {"components.parser.model.arc_size": 4}
    content["axes"]["scores"] = {name: content["axes"]["scores"][name] for name in scores}
    content["axes"]["seed"] = {"path": "system.seed", "values": [0, 1, 2]}
    content["metrics"] = ["test.las"]
    content["report"] = {
        "output": "out/tiny.md",
        "rows": "N",
        "columns": "scores",
        "better": "normalized",
        "seeds": "seed",
        **report,
    }
    return load(folder, content)


def write_lines(grid: Grid, leave_out: int = 0, *, is_watched: bool = True) -> None:
    results = Results(grid.results)
    for cell in grid.cells[: len(grid.cells) - leave_out]:
        layers, column, seed = (cell.axes[axis] for axis in ("N", "scores", "seed"))
        las = SCORES[str(column), int(layers)][int(seed)]
        size = 1000 if layers == 0 else 4000
        modules = {"parser.head": 250 if column == "halved" else 500}
        if layers:
            modules["parser.lstm"] = 3000
        results.append(
            {
                "key": cell.key,
                "axes": cell.axes,
                "overrides": cell.overrides,
                "steps": 4,
                "parameters": {
                    "trained": size + 100,
                    "all": 9000,
                    "parts": {"parser": size, "rest": 100},
                    "modules": modules,
                },
                "test": {"las": las},
                "history": [history(step, las, bool(layers), is_watched) for step in (0, 2, 4)],
                "versions": {"python": "3.0"},
                "peak_memory_mb": 10.0,
                "times": {"train": 2.0, "words_per_second": 1000.0 + seed},
            }
        )


def history(step: int, las: float, has_lstm: bool, is_watched: bool) -> dict[str, Any]:
    layers = ["lstm_1"] * has_lstm + ["arc_head", "arc_dependent", "arc"]
    watch = {
        "arc_score_std": 1.5,
        "arc_score_std_heads": 1.0 + las,
        "gradient_norm": 2.0,
        "effective_rank": dict.fromkeys(layers, 8.0),
        "rank_share": dict.fromkeys(layers, 0.5),
    }
    entry = {"step": step, "scores": {"las": las * step / 4}}
    return entry | {"watch": {"parser": watch}} if is_watched else entry


def make_runs(
    folder: Path, scores: Sequence[str] = TWO, *, leave_out: int = 0, **report: Any
) -> Runs:
    grid = report_grid(folder, scores, **report)
    write_lines(grid, leave_out)
    return Runs(grid, read_layout(grid), Results(grid.results).read())


def test_score_table_by_hand(tmp_path: Path) -> None:
    table = score_table(make_runs(tmp_path), "test.las", (), [])
    assert table.splitlines() == [
        "| N | raw | normalized |",
        "| :-- | --: | --: |",
        "| 0 | 0.5200 ± 0.0200 (3) | **0.6000 ± 0.0200 (3)** |",
        "| 1 | 0.7100 ± 0.0173 (3) | **0.7167 ± 0.0306 (3)** |",
    ]


def test_score_table_with_runs_missing(tmp_path: Path) -> None:
    # N = 1, normalized: seed 0 alone, with the same score as raw's mean; then nothing.
    table = score_table(make_runs(tmp_path / "a", leave_out=2), "test.las", (), [])
    assert table.splitlines()[-1] == "| 1 | 0.7100 ± 0.0173 (3) | 0.7100 (1) |"
    table = score_table(make_runs(tmp_path / "b", leave_out=3), "test.las", (), [])
    assert table.splitlines()[-1] == "| 1 | 0.7100 ± 0.0173 (3) | – |"


def test_tests_by_hand(tmp_path: Path) -> None:
    table, note = test_table(make_runs(tmp_path), "test.las", ()).split("\n\n")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    assert rows[0] == ["0", "3 of 3", "+0.0800", "–", "–"]
    assert rows[1][:3] == ["1", "2 of 3", "+0.0067"]
    # Ranks of .10, .10, .04, .01, -.01, .02: 5.5, 5.5, 4, 1.5, -1.5, 3.
    assert rows[2][:3] == ["all", "5 of 6", "+0.0433"]
    assert rows[2][4] == f"{(21 - 3) / 21:.2f}"
    assert note.startswith("No p and no r of fewer than five pairs")
    assert "takes settings of one seed as independent" in note


def test_p_and_r_are_left_out_where_no_row_has_enough_pairs(tmp_path: Path) -> None:
    runs = make_runs(tmp_path, rows=[])
    table, note = test_table(runs, "test.las", (0,)).split("\n\n")
    assert table.splitlines()[0] == "|  | pairs won | mean difference |"
    assert note == "No p and no r of fewer than five pairs: they can't be significant."


def test_pairs_of_different_code_are_marked(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    runs.lines[0]["versions"]["source"] = "abc"
    table, note = test_table(runs, "test.las", ()).split("\n\n")
    assert [line.split(" | ")[1] for line in table.splitlines()[2:]] == [
        "3 of 3 †",
        "2 of 3",
        "5 of 6 †",
    ]
    assert "† Pairs whose runs are of different versions" in note


def test_pairs_need_both_columns(tmp_path: Path) -> None:
    runs = make_runs(tmp_path, leave_out=1)
    assert runs.pairs("test.las", (), [(1,)], "raw") == ([0.71, 0.69], [0.70, 0.70])
    assert len(runs.pairs("test.las", (), runs.rows, "raw")[0]) == 5


def test_three_columns_by_hand(tmp_path: Path) -> None:
    runs = make_runs(tmp_path, THREE)
    assert runs.columns == ["raw", "halved", "normalized"]
    scores = score_table(runs, "test.las", (), []).splitlines()
    assert scores[2].split(" | ")[2:] == ["**0.6067 ± 0.0058 (3)**", "0.6000 ± 0.0200 (3) |"]
    tests = test_table(runs, "test.las", ()).splitlines()
    assert tests[0] == "| N | above | pairs won | mean difference | p | effect r |"
    assert tests[2] == "| 0 | raw | 3 of 3 | +0.0800 | – | – |"
    assert tests[3].startswith("| 0 | halved | 1 of 3 | -0.0067 |")
    assert tests[5] == "| 1 | halved | 3 of 3 | +0.1100 | – | – |"
    # Ranks of .00, .01, -.03, .11, .08, .14, the first of which has none: 1, -2, 4, 3, 5.
    assert tests[7].endswith(f"| {(13 - 2) / 15:.2f} |")
    assert [row.split(" | ")[:3] for row in tests[6:8]] == [
        ["| all", "raw", "5 of 6"],
        ["| all", "halved", "4 of 6"],
    ]


def test_each_other_column_has_its_match(tmp_path: Path) -> None:
    text = parameter_table(make_runs(tmp_path, THREE), "test.las", ())
    assert "The best raw setting is N = 1: 0.7100. The smallest normalized setting" in text
    assert "The best halved setting is N = 0: 0.6067. The smallest normalized setting" in text


def test_beside_the_scores_by_hand(tmp_path: Path) -> None:
    beside = ["parameters.modules", "times.words_per_second"]
    table = beside_table(make_runs(tmp_path, THREE, beside=beside), ()).splitlines()
    assert table[0] == "| N | scores | parser.head | parser.lstm | words per second |"
    assert table[2] == "| 0 | raw | 500 | – | 1,001 ± 1.0000 (3) |"
    assert table[6].split(" | ")[1:3] == ["halved", "250"]
    with pytest.raises(ValueError, match=r"no 'times\.speed'; instead of 'speed' it has: train"):
        beside_table(make_runs(tmp_path / "b", beside=["times.speed"]), ())


def test_watch_table_by_hand(tmp_path: Path) -> None:
    lines = watch_table(make_runs(tmp_path), ()).splitlines()
    arcs = "arc_head 8 (0.50)<br>arc_dependent 8 (0.50)<br>arc 8 (0.50)"
    assert lines[2] == f"| 0 | raw | 1.5 | 1.52 | 2 | {arcs} |"
    assert lines[4] == f"| 1 | raw | 1.5 | 1.71 | 2 | lstm_1 8 (0.50)<br>{arcs} |"


def test_smallest_match_by_hand(tmp_path: Path) -> None:
    runs = make_runs(tmp_path)
    table, sentence = parameter_table(runs, "test.las", ()).split("\n\n")
    assert "| 0 | raw | 1,100 | 1,000 | 100 | 0.5200 ± 0.0200 (3) |" in table
    assert sentence == (
        "The best raw setting is N = 1: 0.7100. The smallest normalized setting that is at least "
        "as good is N = 1: 0.7167, with as many trained parameters."
    )


def test_smallest_match_counts_what_is_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SCORES, ("normalized", 0), [0.8, 0.8, 0.8])
    text = parameter_table(make_runs(tmp_path / "a"), "test.las", ())
    assert "is N = 0: 0.8000, with 73% fewer trained parameters (parser: 75% fewer)." in text
    monkeypatch.setitem(SCORES, ("raw", 1), [0.9, 0.9, 0.9])
    text = parameter_table(make_runs(tmp_path / "b"), "test.las", ())
    assert text.endswith("The best raw setting is N = 1: 0.9000. No normalized setting is as good.")
    monkeypatch.setitem(SCORES, ("raw", 0), [0.95, 0.95, 0.95])
    text = parameter_table(make_runs(tmp_path / "c"), "test.las", ())
    assert "The best raw setting is N = 0: 0.9500." in text
    assert "The largest raw setting is N = 1: 0.9000." in text


PAPER = {
    "metric": "test.las",
    "source": "A paper",
    "encoder": "BERT",
    "data": "UD",
    "scores": {"raw": {0: "0.559 ± 0.005"}, "normalized": {0: 0.646}},
}


def test_papers_numbers_stand_beside_ours(tmp_path: Path) -> None:
    runs = make_runs(tmp_path, paper=[PAPER])
    table = score_table(runs, "test.las", (), read_papers(runs.grid))
    header = table.splitlines()[0]
    assert header == (
        "| N | raw | normalized | raw (paper 1) | ours less paper | normalized (paper 1) "
        "| ours less paper |"
    )
    assert "(3)** | 0.559 ± 0.005 | -0.039 | 0.646 | -0.046 |" in table
    assert table.splitlines()[-1].endswith("| – | – | – | – |")


def test_papers_numbers_need_their_source(tmp_path: Path) -> None:
    grid = report_grid(tmp_path, paper=[{k: v for k, v in PAPER.items() if k != "encoder"}])
    with pytest.raises(GridError, match=r"entry 1 of 'report\.paper' must have.*encoder"):
        read_papers(grid)


def test_other_axes_make_tables(tmp_path: Path) -> None:
    runs = make_runs(tmp_path, rows="scores", columns="N", better=1)
    assert (runs.layout.others, runs.tables) == ([0], [()])
    runs = make_runs(tmp_path / "more", rows=[])
    assert runs.tables == [(0,), (1,)]
    assert runs.pairs("test.las", (1,), [()], "raw") == ([0.71, 0.69, 0.75], [0.70, 0.70, 0.73])


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ({"color": 1}, "unknown key 'color'"),
        ({"rows": "n"}, "names 'n'. The axes are: N, scores, seed"),
        ({"better": "best"}, "'better' be one of them"),
        ({"columns": "seed", "seeds": "scores", "better": 3}, "'seed' has \\[0, 1, 2\\]"),
    ],
)
def test_errors_name_the_key(tmp_path: Path, report: dict[str, Any], message: str) -> None:
    with pytest.raises(GridError, match=message):
        read_layout(report_grid(tmp_path, **report))


@pytest.mark.parametrize("path", GRIDS, ids=lambda path: path.stem)
def test_grids_of_the_project_can_be_read(path: Path) -> None:
    grid = read_grid(path, {})
    layout = read_layout(grid)
    assert {layout.better, *layout.others} == set(grid.axes[layout.columns])


def test_report_is_written_with_its_figures(tmp_path: Path) -> None:
    grid = report_grid(tmp_path, paper=[PAPER])
    write_lines(grid, leave_out=2)
    Results(grid.results).append({"key": "other"})
    output, *figures = write_report(grid, "the command")
    text = output.read_text(encoding="utf-8")
    assert output == tmp_path / "out" / "tiny.md"
    assert "Generated by `the command` from 10 of 12 runs" in text
    assert "from 10 of 12 runs in `results/tiny.jsonl`; 1 runs of other configs are left" in text
    assert "(paper 1) not ours: A paper; encoder: BERT; data: UD" in text
    assert {path.suffix for path in figures} == {".svg"}
    assert len(figures) == 4
    for path in figures:
        assert path.stat().st_size > 1000
        assert f"]({path.name})" in text


def test_report_of_three_columns_draws_three(tmp_path: Path) -> None:
    grid = report_grid(tmp_path, THREE, beside=["parameters.modules"])
    write_lines(grid)
    output, *figures = write_report(grid, "the command")
    text = output.read_text(encoding="utf-8")
    assert "that normalized is above each of raw, halved, with the rank-biserial" in text
    assert "## Beside the scores\n\nMean ± standard deviation (n) over seed.\n\n| N | " in text
    (steps,) = (path for path in figures if path.name == "tiny-test-las-steps.svg")
    drawn = steps.read_text(encoding="utf-8")
    # Blue and vermilion stay those of the column before the last, and of the last.
    assert all(color.lower() in drawn for color in ("#009E73", "#0072B2", "#D55E00"))


def test_report_of_one_column_has_no_tests(tmp_path: Path) -> None:
    grid = report_grid(tmp_path, ["normalized"])
    write_lines(grid)
    output, *_ = write_report(grid, "the command")
    assert "Mean ± standard deviation (n) over seed.\n\n| N | normalized |" in output.read_text(
        encoding="utf-8"
    )
    assert "pairs won" not in output.read_text(encoding="utf-8")


def test_unwatched_runs_have_no_section_of_it(tmp_path: Path) -> None:
    grid = report_grid(tmp_path)
    write_lines(grid, is_watched=False)
    output, *figures = write_report(grid, "the command")
    assert "effective rank" not in output.read_text(encoding="utf-8")
    assert not any("watch" in path.name for path in figures)


def test_command_reports_without_variables(tmp_path: Path) -> None:
    grid = report_grid(tmp_path, rows=[])
    Results(grid.results).append({"key": "other"})
    result = CliRunner().invoke(app, ["report", str(grid.path)])
    assert result.exit_code == 1
    output = result.output.replace("\n", " ")
    assert "has no finished run of this grid, and 1 of other configs" in output
    write_lines(grid)
    result = CliRunner().invoke(app, ["report", str(grid.path)])
    assert result.exit_code == 0
    assert "### N = 0\n\n|  | raw | normalized |" in (tmp_path / "out" / "tiny.md").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.1235"),
        (0.0, "0.0000"),
        (0, "0"),
        (1.0, "1.0000"),
        (300.25, "300.2"),
        (1234567, "1,234,567"),
    ],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_markdown() -> None:
    assert markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n| :-- | --: |\n| 1 | 2 |"
