"""Encoders that condition on the tree and the tags of a Doc: SynG2G, from BERT or from scratch."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..doc.segments import sentence_parts, sentences_of
from ..models.config_attr import ConfigInt
from ..models.torch_layer import DocEncoder, build_module, module_of, torch_layer
from ..nn.graph_encoders import BertSizes, GraphBert, GraphLayers
from ..nn.graph_transformer import Interactions
from ..types import Ints, Sentences
from .bert_weights import bert_sizes, copy_weights
from .checkpoints import special_tokens
from .frozen_encoder import FrozenEncoder
from .tree_pieces import PieceReading, PieceTree, WordTree, piece_trees
from .trees import READS_TREES, learn_from_sample, read_trees
from .word_vectors import MIN_WINDOW, read_tokenizer_once, word_vectors

if TYPE_CHECKING:
    pass

NAME = "SynG2GTransformer"
Backprop = Callable[[list[tuple[Any, ...]]], Any]


def SynG2GTransformer(  # noqa: N802 (spaCy names architectures like classes)
    name: str,
    layers: int | None = None,
    reads_query: bool = True,
    reads_key: bool = True,
    reads_value: bool = False,
    reads_tags: bool = True,
    pieces_copy_arcs: bool = False,
    window: int = 256,
    mixed_precision: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """The encoder of "Syntax-Aware Graph-to-Graph Transformer for Semantic Role Labelling": a
    pretrained BERT whose attention reads the dependency tree on the Doc, and whose input reads the
    tags. All of it is trained. A token has the vector of its first wordpiece, zero without one.

    Sentences are read one by one, as in the paper, in windows if they are long; so the vectors of a
    sentence depend on it alone. Arcs and tags that the training data lack are read as unknown ones;
    see `trees.show_trees`. The checkpoint is loaded when the pipeline is initialized, and saved
    with it: loading one needs neither the folder nor the hub.

    name: a folder, a name on the Hugging Face hub, or `package:PACKAGE/FOLDER` for a folder
        inside an installed Python package; BERT, RoBERTa, ELECTRA or their like.
    layers: how many of the checkpoint's layers are kept, from the first; none for all.
    reads_query, reads_key, reads_value: what of attention the relations of the tree are read by.
        The paper's SynG2G-Tr reads query and key; -key, -key-query and +value are its ablations.
    reads_tags: add an embedding of `token.tag` to the input.
    pieces_copy_arcs: the further pieces of a word have the arc of its first; off, they have an
        arc to the first piece, with a label of its own.
    window: most wordpieces read at once, special tokens included; if the model takes fewer, as
        many as it takes. Of longer sentences each window begins three quarters of one after the
        last.
    mixed_precision: half precision on a GPU.
    """
    if layers is not None and layers < 1:
        raise ValueError(f"{NAME}: layers must be 1 or more, not {layers}.")
    if window < MIN_WINDOW:
        raise ValueError(f"{NAME}: window must be at least {MIN_WINDOW}, not {window}.")
    reads = Interactions(reads_query, reads_key, reads_value)
    network = torch_layer(
        "graph_bert", partial(_build_bert, reads=reads), mixed_precision=mixed_precision
    )
    return Model(
        NAME,
        _forward_bert,
        init=partial(_init_bert, name=name, layers=layers),
        layers=[network],
        refs={"network": network},
        dims={"nO": None},
        attrs={
            READS_TREES: any(reads),
            "labels": None,
            "tags": None,
            "reads_tags": reads_tags,
            "pieces_copy_arcs": pieces_copy_arcs,
            "tokenizer": "",
            "limit": 0,
            "window": ConfigInt(window),
        },
    )


def SynG2GLayers(  # noqa: N802 (the same)
    tok2vec: DocEncoder,
    size: int = 256,
    layers: int = 2,
    heads: int = 4,
    reads_query: bool = True,
    reads_key: bool = True,
    reads_value: bool = False,
    reads_tags: bool = True,
    max_length: int = 500,
    mixed_precision: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """Layers of the same Transformer over the vectors of any other encoder, from scratch: the
    paper's SynG2G-Tr without BERT, or with one that stays frozen.

    Sentences are read one by one; without marks on the Doc it is one. Labels and tags as for
    `SynG2GTransformer`.

    tok2vec: one vector per token; any encoder.
    size, layers, heads: width, number of layers and of attention heads, a divisor of size.
    reads_query, reads_key, reads_value, reads_tags: as for `SynG2GTransformer`.
    max_length: longest sentence in words that is read as a whole; longer ones are read in parts.
        Memory grows as its square.
    mixed_precision: half precision on a GPU.
    """
    if layers < 1 or heads < 1 or size < 1 or size % heads:
        raise ValueError(
            f"SynG2GLayers: layers ({layers}) must be 1 or more, and heads ({heads}) must divide "
            f"size ({size})."
        )
    if max_length < 1:
        raise ValueError(f"SynG2GLayers: max_length must be 1 or more, not {max_length}.")
    reads = Interactions(reads_query, reads_key, reads_value)
    build = partial(GraphLayers, size=size, layers=layers, heads=heads, reads=reads)
    network = torch_layer("graph_layers", build, mixed_precision=mixed_precision)
    return Model(
        "SynG2GLayers",
        _forward_layers,
        init=_init_layers,
        layers=[tok2vec, network],
        refs={"tok2vec": tok2vec, "network": network},
        dims={"nO": size},
        attrs={
            READS_TREES: any(reads),
            "labels": None,
            "tags": None,
            "reads_tags": reads_tags,
            "max_length": ConfigInt(max_length),
        },
    )


def _build_bert(bert: dict[str, Any], labels: int, tags: int, *, reads: Interactions) -> GraphBert:
    return GraphBert(BertSizes(**bert), labels, tags, reads)


def _init_bert(
    model: Model,
    X: list[Doc] | None = None,
    Y: object = None,
    *,
    name: str,
    layers: int | None,
) -> None:
    """Load the checkpoint. Without a sample X the weights come from bytes, later."""
    if X is None:
        return
    learn_from_sample(model, X)
    source = FrozenEncoder.from_pretrained(name, [-1 if layers is None else layers], user=NAME)
    sizes = bert_sizes(source.model.config, name)
    network = model.get_ref("network")
    # The further pieces of words have a label of their own, the last one.
    build_module(
        network, bert=sizes._asdict(), labels=len(model.attrs["labels"]) + 2, tags=_n_tags(model)
    )
    copy_weights(cast(GraphBert, module_of(network)), source.model.state_dict())
    model.attrs["tokenizer"], model.attrs["limit"] = source.tokenizer.to_str(), source.limit
    model.set_dim("nO", sizes.width, force=True)


def _init_layers(model: Model, X: list[Doc] | None = None, Y: object = None) -> None:
    """Without a sample X the weights come from bytes, later."""
    tok2vec = model.get_ref("tok2vec")
    tok2vec.initialize(X=X)
    if X is None:
        return
    learn_from_sample(model, X)
    build_module(
        model.get_ref("network"),
        width=tok2vec.predict(X)[0].shape[1],
        labels=len(model.attrs["labels"]) + 1,
        tags=_n_tags(model),
    )


def _n_tags(model: Model) -> int:
    return len(model.attrs["tags"]) if model.attrs["reads_tags"] else 0


def _forward_bert(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    cuts, features = bert_windows(model, docs)
    n_pieces = len(features["piece"])
    sentences = Sentences([model.ops.alloc2f(n_pieces, 1)], cuts, features)  # vectors are not read
    batches, backprop = model.get_ref("network")(sentences, is_train)
    vectors, backprop_words = word_vectors(model, docs, batches, features["owner"])

    def backprop_all(gradients: list[Floats2d]) -> list[Doc]:
        backprop(backprop_words(gradients))
        return []

    return vectors, backprop_all


def _forward_layers(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    vectors, backprop_vectors = model.get_ref("tok2vec")(docs, is_train)
    cuts, features = layer_sentences(model, docs)
    sentences = Sentences(vectors, cuts, features)
    batches, backprop = model.get_ref("network")(sentences, is_train)
    owners = np.arange(sum(len(doc) for doc in docs))
    states, backprop_words = word_vectors(model, docs, batches, owners)

    def backprop_all(gradients: list[Floats2d]) -> list[Doc]:
        return backprop_vectors(backprop(backprop_words(gradients)))

    return states, backprop_all


def layer_sentences(model: Model, docs: list[Doc]) -> tuple[list[Ints], dict[str, Ints]]:
    """The words that graph layers read together, and their features."""
    if not any(len(doc) for doc in docs):
        return [], {}
    cuts = sentence_parts(docs, model.attrs["max_length"])
    trees = read_trees(model, docs, cuts)
    return cuts, {"head": trees.heads, "label": trees.labels, "tag": trees.tags}


def bert_windows(model: Model, docs: list[Doc]) -> tuple[list[Ints], dict[str, Ints]]:
    """The pieces that BERT reads together, numbered window after window, and their features.

    "owner" is the token that a piece stands for, -1 for none.
    """
    windows = _piece_trees(model, docs) if any(len(doc) for doc in docs) else []
    ends = np.cumsum([0, *(len(window.pieces) for window in windows)])
    cuts = [np.arange(*window) for window in pairwise(ends)]
    columns = [np.concatenate(each) for each in zip(*windows, strict=True)] or [ends[:0]] * 5
    names = ("piece", "head", "label", "tag", "owner")
    return cuts, dict(zip(names, columns, strict=True))


def piece_names(model: Model, pieces: Ints) -> list[str]:
    """The letters of wordpieces."""
    tokenizer = read_tokenizer_once(model.attrs["tokenizer"])
    return [tokenizer.id_to_token(int(piece)) for piece in pieces]


def _piece_trees(model: Model, docs: list[Doc]) -> list[PieceTree]:
    """The sentences of Docs, in windows of wordpieces."""
    tokenizer = read_tokenizer_once(model.attrs["tokenizer"])
    prefix, suffix = special_tokens(tokenizer)
    most = min(model.attrs["window"], model.attrs["limit"])
    size = most - len(prefix) - len(suffix)
    inner = None if model.attrs["pieces_copy_arcs"] else len(model.attrs["labels"]) + 1
    reading = PieceReading(prefix, suffix, size, min(most * 3 // 4, size), inner)
    cuts = sentences_of(docs)
    trees = read_trees(model, docs, cuts)
    texts = [token.text for doc in docs for token in doc]
    return [
        window
        for cut in cuts
        for window in piece_trees(
            tokenizer,
            [texts[word] for word in cut],
            cut,
            WordTree(trees.heads[cut], trees.labels[cut], trees.tags[cut]),
            reading,
        )
    ]
