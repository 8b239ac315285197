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
    model: Annotated[str, typer.Argument(help="Pipeline with a tagger or a syntax_srl")],
    text: Annotated[str, typer.Argument(help="A sentence")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder")] = Path(),
    component: Annotated[
        str, typer.Option("--component", "-c", help="Name of the component in the pipeline")
    ] = "label_attention_tagger",
    form: Annotated[Picture, typer.Option("--format", "-f", help="Kind of file")] = Picture.svg,
) -> None:
    """Draw the attention of a component to a sentence.

    Of a label_attention_tagger that to labels, layer by layer, and a map of the label embeddings;
    of one whose encoder reads trees (SynG2G) that to words, beside the tree.

    Example: python -m spacy biaffine attention training/model-best "They can fish" --format png
    """
    import spacy
    from wasabi import msg

    from ..encoders.tree_attention import tree_attention_of, tree_encoder
    from ..models.tagger_model import attention_of, label_embeddings

    try:
        from ..pictures.plots import draw_attention, draw_embeddings, draw_tree_attention
    except ImportError:
        msg.fail('Pictures need matplotlib: pip install -e ".[plots]" in a clone', exits=1)
    try:
        nlp = spacy.load(model)
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    pipe: Any = nlp.get_pipe(component) if component in nlp.pipe_names else None
    model_of_pipe = getattr(pipe, "model", None)
    encoder = tree_encoder(model_of_pipe) if model_of_pipe is not None else None
    if encoder is None and getattr(model_of_pipe, "name", None) != "label_attention_tagger":
        fitting = [f"--component {name}" for name, pipe in nlp.components if _fits(pipe)]
        msg.fail(
            f"{model} has no label_attention_tagger called '{component}', nor a component whose "
            f"encoder reads trees: it has {', '.join(nlp.pipe_names) or 'nothing'}. "
            + (f"Try {' or '.join(fitting)}." if fitting else "None of them can be drawn."),
            exits=1,
        )
    doc = nlp(text)
    words = [token.text for token in doc if not token.is_space]
    if not words:
        msg.fail("The text has no words.", exits=1)
    output.mkdir(parents=True, exist_ok=True)
    if encoder is not None:
        file = output / f"attention.{form.value}"
        found = tree_attention_of(encoder, doc)
        draw_tree_attention(found.relations, found.layers, found.nodes, file)
        msg.good(str(file))
        return
    files = output / f"attention.{form.value}", output / f"embeddings.{form.value}"
    draw_attention(attention_of(pipe.model, doc), words, pipe.labels, files[0])
    draw_embeddings(label_embeddings(pipe.model), pipe.labels, files[1])
    for file in files:
        msg.good(str(file))


def _fits(pipe: Any) -> bool:
    """Whether its attention can be drawn."""
    from ..encoders.tree_attention import tree_encoder

    model = getattr(pipe, "model", None)
    return getattr(model, "name", None) == "label_attention_tagger" or (
        model is not None and tree_encoder(model) is not None
    )
