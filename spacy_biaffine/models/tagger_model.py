"""Encoder and label attention network as one Thinc model."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model, xp2torch

from ..doc.segments import sentences_of
from ..nn.label_attention import LabelAttentionNetwork, LabelScores
from ..types import Floats, SentenceBatch, Tags
from .torch_layer import DocEncoder, Scored, build_module, initialized_width, score_sentences

Gradients = list[tuple[Any, ...]]


def tagger_model(
    tok2vec: DocEncoder, network: Model, *, nO: int | None
) -> Model[list[Doc], list[Scored[LabelScores]]]:
    """Label scores of the words of Docs, in batches of sentences.

    The sentences are those that are marked on a Doc; without marks it is read as a whole.
    """
    return Model(
        "label_attention_tagger",
        _forward,
        init=_init,
        layers=[tok2vec, network],
        refs={"tok2vec": tok2vec, "network": network},
        dims={"nO": nO},
    )


def _init(model: Model, X: list[Doc], Y: Any = None) -> None:
    """Needs sample Docs and the dimension nO."""
    width = initialized_width(model.get_ref("tok2vec"), X)
    build_module(model.get_ref("network"), width=width, labels=model.get_dim("nO"))


def _forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Scored[LabelScores]], Callable[[Gradients], list[Doc]]]:
    encoder, layer = model.get_ref("tok2vec"), model.get_ref("network")
    return score_sentences(encoder, layer, docs, sentences_of(docs), {}, is_train)


def tags_of(
    batches: Sequence[Scored[LabelScores]], docs: Sequence[Doc], *, n_labels: int, probs: bool
) -> list[Tags]:
    """The best label of each token, with the distribution where asked for; else only the labels
    leave the device."""
    total = sum(map(len, docs))
    labels = np.full(total, -1, dtype=np.int64)
    distributions = np.zeros((total, n_labels), dtype=np.float32) if probs else None
    for batch in batches:
        words = batch.tokens[batch.tokens >= 0]
        scores = batch.scores.scores
        labels[words] = scores.argmax(dim=-1).cpu().numpy()
        if distributions is not None:
            distributions[words] = torch.softmax(scores.float(), dim=-1).cpu().numpy()
    ends = np.cumsum([len(doc) for doc in docs])
    parts = [slice(end - len(doc), end) for doc, end in zip(docs, ends, strict=True)]
    return [
        Tags(labels[part], distributions[part] if distributions is not None else None)
        for part in parts
    ]


def attention_of(model: Model, doc: Doc) -> list[Floats]:
    """The attention of the words of a Doc to labels, layer by layer, (words, L) each."""
    network = cast(LabelAttentionNetwork, network_of(model)).eval()
    (vectors,) = model.get_ref("tok2vec").predict([doc])
    x = xp2torch(vectors, device=network.labels.device)
    sentences = []
    for cut in sentences_of([doc]):
        rows = x[torch.from_numpy(cut).to(x.device)].unsqueeze(0)
        mask = torch.ones(rows.shape[:2], dtype=torch.bool, device=x.device)
        batch = SentenceBatch(rows, mask, torch.tensor([len(cut)]), {})
        sentences.append([weights.float().cpu().numpy() for weights in network.attention(batch)])
    return [np.concatenate(layer) for layer in zip(*sentences, strict=True)]


def label_embeddings(model: Model) -> Floats:
    """(L, size)"""
    network = cast(LabelAttentionNetwork, network_of(model))
    return network.labels.detach().cpu().numpy()


def network_of(model: Model) -> torch.nn.Module:
    """The torch module of an initialized tagger model."""
    return cast(torch.nn.Module, cast(Any, model.get_ref("network").shims[0]).module)
