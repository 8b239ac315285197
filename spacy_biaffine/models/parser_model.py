"""Encoder, sentence splitter and biaffine parser as one Thinc model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..decode.sentences import cut_at_scores, cut_overlong
from ..doc.segments import cut_at_starts, starts_of, words_of
from ..nn.parser import Arcs, ArcScores
from ..nn.splitter import StartScores
from ..types import Ints, Parse, ParserInput, Sentences
from .config_attr import ConfigInt
from .torch_layer import DocEncoder, Scored, build_module, initialized_width

Gradients = list[tuple[Any, ...]]


@dataclass(frozen=True)
class ParserScores:
    """Training scores: of sentence starts over whole Docs, of arcs and labels over sentences."""

    starts: list[Scored[StartScores]]
    arcs: list[Scored[ArcScores]]


def parser_model(
    tok2vec: DocEncoder,
    splitter: Model,
    parser: Model,
    *,
    max_length: int,
    reads_tags: bool,
    nO: int | None,
) -> Model[ParserInput, Any]:
    """`predict` gives a `Parse` per Doc; `begin_update` gives `ParserScores`, and a callback that
    takes the gradients of both."""
    return Model(
        "norm_biaffine_parser",
        _forward,
        init=_init,
        layers=[tok2vec, splitter, parser],
        refs={"tok2vec": tok2vec, "splitter": splitter, "parser": parser},
        dims={"nO": nO},
        attrs={
            "max_length": ConfigInt(max_length),
            "reads_tags": reads_tags,
            "n_tags": 0,
            "roots": [],
            "inner": [],
        },
    )


def _init(model: Model, X: list[Doc], Y: Any = None) -> None:
    """Needs sample Docs, the dimension nO, and the attributes roots, inner and n_tags."""
    width = initialized_width(model.get_ref("tok2vec"), X)
    build_module(model.get_ref("splitter"), width=width)
    build_module(
        model.get_ref("parser"),
        width=width,
        labels=model.get_dim("nO"),
        tags=model.attrs["n_tags"],
        roots=model.attrs["roots"],
        inner=model.attrs["inner"],
    )


def _forward(
    model: Model, inputs: ParserInput, is_train: bool
) -> tuple[Any, Callable[[tuple[Gradients, Gradients]], list[Doc]]]:
    vectors, backprop_vectors = model.get_ref("tok2vec")(inputs.docs, is_train)
    words = words_of(inputs.docs)
    if not is_train:
        return _predict(model, inputs, vectors, words), _no_backprop

    if inputs.cuts is None:
        raise ValueError("Training needs the gold sentences.")
    starts, backprop_starts = model.get_ref("splitter").begin_update(Sentences(vectors, words, {}))
    arcs, backprop_arcs = model.get_ref("parser").begin_update(
        Sentences(vectors, inputs.cuts, inputs.features)
    )

    def backprop(gradients: tuple[Gradients, Gradients]) -> list[Doc]:
        d_starts, d_arcs = gradients
        both = zip(backprop_starts(d_starts), backprop_arcs(d_arcs), strict=True)
        return backprop_vectors([a + b for a, b in both])

    return ParserScores(starts, arcs), backprop


def _no_backprop(gradients: tuple[Gradients, Gradients]) -> list[Doc]:
    return []


def _predict(
    model: Model, inputs: ParserInput, vectors: list[Floats2d], words: list[Ints]
) -> list[Parse]:
    cuts, joints = _find_sentences(model, inputs.docs, vectors, words)
    batches = model.get_ref("parser").predict(Sentences(vectors, cuts, inputs.features))
    return _to_docs(batches, [len(doc) for doc in inputs.docs], joints)


def _find_sentences(
    model: Model, docs: list[Doc], vectors: list[Floats2d], words: list[Ints]
) -> tuple[list[Ints], list[tuple[int, int]]]:
    """The sentences of every Doc: those marked on it, else the model's own.

    Also returns the parts of overlong sentences, as (a word of the first part, a word of a later
    part): their roots are to be joined.
    """
    max_length = model.attrs["max_length"]
    sentences, starts = cut_at_starts(words, starts_of(docs))
    marked = [_is_marked(starts[w]) for w in words]
    unmarked = [w for w, is_marked in zip(words, marked, strict=True) if not is_marked]
    scores = _start_scores(model, vectors, unmarked, starts)
    cuts: list[Ints] = []
    joints: list[tuple[int, int]] = []
    for doc_words, found, is_marked in zip(words, sentences, marked, strict=True):
        if not is_marked:
            cuts += cut_at_scores(doc_words, scores[doc_words], max_length)
            continue
        for sentence in found:
            parts = cut_overlong(sentence, max_length)
            joints += [(int(parts[0][0]), int(part[0])) for part in parts[1:]]
            cuts += parts
    return cuts, joints


def _is_marked(starts: Ints) -> bool:
    """Whether sentences are on the Doc: a start after the first word, or a no at every one."""
    return bool((starts[1:] == 1).any() or (len(starts) > 1 and (starts[1:] == -1).all()))


def _start_scores(
    model: Model, vectors: list[Floats2d], docs: list[Ints], starts: Ints
) -> NDArray[np.float32]:
    """(tokens,) scores of the words in docs; -inf where the Doc says that no sentence starts."""
    scores = np.full(len(starts), -np.inf, dtype=np.float32)
    if docs:
        for batch in model.get_ref("splitter").predict(Sentences(vectors, docs, {})):
            words = batch.tokens >= 0
            scores[batch.tokens[words]] = batch.scores[words]
    scores[starts == -1] = -np.inf
    return scores


def _to_docs(
    batches: list[Scored[Arcs]], lengths: list[int], joints: list[tuple[int, int]]
) -> list[Parse]:
    """Padded batches of sentences back to one Parse a Doc."""
    total = sum(lengths)
    heads, labels = np.full(total, -1), np.full(total, -1)
    head_probs, label_probs = np.zeros(total, np.float32), np.zeros(total, np.float32)
    for tokens, arcs in ((batch.tokens, batch.scores) for batch in batches):
        words = tokens >= 0
        at = tokens[words]
        head_tokens = np.take_along_axis(tokens, np.maximum(arcs.heads - 1, 0), axis=1)
        heads[at] = np.where(arcs.heads > 0, head_tokens, tokens)[words]
        labels[at] = arcs.labels[words]
        head_probs[at], label_probs[at] = arcs.head_probs[words], arcs.label_probs[words]
    for first, later in joints:
        root = _root_of(heads, later)
        heads[root], labels[root] = _root_of(heads, first), -1
    ends = np.cumsum(lengths)
    parses = []
    for begin, end in zip(ends - lengths, ends, strict=True):
        doc = slice(begin, end)
        local = np.where(heads[doc] >= 0, heads[doc] - begin, -1)
        parses.append(Parse(local, labels[doc], head_probs[doc], label_probs[doc]))
    return parses


def _root_of(heads: Ints, token: int) -> int:
    while heads[token] != token:
        token = int(heads[token])
    return token
