"""The attention of an encoder that reads trees, beside the tree, to be drawn."""

from typing import NamedTuple, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model, xp2torch

from ..models.torch_layer import module_of
from ..nn.graph_encoders import GraphNetwork
from ..types import Floats, Ints, SentenceBatch
from .graph_transformer import bert_windows, layer_sentences, piece_names
from .trees import READS_TREES


class TreeAttention(NamedTuple):
    """The first sentence of a Doc, or its first window.

    nodes: its n words, or their pieces. relations: (n, n) 1 from a node to its head, 2 from a head
    to its nodes, else 0. layers: (layers, n, n) attention, the mean of the heads; each row sums to
    1.
    """

    nodes: list[str]
    relations: Ints
    layers: Floats


def tree_encoder(model: Model) -> Model | None:
    """The encoder within a model that conditions on trees, if any."""
    return next((node for node in model.walk() if READS_TREES in node.attrs), None)


def tree_attention_of(encoder: Model, doc: Doc) -> TreeAttention:
    """The attention of an initialized encoder to a Doc with at least one word."""
    network = cast(GraphNetwork, module_of(encoder.get_ref("network"))).eval()
    device = next(network.parameters()).device
    if encoder.has_ref("tok2vec"):
        (vectors,) = encoder.get_ref("tok2vec").predict([doc])
        cuts, features = layer_sentences(encoder, [doc])
        rows = cuts[0]
        x = xp2torch(vectors, device=device)[torch.from_numpy(rows).to(device)].unsqueeze(0)
        nodes = [doc[int(row)].text for row in rows]
    else:
        (rows, *_), features = bert_windows(encoder, [doc])
        x = torch.zeros(1, len(rows), 1, device=device)
        nodes = piece_names(encoder, features["piece"][rows])
    places = {
        name: torch.from_numpy(each[rows][None]).to(device) for name, each in features.items()
    }
    mask = torch.ones(1, len(rows), dtype=torch.bool, device=device)
    weights = network.attention(SentenceBatch(x, mask, torch.tensor([len(rows)]), places))
    heads = features["head"][rows]
    relations = np.zeros((len(rows), len(rows)), dtype=np.int64)
    dependents = np.flatnonzero(heads >= 0)
    relations[heads[dependents], dependents] = 2
    relations[dependents, heads[dependents]] = 1
    return TreeAttention(nodes, relations, weights[:, 0].float().cpu().numpy())
