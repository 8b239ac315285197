"""``python -m spacy biaffine annotate``."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..annotate.forms import FORMS, form_of

if TYPE_CHECKING:
    from ..annotate.local import Run
    from ..annotate.run import Summary


Form = Enum("Form", {name: name for name in FORMS}, type=str)  # type: ignore[misc]


def annotate(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder or package of a pipeline")],
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="IN...", help="Files .txt, .jsonl, .conllu, .spacy, or folders"),
    ],
    target: Annotated[
        Path,
        typer.Argument(metavar="OUT", help="NAME.spacy, .conllu, .jsonl, .json, or see --form"),
    ],
    form: Annotated[
        Form | None, typer.Option("--form", help="What OUT is; by default as its name says")
    ] = None,
    by_doc: Annotated[
        bool,
        typer.Option("--by-doc", help="A Doc for a .txt file, or for each '# newdoc' of .conllu"),
    ] = False,
    spans_key: Annotated[
        str | None,
        typer.Option("--spans-key", help="json, spert: group of entities, if not doc.ents"),
    ] = None,
    n_process: Annotated[
        int, typer.Option("--n-process", min=1, help="Processes, with a pipeline each")
    ] = 1,
    batch_size: Annotated[
        int | None,
        typer.Option("--batch-size", min=1, help="Docs to a batch; by default the pipeline's"),
    ] = None,
    shard_size: Annotated[
        int, typer.Option("--shard-size", min=1, help="Texts to a shard, the unit of resuming")
    ] = 1000,
    gpu_id: Annotated[int, typer.Option("--gpu-id", "-g", help="Number of the GPU; -1: CPU")] = -1,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Texts that are left out are no failure")
    ] = False,
    ray: Annotated[
        str | None, typer.Option("--ray", metavar="ADDRESS", help="Run on this Ray cluster")
    ] = None,
) -> None:
    """Annotate texts with a pipeline; see docs/annotate.md.

    .txt: a text is a line. .jsonl: {"text": ...} a line. .conllu: words and sentences stay.

    OUT.jsonl has every layer; see docs/layers.md. --form json: entities alone.

    Stop it at any moment: the same command goes on where this one was. What can't be annotated goes
    to OUT.bad.jsonl; the exit status is then 1, unless --skip-bad. It is 1 where nothing is left.

    Example: python -m spacy biaffine annotate training/model-best news.txt news.spacy --n-process 4

    --form: spacy, or a form that `convert` writes, see docs/forms.md; json is also called
    entities.
    """
    import signal

    from tqdm import tqdm
    from wasabi import msg

    from ..annotate.run import annotate as work
    from ..annotate.worker import Job

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        job = Job(
            _place(model), form.value if form else form_of(target), spans_key, batch_size, gpu_id
        )
        with tqdm(unit=" texts", leave=False) as bar:
            summary = work(
                job,
                sources,
                target,
                _run(ray, n_process),
                by_doc=by_doc,
                shard_size=shard_size,
                told=bar.update,
            )
    except KeyboardInterrupt:
        msg.warn("Stopped. The same command goes on from here.", exits=130)
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)
    else:
        _show(summary, sources)
        _end(summary, target, skip_bad)


def _place(model: str) -> str:
    """The same for whoever loads it, from whatever folder."""
    return str(Path(model).absolute()) if Path(model).is_dir() else model


def _run(ray: str | None, n_process: int) -> "Run":
    from ..annotate.local import run_here, run_in_processes

    if ray is None:
        return run_here if n_process == 1 else run_in_processes(n_process)
    if n_process > 1:
        raise ValueError("--n-process is for this machine; --ray uses all CPUs of the cluster")
    try:
        from ..annotate.on_ray import run_on_ray
    except ImportError as error:
        raise ValueError(f"{error}. --ray needs: pip install -e '.[ray]' in a clone") from error
    return run_on_ray(ray)


def _show(summary: "Summary", sources: list[Path]) -> None:
    from wasabi import msg

    from ._summary import show_summary

    if not summary.shards:
        msg.info(f"{summary.target} is there already, made of the same texts by the same pipeline")
    for shard in summary.again:
        msg.warn(f"made again: {shard} was torn, or of another job")
    rows = [("docs", summary.docs), ("words", summary.words)]
    further = [("texts done before", summary.earlier), ("texts left out", summary.total.left_out)]
    further += [(f"not in this form: {layer}", n) for layer, n in summary.total.lost.items()]
    rows += [row for row in further if row[1]]
    name = str(sources[0]) if len(sources) == 1 else f"{len(sources)} inputs"
    show_summary(name, [summary.target], rows, summary.bad)


def _end(summary: "Summary", target: Path, skip_bad: bool) -> None:
    """Exit with status 1 where something was left out and nobody expects it."""
    from wasabi import msg

    bad = f"{target}.bad.jsonl says which, and why"
    left_out = summary.total.left_out
    if not summary.total.docs:
        msg.fail(f"No text is in {summary.target}: {left_out} were left out; {bad}.", exits=1)
    if left_out and not skip_bad:
        msg.fail(
            f"{left_out} texts were left out; {bad}. The others are in {summary.target}. With "
            f"--skip-bad this is no failure.",
            exits=1,
        )
