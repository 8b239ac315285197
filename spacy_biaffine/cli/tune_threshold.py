"""``python -m spacy biaffine tune-threshold``."""

from pathlib import Path
from typing import Annotated, Any

import typer

LOWEST = -6.0
"""Nothing below it and the threshold is looked at: training pushes what is none far under 0."""


def tune_threshold(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a trained pipeline")],
    dev: Annotated[Path, typer.Argument(metavar="DEV", help=".spacy file with gold entities")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder for the result; by default MODEL is changed"),
    ] = None,
    component: Annotated[
        str, typer.Option("--component", help="Name of the component in the pipeline")
    ] = "global_pointer_ner",
) -> None:
    """Set the threshold of a global_pointer_ner to the one with the highest F1 on DEV.

    DEV is read as the dev corpus of MODEL's config is, with the same given layers.

    Example: python -m spacy biaffine tune-threshold training/model-best corpus/dev.spacy
    """
    import spacy
    from wasabi import msg

    from ..formats.common.atomic import whole_text
    from ..pipeline.ner import GlobalPointerNer
    from ..scoring.thresholds import best_threshold, f1_above

    try:
        nlp = spacy.load(model)
        pipe = nlp.get_pipe(component) if component in nlp.pipe_names else None
        if not isinstance(pipe, GlobalPointerNer):
            raise ValueError(
                f"{model} has no global_pointer_ner called '{component}': it has "
                f"{', '.join(nlp.pipe_names) or 'nothing'}. Name one with --component."
            )
        old = pipe.threshold
        pipe.threshold = min(old, LOWEST)
        judged = _judge(nlp, pipe, dev)
        best = best_threshold(judged, pipe.threshold)
    except (ValueError, KeyError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    for name, threshold in (("before", old), ("now", best)):
        msg.text(f"threshold {name} {threshold:.3f}: F1 {f1_above(judged, threshold):.4f} on {dev}")
    nlp.get_pipe_config(component)["threshold"] = best
    if output is None:
        with whole_text(model / "config.cfg") as file:
            file.write(nlp.config.to_str())
    else:
        nlp.to_disk(output)
    msg.good(f"threshold set in {output or model}")


def _judge(nlp: Any, pipe: Any, dev: Path) -> Any:
    """All spans that the component finds."""
    from ..doc.scores import ENT_SCORES
    from ..experiments.cell import dev_corpus
    from ..scoring.thresholds import judge

    pipe.store_scores = True
    examples = list(dev_corpus(nlp.config.interpolate(), dev)(nlp))
    for example, doc in zip(examples, nlp.pipe([eg.predicted for eg in examples]), strict=True):
        example.predicted = doc
    return judge(examples, pipe.spans_key or ENT_SCORES, pipe.spans_key)
