"""``python -m spacy biaffine report``."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Grid of runs, a YAML file")],
) -> None:
    """Write tables, significance tests and figures of a grid's finished runs as Markdown.

    Example: python -m spacy biaffine report experiments/ewt.yml
    """
    from wasabi import msg

    from ._grid import load_grid

    try:
        from ..experiments.report import write_report
    except ImportError as error:
        msg.fail(f"{error}. Reports need: pip install -e '.[experiments]' in a clone", exits=1)
    grid = load_grid(file, ctx.args)
    command = " ".join(["python -m spacy biaffine report", file.as_posix(), *ctx.args])
    try:
        files = write_report(grid, command)
    except ValueError as error:
        msg.fail(str(error), exits=1)
    msg.good(f"{files[0]} and {len(files) - 1} figure files")
