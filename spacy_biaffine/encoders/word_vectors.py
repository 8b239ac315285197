"""States of wordpieces as vectors of words: what the trained encoders share."""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d

from ..models.torch_layer import Scored, module_of
from ..nn.graph_encoders import NodeStates
from ..types import Ints
from .checkpoints import read_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MIN_WINDOW = 16
"""Fewest pieces in a window: room for special tokens and a long word."""


@lru_cache(maxsize=4)
def read_tokenizer_once(written: str) -> "Tokenizer":
    tokenizer = read_tokenizer(written, user="SynG2GTransformer")
    tokenizer.encode_special_tokens = True  # not kept: a text may hold the letters "[SEP]"
    return tokenizer


def word_vectors(
    model: Model, docs: list[Doc], batches: list[Scored[NodeStates]], owners: Ints
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[tuple[torch.Tensor, ...]]]]:
    """The states of nodes as vectors of the words that own them, zero for words without a node;
    and their gradients back to the states."""
    device = next(module_of(model.get_ref("network")).parameters()).device
    words = [torch.from_numpy(np.append(owners, -1)[batch.tokens]) for batch in batches]
    places = [each.to(device) for each in words]
    vectors = torch.zeros(sum(map(len, docs)), model.get_dim("nO"), device=device)
    for at, batch in zip(places, batches, strict=True):
        vectors[at[at >= 0]] = batch.scores.states.detach()[at >= 0]
    lengths = model.ops.asarray1i([len(doc) for doc in docs])

    def backprop(gradients: list[Floats2d]) -> list[tuple[torch.Tensor, ...]]:
        gradient = xp2torch(model.ops.flatten(gradients), device=device)
        # Nodes that no word owns read the row of zeros put at the end.
        padded = torch.nn.functional.pad(gradient, (0, 0, 0, 1))
        return [(padded[at],) for at in places]

    return model.ops.unflatten(cast(Floats2d, torch2xp(vectors)), lengths), backprop
