"""``python -m spacy biaffine train``."""

from pathlib import Path
from typing import Annotated

import typer

CONTEXT = {"allow_extra_args": True, "ignore_unknown_options": True}


def train(
    ctx: typer.Context,
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="Config, as of spacy train")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run")],
    gpu_id: Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, or -1 for a CPU")] = -1,
    minutes: Annotated[
        float, typer.Option("--minutes", min=0.1, help="Minutes between two checkpoints")
    ] = 15.0,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="CPU threads; by default all cores")
    ] = None,
) -> None:
    """Train like spacy train, in a run that can be stopped and goes on where it was.

    Settings are overridden as in spacy train. The same command resumes a run, from its last
    checkpoint; at the end it has the same weights, to the bit, as if it had never stopped.

    Example: python -m spacy biaffine train configs/parser.cfg -o training --paths.train train.spacy
    """
    from spacy.cli._util import parse_config_overrides, setup_gpu, show_validation_error
    from spacy.util import load_config
    from wasabi import msg

    from ..training.loop import say_now
    from ..training.loop import train as run

    if threads is not None:
        import torch

        torch.set_num_threads(threads)
    overrides = parse_config_overrides(ctx.args)
    setup_gpu(gpu_id)
    with show_validation_error(config):
        loaded = load_config(config, overrides=overrides, interpolate=False)
    try:
        run(loaded, output, use_gpu=gpu_id, every=minutes * 60, say=say_now)
    except ValueError as error:
        msg.fail(str(error), exits=1)
    except OSError as error:
        msg.fail(f"{error}. The same command goes on from the last checkpoint.", exits=1)
    except KeyboardInterrupt:
        msg.warn("Stopped. The same command goes on from the last checkpoint.", exits=130)
