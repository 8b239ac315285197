"""``python -m spacy biaffine attention``."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer


class Picture(str, Enum):
    """File format."""

    svg = "svg"
    png = "png"


def attention(
    model: Annotated[str, typer.Argument(help="Pipeline with a label_attention_tagger")],
    text: Annotated[str, typer.Argument(help="A sentence")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder")] = Path(),
    component: Annotated[
        str, typer.Option("--component", "-c", help="Name of the tagger in the pipeline")
    ] = "label_attention_tagger",
    form: Annotated[Picture, typer.Option("--format", "-f", help="Kind of file")] = Picture.svg,
) -> None:
    """Draw the label attention of a sentence, layer by layer, and a map of the label embeddings.

    Example: python -m spacy biaffine attention training/model-best "They can fish" --format png
    """
    import spacy
    from wasabi import msg

    from ..models.tagger_model import attention_of, label_embeddings

    try:
        from ..visualize import draw_attention, draw_embeddings
    except ImportError:
        msg.fail('Pictures need matplotlib: pip install "spacy-biaffine[plots]"', exits=1)
    nlp = spacy.load(model)
    pipe: Any = nlp.get_pipe(component) if component in nlp.pipe_names else None
    if getattr(getattr(pipe, "model", None), "name", None) != "label_attention_tagger":
        msg.fail(
            f"{model} has no label_attention_tagger called '{component}': it has "
            f"{', '.join(nlp.pipe_names) or 'nothing'}. Name one with --component.",
            exits=1,
        )
    doc = nlp(text)
    words = [token.text for token in doc if not token.is_space]
    if not words:
        msg.fail("The text has no words.", exits=1)
    output.mkdir(parents=True, exist_ok=True)
    files = output / f"attention.{form.value}", output / f"embeddings.{form.value}"
    draw_attention(attention_of(pipe.model, doc), words, pipe.labels, files[0])
    draw_embeddings(label_embeddings(pipe.model), pipe.labels, files[1])
    for file in files:
        msg.good(str(file))
