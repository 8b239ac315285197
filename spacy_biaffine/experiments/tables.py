"""Markdown tables of a report."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from .drive import value_at
from .grid import Label
from .runs import Paper, Runs, Setting, mean_and_deviation, name_of, watched
from .statistics import Comparison, compare, is_too_few

NONE = "–"


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, its first column to the left, the others to the right."""
    rule = [":--", *["--:"] * (len(header) - 1)]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *rows])


def number(value: float) -> str:
    """None of the decimals of counts, four of scores, one of what is above 1."""
    if isinstance(value, int) or (value == int(value) and abs(value) > 1):
        return f"{int(value):,}"
    return f"{value:.4f}" if abs(value) <= 1 else f"{value:,.1f}"


def spread(values: Sequence[float]) -> str:
    """Mean ± standard deviation (n); no deviation of one value."""
    if not values:
        return NONE
    mean, deviation = mean_and_deviation(values)
    around = f" ± {number(deviation)}" if len(values) > 1 else ""
    return f"{number(mean)}{around} ({len(values)})"


def score_table(runs: Runs, metric: str, table: Setting, papers: Sequence[Paper]) -> str:
    """Rows by columns, the better mean in bold, and papers' numbers beside ours, with ours less
    theirs."""
    columns = [str(column) for column in runs.columns]
    theirs = [
        name
        for i, _ in enumerate(papers, 1)
        for column in columns
        for name in (f"{column} (paper {i})", "ours less paper")
    ]
    rows = []
    for row in runs.rows:
        values = [runs.values(metric, table, row, column) for column in runs.columns]
        given = [
            cell
            for paper in papers
            for column, ours in zip(runs.columns, values, strict=True)
            for cell in _beside_paper(_printed(paper, row, column), ours)
        ]
        rows.append([_row_name(row), *_best_in_bold(values), *given])
    return markdown([", ".join(runs.layout.rows), *columns, *theirs], rows)


def _beside_paper(printed: str, ours: Sequence[float]) -> tuple[str, str]:
    """What a paper prints, and our mean less that."""
    if printed == NONE or not ours:
        return printed, NONE
    theirs = float(printed.partition("±")[0])
    return printed, f"{mean_and_deviation(ours)[0] - theirs:+.3f}"


def _row_name(row: Setting) -> str:
    return ", ".join(map(str, row))


def _best_in_bold(values: Sequence[Sequence[float]]) -> list[str]:
    means = [mean_and_deviation(each)[0] if each else float("-inf") for each in values]
    is_decided = all(values) and len(set(means)) > 1
    return [
        f"**{spread(each)}**" if is_decided and mean == max(means) else spread(each)
        for each, mean in zip(values, means, strict=True)
    ]


def _printed(paper: Paper, row: Setting, column: Label) -> str:
    key = row[0] if len(row) == 1 else _row_name(row)
    return str(paper.scores.get(column, {}).get(key, NONE))


def test_table(runs: Runs, metric: str, table: Setting) -> str:
    """Better against the others: row by row, and all rows together. Empty without pairs.

    The others have a column, where there are several.
    """
    others = runs.layout.others
    names = ["above"] if len(others) > 1 else []
    rows: list[list[str]] = []
    results: list[Comparison] = []
    mixed = False
    groups = [(_row_name(row), [row]) for row in runs.rows]
    if len(groups) > 1:
        groups.append(("all", runs.rows))
    for (name, settings), other in product(groups, others):
        x, y = runs.pairs(metric, table, settings, other)
        if x:
            results.append(compare(x, y))
            has_mixed = not runs.on_same_code(table, settings, other)
            mixed |= has_mixed
            won, *others_of_it = _comparison(results[-1])
            won += " †" * has_mixed
            rows.append([name, *(str(other) for _ in names), won, *others_of_it])
    if not rows:
        return ""
    tested = ["pairs won", "mean difference", "p", "effect r"]
    if all(is_too_few(result.pairs) for result in results):
        tested = tested[:2]
        rows = [row[:-2] for row in rows]
    header = [", ".join(runs.layout.rows), *names, *tested]
    return "\n\n".join([markdown(header, rows), *_notes(results, len(groups) > 1, mixed)])


def _comparison(result: Comparison) -> list[str]:
    """Pairs won, mean difference, p and r; the last two only of enough pairs."""
    few = is_too_few(result.pairs)
    p = NONE if few or result.p is None else f"{result.p:.3g}"
    effect = NONE if few or result.effect is None else f"{result.effect:.2f}"
    return [f"{result.wins} of {result.pairs}", f"{result.difference:+.4f}", p, effect]


def _notes(results: Sequence[Comparison], has_all: bool, mixed: bool) -> list[str]:
    """What a reader must know of a table of tests."""
    notes = []
    if any(is_too_few(result.pairs) for result in results):
        notes.append("No p and no r of fewer than five pairs: they can't be significant.")
    if has_all:
        notes.append("The row 'all' takes settings of one seed as independent, which they are not.")
    if mixed:
        notes.append("† Pairs whose runs are of different versions of this package's code.")
    return [" ".join(notes)] if notes else []


def beside_table(runs: Runs, table: Setting) -> str:
    """Values of the lines that are no scores: mean and deviation, no test. Empty without runs.

    Where a value is a mapping, each of its keys has a column. What all seeds have stands alone.
    """
    places = [(row, column) for row in runs.rows for column in runs.columns]
    found = {place: _beside(runs, table, *place) for place in places}
    every = dict.fromkeys(name for values in found.values() for name in values)
    names = sorted(every, key=lambda name: name.path)
    rows = [
        [_row_name(row), str(column), *(_same_or_spread(values.get(name, [])) for name in names)]
        for (row, column), values in found.items()
        if values
    ]
    header = [", ".join(runs.layout.rows), runs.layout.columns, *(name.shown for name in names)]
    return markdown(header, rows) if rows else ""


