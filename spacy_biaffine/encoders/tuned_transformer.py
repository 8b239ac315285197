"""A pretrained encoder whose layers are trained with the components that listen to it."""

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..nn.graph_encoders import BertSizes, TunedLayers
from ..types import Ints, Sentences
from .bert_weights import bert_sizes, copy_weights
from .config_attr import ConfigInt
from .frozen_encoder import FrozenEncoder, special_tokens
from .graph_transformer import MIN_WINDOW, read_tokenizer_once, word_vectors
from .piece_table import PieceTable
from .torch_layer import build_module, module_of, torch_layer
from .tree_pieces import MAX_PIECES_PER_WORD
from .wordpieces import cut_windows, cut_words

NAME = "TunedTransformer"


def TunedTransformer(  # noqa: N802 (spaCy names architectures like classes)
    name: str,
    layers: int | None = None,
    reads_case: bool = True,
    window: int = 256,
    stride: int = 192,
    mixed_precision: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """A pretrained BERT, trained but for the embeddings of its wordpieces, which stay as they are.

    A Doc is read in windows that overlap, whatever sentences are marked on it; a token has the
    vector of its first wordpiece, zero without one. The checkpoint is loaded when the pipeline is
    initialized. The layers are saved with the pipeline; the table of wordpieces too, unless an
    installed package brings it (`package:`), which is then read again.

    name: a folder, a name on the Hugging Face hub, or `package:PACKAGE/FOLDER` for a folder
        inside an installed Python package; BERT, RoBERTa, ELECTRA or their like.
    layers: how many of the checkpoint's layers are kept, from the first; none for all.
    reads_case: add an embedding of how a word is written (lower case, capitalized, with digits,
        ...) to the input, which an uncased checkpoint does not see.
    window, stride: most wordpieces in a window, special tokens included, and wordpieces from the
        start of one window to that of the next.
    mixed_precision: half precision on a GPU.
    """
    if layers is not None and layers < 1:
        raise ValueError(f"{NAME}: layers must be 1 or more, not {layers}.")
    if window < MIN_WINDOW or not 0 < stride <= window:
        raise ValueError(
            f"{NAME}: window ({window}) must be at least {MIN_WINDOW}, and stride ({stride}) "
            f"between 1 and the window."
        )
    network = torch_layer("tuned_layers", _build, mixed_precision=mixed_precision)
    return Model(
        NAME,
        _forward,
        init=partial(_init, name=name, layers=layers),
        layers=[network],
        shims=[PieceTable(name)],
        refs={"network": network},
        dims={"nO": None},
        attrs={
            "reads_case": reads_case,
            "tokenizer": "",
            "limit": 0,
            "window": ConfigInt(window),
            "stride": ConfigInt(stride),
        },
    )


def _build(bert: dict[str, int], cases: int) -> TunedLayers:
    return TunedLayers(BertSizes(**bert), cases)  # type: ignore[arg-type]


def _init(
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
    source = FrozenEncoder.from_pretrained(name, [-1 if layers is None else layers], user=NAME)
    sizes = bert_sizes(source.model.config, name)
    network = model.get_ref("network")
    cases = len(CASES) if model.attrs["reads_case"] else 0
    build_module(network, bert=sizes._asdict(), cases=cases)
    copy_weights(cast(TunedLayers, module_of(network)).pretrained, source.model.state_dict())
    _table(model).fill(source.model.get_input_embeddings().weight)
    model.attrs["tokenizer"], model.attrs["limit"] = source.tokenizer.to_str(), source.limit
    model.set_dim("nO", sizes.width, force=True)


def _forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    cuts, pieces, cases, owners = _windows(model, docs)
    vectors = _table(model).vectors(pieces)
    network = model.get_ref("network")
    batches, backprop = network(Sentences([vectors], cuts, {"case": cases}), is_train)
    states, backprop_words = word_vectors(model, docs, batches, owners)

    def backprop_all(gradients: list[Floats2d]) -> list[Doc]:
        backprop(backprop_words(gradients))
        return []

    return states, backprop_all


def _windows(model: Model, docs: list[Doc]) -> tuple[list[Ints], Ints, Ints, Ints]:
    """The windows of all Docs: their pieces as numbers over all windows, and of each piece its id,
    the case of its word (0 for special pieces), and the word that it stands for, -1 for none."""
    tokenizer = read_tokenizer_once(model.attrs["tokenizer"])
    prefix, suffix = special_tokens(tokenizer)
    most = min(model.attrs["window"], model.attrs["limit"])
    size = most - len(prefix) - len(suffix)
    stride = min(model.attrs["stride"], size)
    cuts, columns, first_word, end = [], [], 0, 0
    for doc in docs:
        texts = [token.text for token in doc]
        pieces = cut_words(tokenizer, texts, min(MAX_PIECES_PER_WORD, stride))
        cases = np.array([case_of(text) for text in texts], dtype=np.int64)
        for window in cut_windows(pieces.starts, size, stride):
            numbers = np.arange(window.start, window.end)
            word = np.searchsorted(pieces.starts, numbers, side="right") - 1
            is_first = (numbers == pieces.starts[word]) & np.isin(word, window.words)
            around = (len(prefix), len(suffix))
            shown = np.concatenate([prefix, pieces.ids[numbers], suffix]).astype(np.int64)
            owner = np.where(is_first, word + first_word, -1)
            columns.append(
                (shown, np.pad(cases[word], around), np.pad(owner, around, constant_values=-1))
            )
            cuts.append(np.arange(end, end + len(shown)))
            end += len(shown)
        first_word += len(doc)
    if not columns:
        empty = np.zeros(0, dtype=np.int64)
        return [], empty, empty, empty
    ids, cases, owners = (np.concatenate(each) for each in zip(*columns, strict=True))
    return cuts, ids, cases, owners


CASES = ("lower", "Capitalized", "UPPER", "miXed", "digits", "w1th digits", "other")
"""How a word can be written; a word's case is its place here, from 1."""


def case_of(text: str) -> int:
    """The number of a word's case, from 1."""
    if text.isalpha():
        if text.islower():
            return 1
        if text[0].isupper() and (len(text) == 1 or text[1:].islower()):
            return 2
        return 3 if text.isupper() else 4
    if any(letter.isdigit() for letter in text):
        return 6 if any(letter.isalpha() for letter in text) else 5
    return 7


def _table(model: Model) -> PieceTable:
    return cast(PieceTable, model.shims[0])
