"""Metrics as Markdown, and pages that show them.

python table.py metrics.json PAGE ...
python table.py metrics.json PAGE --beside other.json

The first command puts its tables between the lines <!-- metrics --> and <!-- /metrics --> of each
page; the second the figures that both pipelines have between <!-- beside --> and <!-- /beside -->.
"""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import srsly

PLAIN = ("Words", "Sentences", "UPOS", "XPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("metrics", type=Path)
    parser.add_argument("pages", type=Path, nargs="+")
    parser.add_argument("--beside", type=Path, help="metrics of another pipeline")
    args = parser.parse_args()
    metrics = srsly.read_json(args.metrics)
    lines, block = tables(metrics), "metrics"
    if args.beside:
        lines, block = beside(metrics, srsly.read_json(args.beside)), "beside"
    table = "\n".join(lines)
    for page in args.pages:
        fill(page, block, table)


def fill(page: Path, block: str, table: str) -> None:
    """Raises ValueError where a page has no place for a table."""
    lines = re.compile(rf"(<!-- {block} -->\n).*?(<!-- /{block} -->)", re.DOTALL)
    text, n_blocks = lines.subn(rf"\g<1>\n{table}\n\n\g<2>", page.read_text("utf-8"))
    if n_blocks != 1:
        raise ValueError(f"{page}: wanted one <!-- {block} --> ... <!-- /{block} -->")
    page.write_text(text, "utf-8")


def beside(metrics: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """The figures that two pipelines share."""
    yield f"| | {metrics['pipeline']} | {other['pipeline']} |"
    yield "|---|---:|---:|"
    for treebank, found in metrics.items():
        theirs = other.get(treebank, {}) if isinstance(found, dict) else {}
        for name, figure in theirs.get("gold tokens", {}).items():
            if name in found["gold tokens"]:
                ours = shown(found["gold tokens"][name])
                yield f"| {treebank}, {name} | {ours} | {shown(figure)} |"


def tables(metrics: dict[str, Any]) -> Iterator[str]:
    """All figures, treebanks side by side."""
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
            texts = [each.get("plain text") for each in treebanks.values()]
            cells = [percent(text[name]) if text else "" for text in texts]
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