class Beside(NamedTuple):
    """What is shown beside the scores: the number of its path, and its name."""

    path: int
    shown: str


def _same_or_spread(values: Sequence[float]) -> str:
    return number(values[0]) if len(set(values)) == 1 else spread(values)


def _beside(runs: Runs, table: Setting, row: Setting, column: Label) -> dict[Beside, list[float]]:
    """A value a seed."""
    found: dict[Beside, list[float]] = {}
    for line in runs.by_seed(table, row, column).values():
        for i, path in enumerate(runs.layout.beside):
            value = value_at(line, path)
            parts = value if isinstance(value, dict) else {_last_name(path): value}
            for name, part in parts.items():
                found.setdefault(Beside(i, name), []).append(part)
    return found


def _last_name(path: str) -> str:
    return path.rpartition(".")[2].replace("_", " ")


def watch_table(runs: Runs, table: Setting) -> str:
    """Readings at the last evaluation, mean over seeds; empty where nothing was watched."""
    rows = []
    for row in runs.rows:
        for column in runs.columns:
            lines = list(runs.by_seed(table, row, column).values())
            readings = [found for found in map(watched, lines) if found]
            if readings:
                rows.append([_row_name(row), str(column), *_reading(readings)])
    header = [
        ", ".join(runs.layout.rows),
        runs.layout.columns,
        "score std",
        "score std per word",
        "gradient norm",
        "effective rank by layer (share of the largest)",
    ]
    return markdown(header, rows) if rows else ""


def _reading(readings: Sequence[dict[str, Any]]) -> list[str]:
    def average(*path: str) -> float:
        values: list[Any] = list(readings)
        for name in path:
            values = [value[name] for value in values]
        return mean_and_deviation(values)[0]

    names = ("arc_score_std", "arc_score_std_heads", "gradient_norm")
    layers = [
        f"{layer} {average('effective_rank', layer):.0f} ({average('rank_share', layer):.2f})"
        for layer in readings[0]["effective_rank"]
    ]
    return [*(f"{average(name):.3g}" for name in names), "<br>".join(layers)]


def parameter_table(runs: Runs, metric: str, table: Setting) -> str:
    """The trained parameters and the score of each setting, and how small the better may be."""
    parts = sorted({part for line in runs.lines for part in line["parameters"]["parts"]})
    rows = []
    for row in runs.rows:
        for column in runs.columns:
            lines = list(runs.by_seed(table, row, column).values())
            if lines:
                counts = lines[0]["parameters"]
                sizes = [counts["trained"], *(counts["parts"].get(part, 0) for part in parts)]
                score = spread(runs.values(metric, table, row, column))
                rows.append([_row_name(row), str(column), *map(number, sizes), score])
    header = [", ".join(runs.layout.rows), runs.layout.columns, "trained", *parts, metric]
    return "\n\n".join([markdown(header, rows), *_smallest_match(runs, metric, table)])


class Sized(NamedTuple):
    """A row's mean score and its parameters."""

    score: float
    row: Setting
    parameters: dict[str, Any]


def _sized(runs: Runs, metric: str, table: Setting, column: Label) -> list[Sized]:
    found = []
    for row in runs.rows:
        lines = list(runs.by_seed(table, row, column).values())
        if lines:
            score, _ = mean_and_deviation(runs.values(metric, table, row, column))
            found.append(Sized(score, row, lines[0]["parameters"]))
    return found


def _smallest_match(runs: Runs, metric: str, table: Setting) -> list[str]:
    """How small the better setting may be to be as good as the best, and the largest, of others."""
    better = _sized(runs, metric, table, runs.layout.better)
    sentences = []
    for other in runs.layout.others if runs.layout.rows and better else []:
        worse = _sized(runs, metric, table, other)
        if worse:
            best = max(worse, key=lambda each: each.score)
            largest = max(worse, key=lambda each: each.parameters["trained"])
            sentences.append(_match(runs, f"best {other}", best, better))
            if largest is not best:
                sentences.append(_match(runs, f"largest {other}", largest, better))
    return sentences


def _match(runs: Runs, which: str, reference: Sized, better: Sequence[Sized]) -> str:
    layout = runs.layout
    found = (
        f"The {which} setting is {name_of(layout.rows, reference.row)}: {number(reference.score)}."
    )
    enough = [each for each in better if each.score >= reference.score]
    if not enough:
        return f"{found} No {layout.better} setting is as good."
    match = min(enough, key=lambda each: each.parameters["trained"])
    ours, theirs = match.parameters, reference.parameters
    parts = [
        f"{part}: {_fewer(ours['parts'].get(part, 0), size)}"
        for part, size in theirs["parts"].items()
        if ours["parts"].get(part, 0) != size
    ]
    in_parts = f" ({', '.join(parts)})" if parts else ""
    return (
        f"{found} The smallest {layout.better} setting that is at least as good is "
        f"{name_of(layout.rows, match.row)}: {number(match.score)}, with "
        f"{_fewer(ours['trained'], theirs['trained'])} trained parameters{in_parts}."
    )


def _fewer(size: int, reference: int) -> str:
    if size == reference:
        return "as many"
    share = abs(1 - size / reference)
    return f"{share:.0%} {'fewer' if size < reference else 'more'}"
