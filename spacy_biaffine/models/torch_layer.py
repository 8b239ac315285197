"""The one bridge between Thinc and PyTorch.

Padding, masks, device, dropout, precision and serialization of torch modules live here and
nowhere else. A layer made by `torch_layer` reads `Sentences`, gives its module padded batches of
sentences of similar length, and returns the module's scores batch by batch.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d
from torch import Tensor, nn

from ..types import Ints, SentenceBatch, Sentences
from . import torch_forks  # noqa: F401 (nlp.pipe with several processes)
from .lazy_shim import LazyShim

DocEncoder = Model[list[Doc], list[Floats2d]]
"""One vector per token: any tok2vec layer."""

MAX_AREA = 2**17
"""Largest padded area (sentences times words times words) of a batch of several sentences."""

BATCH_COST = 128
"""What one more batch costs, in words of padding that take as long."""

ScoresT = TypeVar("ScoresT")
Backprop = Callable[[list[tuple[Tensor, ...]]], list[Floats2d]]


@dataclass(frozen=True)
class Scored(Generic[ScoresT]):
    """The module's scores for one padded batch.

    tokens: (B, n) which token stands where, counted over all Docs; -1 where there is padding.
    """

    tokens: Ints
    scores: ScoresT


def torch_layer(
    name: str, build: Callable[..., nn.Module], *, mixed_precision: bool = False, **options: Any
) -> Model[Sentences, list[Scored[Any]]]:
    """A Thinc layer around a torch module that is built once its sizes are known.

    build: makes the module from sizes. They are given to `build_module` when the component is
        initialized, and stored with the weights, so that a saved layer loads by itself.
    mixed_precision: run the module in half precision on a GPU; scores come back in float32.
    options: keyword arguments for the module's `predict`.

    Training calls `module(batch)`, prediction `module.predict(batch, **options)`. The gradient
    that the backprop callback takes is a list of tuples of tensors, like the scores.
    """
    return Model(
        name,
        _forward,
        shims=[LazyShim(build, mixed_precision)],
        attrs={"predict_options": options, "dropout_rate": 0.0},
    )


def build_module(layer: Model, **sizes: Any) -> None:
    """Make the layer's module, its weights drawn anew."""
    cast(LazyShim, layer.shims[0]).build(sizes)


def module_of(layer: Model) -> nn.Module:
    """The layer's module. Raises ValueError before it is made."""
    return cast(LazyShim, layer.shims[0]).module


def initialized_width(tok2vec: DocEncoder, docs: list[Doc]) -> int:
    """Initialize an encoder with sample Docs, and find the width of its vectors."""
    tok2vec.initialize(X=docs)
    # Not by a prediction where it is known: an encoder of trees would miss those of the sample.
    return tok2vec.get_dim("nO") if tok2vec.has_dim("nO") else tok2vec.predict(docs)[0].shape[1]


def score_sentences(
    tok2vec: DocEncoder,
    layer: Model[Sentences, list[Scored[Any]]],
    docs: list[Doc],
    cuts: list[Ints],
    features: Mapping[str, Ints],
    is_train: bool,
) -> tuple[list[Scored[Any]], Callable[[list[tuple[Any, ...]]], list[Doc]]]:
    """The layer's scores of sentences of some Docs, and a callback that takes their gradients."""
    vectors, backprop_vectors = tok2vec(docs, is_train)
    batches, backprop_scores = layer(Sentences(vectors, cuts, features), is_train)
    return batches, lambda gradients: backprop_vectors(backprop_scores(gradients))


