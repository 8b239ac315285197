"""Encoder and biaffine graph parser as one Thinc model."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..nn.graph_parser import GraphArcs
from ..types import GraphInput, ParsedGraph
from .arc_heads import ArcHead
from .config_attr import ConfigInt
from .torch_layer import DocEncoder, Scored, build_module, initialized_width, score_sentences

Gradients = list[tuple[Any, ...]]


def graph_model(
    tok2vec: DocEncoder,
    parser: Model,
    *,
    arcs: ArcHead,
    max_length: int,
    has_tagger: bool,
    reads_tags: bool,
    nO: int | None,
) -> Model[GraphInput, Any]:
    """`predict` gives a `ParsedGraph` per Doc; `begin_update` gives the scores of each batch, and a
    callback that takes their gradients."""
    return Model(
        "norm_biaffine_graph_parser",
        _forward,
        init=_init,
        layers=[tok2vec, parser],
        refs={"tok2vec": tok2vec, "parser": parser},
        dims={"nO": nO},
        attrs={
            "arcs": arcs,
            "max_length": ConfigInt(max_length),
            "has_tagger": has_tagger,
            "reads_tags": reads_tags,
            "n_tags": 0,
        },
    )


def _init(model: Model, X: list[Doc], Y: Any = None) -> None:
    """Needs sample Docs, the dimension nO, and the attribute n_tags."""
    width = initialized_width(model.get_ref("tok2vec"), X)
    build_module(
        model.get_ref("parser"),
        width=width,
        labels=model.get_dim("nO"),
        tags=model.attrs["n_tags"],
    )


def _forward(
    model: Model, inputs: GraphInput, is_train: bool
) -> tuple[Any, Callable[[Gradients], list[Doc]]]:
    encoder, layer = model.get_ref("tok2vec"), model.get_ref("parser")
    batches, backprop = score_sentences(
        encoder, layer, inputs.docs, inputs.cuts, inputs.features, is_train
    )
    if not is_train:
        return graphs_of_docs(batches, [len(doc) for doc in inputs.docs]), lambda gradients: []
    return batches, backprop


def graphs_of_docs(
    batches: Sequence[Scored[GraphArcs]], lengths: Sequence[int]
) -> list[ParsedGraph]:
    """Padded batches of sentences back to one graph a Doc."""
    begins = np.cumsum([0, *lengths])
    tags = np.full(begins[-1], -1, dtype=np.int64)
    ends = [np.zeros((3, 0), dtype=np.int64)]
    probs = [np.zeros((2, 0), dtype=np.float32)]
    for tokens, found in ((batch.tokens, batch.scores) for batch in batches):
        words = tokens >= 0
        tags[tokens[words]] = found.tags[words]
        sentences, places, positions = found.arcs
        dependents = tokens[sentences, places]
        heads = np.where(positions > 0, tokens[sentences, np.maximum(positions - 1, 0)], -1)
        ends.append(np.stack([dependents, heads, found.labels]))
        probs.append(np.stack([found.arc_probs, found.label_probs]))
    flat, flat_probs = np.concatenate(ends, axis=1), np.concatenate(probs, axis=1)
    order = np.lexsort(flat[1::-1])
    (dependents, heads, labels), (arc_probs, label_probs) = flat[:, order], flat_probs[:, order]
    cuts = np.searchsorted(dependents, begins)
    return [
        ParsedGraph(
            tags=tags[begin:end],
            heads=np.where(heads[low:high] >= 0, heads[low:high] - begin, -1),
            dependents=dependents[low:high] - begin,
            labels=labels[low:high],
            arc_probs=arc_probs[low:high],
            label_probs=label_probs[low:high],
        )
        for begin, end, low, high in zip(begins, begins[1:], cuts, cuts[1:], strict=False)
    ]
