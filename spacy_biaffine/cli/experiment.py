"""``python -m spacy biaffine experiment``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..experiments.pool import Pool

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def experiment(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Grid of runs, a YAML file")],
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", min=1, help="Runs at a time; by default one per core"),
    ] = None,
    work: Annotated[
        Path | None,
        typer.Option("--work", help="Folder for models and logs; by default work/ beside FILE"),
    ] = None,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the trained models")] = False,
    ray: Annotated[
        str | None, typer.Option("--ray", metavar="ADDRESS", help="Run on this Ray cluster")
    ] = None,
) -> None:
    """Run the missing cells of a grid, one training process each; see docs/experiments.md.

    Stop it at any moment: the next call goes on where this one was.

    Example: python -m spacy biaffine experiment experiments/ewt.yml --vars.data corpus
    """
    import signal

    from wasabi import msg

    from ._grid import load_grid

    try:
        from ..experiments.drive import Drive
    except ImportError as error:
        msg.fail(f"{error}. Grids need: pip install -e '.[experiments]' in a clone", exits=1)
    grid = load_grid(file, ctx.args)
    if grid.missing:
        needed = " ".join(f"--vars.{name} VALUE" for name in grid.missing)
        msg.fail(f"{file}: 'vars' leaves values to you. Add {needed}", exits=1)
    work = (work or file.parent / "work").absolute()
    pool = _pool(ray, work / grid.name, workers, keep)
    drive = Drive(grid, pool, work, say=lambda line: print(line, flush=True))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        drive.run()
    except KeyboardInterrupt:
        msg.warn("Stopped. The same command goes on from here.", exits=130)
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)
    if drive.failed:
        msg.fail(f"{len(drive.failed)} cells failed. The same command tries them again.", exits=1)


def _pool(ray: str | None, work: Path, workers: int | None, keep: bool) -> "Pool":
    import os

    from ..experiments.pool import LocalPool

    if ray is None:
        return LocalPool(work, workers or os.cpu_count() or 1, keep=keep)
    from wasabi import msg

    try:
        from ..experiments.ray_pool import RayPool
    except ImportError as error:
        msg.fail(f"{error}. --ray needs: pip install -e '.[ray]' in a clone", exits=1)
    return RayPool(ray, work, workers, keep=keep)