def _forward(model: Model, inputs: Sentences, is_train: bool) -> tuple[list[Scored[Any]], Backprop]:
    shim = cast(LazyShim, model.shims[0])
    module = shim.module
    flat = xp2torch(model.ops.flatten(inputs.vectors), requires_grad=is_train, device=shim.device)
    groups = list(_by_area(inputs.cuts))
    with_padding = nn.functional.pad(flat, (0, 0, 0, 1))
    batches = [_batch(with_padding, inputs.features, tokens) for tokens in groups]
    if not is_train:
        shim.require_finite(flat)
        scores = shim.predict_batches(batches, model.attrs["predict_options"])
        return _scored(groups, scores), _no_backprop

    set_module_dropout(module, model.attrs["dropout_rate"])
    training_scores = shim.score_batches(batches)

    def backprop(d_scores: list[tuple[Tensor, ...]]) -> list[Floats2d]:
        gradient = shim.backpropagate(flat, training_scores, d_scores)
        lengths = model.ops.asarray1i([len(v) for v in inputs.vectors])
        return model.ops.unflatten(cast(Floats2d, torch2xp(gradient)), lengths)

    return _scored(groups, training_scores), backprop


def set_module_dropout(module: nn.Module, rate: float) -> None:
    """Give every dropout of a module the rate that Thinc has set on its layer."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = rate


def _scored(groups: list[Ints], scores: list[Any]) -> list[Scored[Any]]:
    return [Scored(tokens, batch) for tokens, batch in zip(groups, scores, strict=True)]


def _no_backprop(d_scores: list[tuple[Tensor, ...]]) -> list[Floats2d]:
    raise ValueError("Scores of a prediction have no gradient: call begin_update() instead.")


def _by_area(cuts: list[Ints]) -> Iterator[Ints]:
    """Sentences, longest first, in groups of similar length: token numbers (B, n)."""
    order = sorted((cut for cut in cuts if len(cut)), key=len, reverse=True)
    for begin, end in _groups(np.array([len(cut) for cut in order])):
        size = max(1, MAX_AREA // len(order[begin]) ** 2)
        for first in range(begin, end, size):
            yield _padded_numbers(order[first : min(first + size, end)])


def _groups(lengths: Ints) -> list[tuple[int, int]]:
    """Falling lengths, cut where padding plus `BATCH_COST` words a group are fewest: the first of
    each group, and the one after the last."""
    if len(lengths) < 2:
        return [(0, len(lengths))] * len(lengths)
    longest, firsts = np.unique(-lengths, return_index=True)
    ends = np.append(firsts[1:], len(lengths))
    # least[i]: cost of the sentences from the i-th length on.
    least, cut = np.zeros(len(longest) + 1), np.zeros(len(longest), dtype=np.int64)
    for i in reversed(range(len(longest))):
        costs = (ends[i:] - firsts[i]) * -longest[i] + least[i + 1 :]
        cut[i] = i + int(costs.argmin())
        least[i] = costs.min() + BATCH_COST
    groups, at = [], 0
    while at < len(longest):
        groups.append((int(firsts[at]), int(ends[cut[at]])))
        at = int(cut[at]) + 1
    return groups


def _padded_numbers(cuts: list[Ints]) -> Ints:
    tokens = np.full((len(cuts), len(cuts[0])), -1, dtype=np.int64)
    for row, cut in zip(tokens, cuts, strict=True):
        row[: len(cut)] = cut
    return tokens


def _batch(flat: Tensor, features: Mapping[str, Ints], tokens: Ints) -> SentenceBatch:
    """Gather the tokens' vectors and features; number -1 reads the zeros at the end of flat."""
    device, is_word = flat.device, tokens >= 0
    rows = torch.from_numpy(tokens % len(flat)).to(device)
    return SentenceBatch(
        x=flat.index_select(0, rows.flatten()).view(*tokens.shape, -1),
        mask=torch.from_numpy(is_word).to(device),
        lengths=torch.from_numpy(is_word.sum(axis=1)),
        features={
            name: torch.from_numpy(_with_padding(values)[tokens]).to(device)
            for name, values in features.items()
        },
    )


def _with_padding(values: Ints) -> Ints:
    """(tokens, ...) -> (tokens + 1, ...): a row of -1 at the end."""
    return np.concatenate([values, np.full_like(values, -1, shape=(1, *values.shape[1:]))])
