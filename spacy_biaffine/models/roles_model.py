"""Encoder and role labeller as one Thinc model."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..decode.roles import choose_arguments
from ..nn.role_candidates import Pruning
from ..nn.roles import FoundRoles, RoleLabeller
from ..types import FoundFrame, RoleInput
from .config_attr import ConfigInt
from .torch_layer import (
    DocEncoder,
    Scored,
    build_module,
    initialized_width,
    score_sentences,
    torch_layer,
)

Gradients = list[tuple[Any, ...]]


def SyntaxSRL(  # noqa: N802 (spaCy names architectures like classes)
    tok2vec: DocEncoder,
    span_size: int = 512,
    role_size: int = 250,
    predicate_share: float = 0.6,
    max_predicates: int = 30,
    span_share: float = 0.6,
    max_spans: int = 300,
    max_span_length: int | None = None,
    max_length: int = 500,
    mixed_precision: bool = False,
    nO: int | None = None,
) -> Model:
    """The role labeller of "Syntax-Aware Graph-to-Graph Transformer for Semantic Role Labelling".

    tok2vec: one vector per token; any encoder. Paper: `spacy-biaffine.SynG2GTransformer.v1`.
    span_size: width of a span's representation.
    role_size: hidden width of all scorers.
    predicate_share, max_predicates: of a sentence of n words, at most predicate_share n predicates
        are looked for, and never more than max_predicates; given ones are not counted.
    span_share, max_spans: likewise for candidates for arguments, which all its predicates share.
    max_span_length: longest argument in words; none for the longest one in training. Where all of
        them are words, as in dependency-based role labelling, single words alone are candidates.
    max_length: longest sentence in words that is read as a whole; longer ones are read in parts.
    mixed_precision: half precision on a GPU.
    nO: number of roles; set by the component.
    """
    if predicate_share <= 0 or span_share <= 0:
        raise ValueError("predicate_share and span_share must be above 0.")
    limits = (max_predicates, max_spans, max_length)
    if min(limits) < 1 or (max_span_length is not None and max_span_length < 1):
        raise ValueError(
            "max_predicates, max_spans, max_span_length and max_length must be 1 or more."
        )
    pruning = Pruning(predicate_share, max_predicates, span_share, max_spans, max_span_length)
    build = partial(RoleLabeller, span_size=span_size, role_size=role_size, pruning=pruning)
    labeller = torch_layer(
        "role_labeller", build, mixed_precision=mixed_precision, decode=choose_arguments
    )
    return roles_model(tok2vec, labeller, pruning=pruning, max_length=max_length, nO=nO)


def roles_model(
    tok2vec: DocEncoder, labeller: Model, *, pruning: Pruning, max_length: int, nO: int | None
) -> Model[RoleInput, Any]:
    """`predict` gives the `FoundFrame`s of each Doc; `begin_update` gives the scores of each batch,
    and a callback that takes their gradients."""
    return Model(
        "syntax_srl",
        _forward,
        init=_init,
        layers=[tok2vec, labeller],
        refs={"tok2vec": tok2vec, "labeller": labeller},
        dims={"nO": nO},
        attrs={
            "pruning": pruning,
            "max_length": ConfigInt(max_length),
            "n_senses": 0,
            "longest": 1,
        },
    )


def _init(model: Model, X: list[Doc], Y: Any = None) -> None:
    """Needs sample Docs, the dimension nO, and the attributes n_senses and longest."""
    width = initialized_width(model.get_ref("tok2vec"), X)
    build_module(
        model.get_ref("labeller"),
        width=width,
        roles=model.get_dim("nO"),
        senses=model.attrs["n_senses"],
        longest=model.attrs["longest"],
    )


def _forward(
    model: Model, inputs: RoleInput, is_train: bool
) -> tuple[Any, Callable[[Gradients], list[Doc]]]:
    encoder, layer = model.get_ref("tok2vec"), model.get_ref("labeller")
    batches, backprop = score_sentences(
        encoder, layer, inputs.docs, inputs.cuts, inputs.features, is_train
    )
    if not is_train:
        return frames_of_docs(batches, inputs.docs), lambda gradients: []
    return batches, backprop


def frames_of_docs(batches: list[Scored[FoundRoles]], docs: list[Doc]) -> list[list[FoundFrame]]:
    """Padded batches of sentences back to the frames of each Doc, in the order of predicates."""
    ends = np.cumsum([0, *map(len, docs)])
    frames: list[list[FoundFrame]] = [[] for _ in docs]
    for tokens, found in ((batch.tokens, batch.scores) for batch in batches):
        predicates = tokens[found.rows, found.places]
        numbers = np.searchsorted(ends, predicates, side="right") - 1
        begins = ends[numbers]
        owners = found.arguments[:, 0]
        rows, begin = found.rows[owners], begins[owners]
        spans = np.stack(
            [
                tokens[rows, found.arguments[:, 1]] - begin,
                tokens[rows, found.arguments[:, 2] - 1] + 1 - begin,
                found.arguments[:, 3],
            ],
            axis=1,
        )
        cuts = np.searchsorted(owners, np.arange(len(predicates) + 1))
        places = (predicates - begins).tolist()
        for number, (doc, place) in enumerate(zip(numbers.tolist(), places, strict=True)):
            part = slice(cuts[number], cuts[number + 1])
            frames[doc].append(
                FoundFrame(
                    predicate=place,
                    prob=float(found.probs[number]),
                    sense=int(found.senses[number]),
                    arguments=spans[part],
                    role_probs=found.role_probs[part],
                )
            )
    return [sorted(each, key=lambda frame: frame.predicate) for each in frames]
