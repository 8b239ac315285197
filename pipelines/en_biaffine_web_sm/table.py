"""Metrics as Markdown, and pages that show them.

python table.py metrics.json PAGE ...

puts the table between the lines <!-- metrics --> and <!-- /metrics --> of each page.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import srsly

BLOCK = re.compile(r"(<!-- metrics -->\n).*?(<!-- /metrics -->)", re.DOTALL)
PLAIN = ("Words", "Sentences", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("metrics", type=Path)
    parser.add_argument("pages", type=Path, nargs="+")
    args = parser.parse_args()
    table = table_of(srsly.read_json(args.metrics))
    for page in args.pages:
        fill(page, table)


def fill(page: Path, table: str) -> None:
    """Raises ValueError where a page has no place for a table."""
    text, n_blocks = BLOCK.subn(rf"\g<1>\n{table}\n\g<2>", page.read_text("utf-8"))
    if n_blocks != 1:
        raise ValueError(f"{page}: wanted one <!-- metrics --> ... <!-- /metrics -->")
    page.write_text(text, "utf-8")


def table_of(metrics: dict[str, Any]) -> str:
    return "\n".join(lines(metrics))


def lines(metrics: dict[str, Any]) -> Iterator[str]:
    treebanks = {name: found for name, found in metrics.items() if isinstance(found, dict)}
    names = dict.fromkeys(name for each in treebanks.values() for name in each["gold tokens"])
    heads = [f"{name}, test" for name in treebanks]
    yield f"Gold tokens, whole documents, all else predicted ({metrics['pipeline']}):"
    yield from ("", f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads))
    for name in names:
        cells = [shown(each["gold tokens"].get(name)) for each in treebanks.values()]
        yield f"| {name} | {' | '.join(cells)} |"
    if any("plain text" in each for each in treebanks.values()):
        yield from ("", "Plain text, F1 by the script of the CoNLL 2018 shared task:", "")
        yield from (f"| | {' | '.join(heads)} |", "|---|" + "---:|" * len(heads))
        for name in PLAIN:
            cells = [percent(each["plain text"][name]) for each in treebanks.values()]
            yield f"| {name} | {' | '.join(cells)} |"


def shown(figure: dict[str, float] | None) -> str:
    if figure is None:
        return ""
    low, high = percent(figure["low"]), percent(figure["high"])
    return f"{percent(figure['value'])} ({low} to {high})"


def percent(share: float) -> str:
    return f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
