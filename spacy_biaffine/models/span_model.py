"""Encoder and span pointer as one Thinc model."""

from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from ..nn.global_pointer import FoundSpans
from ..types import Floats, Ints, LabelledSpans, SpanInput
from .config_attr import ConfigInt
from .torch_layer import DocEncoder, Scored, build_module, initialized_width, score_sentences

Gradients = list[tuple[Any, ...]]


def span_model(
    tok2vec: DocEncoder,
    pointer: Model,
    *,
    max_length: int,
    max_span_length: int | None,
    nO: int | None,
) -> Model[SpanInput, Any]:
    """`predict` gives `LabelledSpans` per Doc; `begin_update` gives the scores of each batch, and a
    callback that takes their gradients."""
    return Model(
        "global_pointer_ner",
        _forward,
        init=_init,
        layers=[tok2vec, pointer],
        refs={"tok2vec": tok2vec, "pointer": pointer},
        dims={"nO": nO},
        attrs={"max_length": ConfigInt(max_length), "max_span_length": max_span_length},
    )


def _init(model: Model, X: list[Doc], Y: Any = None) -> None:
    """Needs sample Docs and the dimension nO."""
    width = initialized_width(model.get_ref("tok2vec"), X)
    build_module(model.get_ref("pointer"), width=width, types=model.get_dim("nO"))


def _forward(
    model: Model, inputs: SpanInput, is_train: bool
) -> tuple[Any, Callable[[Gradients], list[Doc]]]:
    encoder, layer = model.get_ref("tok2vec"), model.get_ref("pointer")
    batches, backprop = score_sentences(encoder, layer, inputs.docs, inputs.windows, {}, is_train)
    if not is_train:
        return spans_of_docs(batches, [len(doc) for doc in inputs.docs]), lambda gradients: []
    return batches, backprop


def spans_of_docs(batches: list[Scored[FoundSpans]], lengths: list[int]) -> list[LabelledSpans]:
    """Padded batches of windows back to the spans of each Doc.

    Of a span that two windows have found, the higher score counts.
    """
    places = [np.zeros((0, 3), dtype=np.int64)]
    scores = [np.zeros(0, dtype=np.float32)]
    for tokens, found in ((batch.tokens, batch.scores) for batch in batches):
        firsts, lasts = tokens[found.rows, found.firsts], tokens[found.rows, found.lasts]
        # First token, then the last one from behind: the order of `LabelledSpans`.
        places.append(np.stack([firsts, -lasts, found.types], axis=1))
        scores.append(found.scores)
    spans, best = _distinct(np.concatenate(places), np.concatenate(scores))
    begins = np.cumsum([0, *lengths])
    cuts = np.searchsorted(spans[:, 0], begins)
    docs = []
    for begin, low, high in zip(begins[:-1], cuts[:-1], cuts[1:], strict=True):
        firsts, behind, labels = (spans[low:high] - [begin, -begin, 0]).T
        docs.append(LabelledSpans(firsts, 1 - behind, labels, best[low:high]))
    return docs


def _distinct(places: Ints, scores: Floats) -> tuple[Ints, Floats]:
    """The distinct rows, sorted, each with its highest score."""
    order = np.argsort(-scores, kind="stable")
    spans, at = np.unique(places[order], axis=0, return_index=True)
    return spans, scores[order][at]
