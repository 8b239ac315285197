"""A pretrained encoder whose layers are trained with the components that listen to it."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import Floats2d

from ..models.config_attr import ConfigInt
from ..models.torch_layer import build_module, module_of, torch_layer
from ..nn.graph_encoders import BertSizes, TunedLayers
from ..types import Ints, Sentences
from .bert_weights import bert_sizes, copy_weights
from .checkpoints import special_tokens
from .frozen_encoder import FrozenEncoder
from .piece_table import PieceTable
from .tree_pieces import MAX_PIECES_PER_WORD
from .word_vectors import MIN_WINDOW, read_tokenizer_once, word_vectors
from .wordpieces import Pieces, Window, cut_windows, cut_words

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
    network = model.get_ref("network")
    module_of(network)  # raises before there are weights
    cuts, seen = _read(model, docs)
    sentences = Sentences([_table(model).vectors(seen.pieces)], cuts, {"case": seen.cases})
    batches, backprop = network(sentences, is_train)
    states, backprop_words = word_vectors(model, docs, batches, seen.owners)

    def backprop_all(gradients: list[Floats2d]) -> list[Doc]:
        backprop(backprop_words(gradients))
        return []

    return states, backprop_all


class Seen(NamedTuple):
    """Wordpieces in windows, one window after the other, (n,) each.

    pieces: their ids. cases: how their words are written, 0 for special pieces. owners: the word
    that takes its vector from the piece, counted over all Docs, -1 for none.
    """

    pieces: Ints
    cases: Ints
    owners: Ints


def _read(model: Model, docs: list[Doc]) -> tuple[list[Ints], Seen]:
    """The places of each window's pieces, and the pieces."""
    tokenizer = read_tokenizer_once(model.attrs["tokenizer"])
    prefix, suffix = special_tokens(tokenizer)
    size = min(model.attrs["window"], model.attrs["limit"]) - len(prefix) - len(suffix)
    stride = min(model.attrs["stride"], size)
    windows: list[Seen] = []
    first_word = 0
    for doc in docs:
        texts = [token.text for token in doc]
        pieces = cut_words(tokenizer, texts, min(MAX_PIECES_PER_WORD, stride))
        cases = np.array([case_of(text) for text in texts], dtype=np.int64)
        for window in cut_windows(pieces.starts, size, stride):
            seen = _seen(pieces, window, cases, first_word)
            windows.append(_between(prefix, seen, suffix))
        first_word += len(doc)
    ends = np.cumsum([0, *(len(seen.pieces) for seen in windows)])
    if not windows:
        windows = [Seen(ends[:0], ends[:0], ends[:0])]
    columns = (np.concatenate(column) for column in zip(*windows, strict=True))
    return [np.arange(*edges) for edges in pairwise(ends)], Seen(*columns)


def _seen(pieces: Pieces, window: Window, cases: Ints, first_word: int) -> Seen:
    """The pieces of a window of a Doc whose words count from first_word."""
    places = np.arange(window.start, window.end)
    word = np.searchsorted(pieces.starts, places, side="right") - 1
    owns = (places == pieces.starts[word]) & np.isin(word, window.words)
    return Seen(pieces.ids[places], cases[word], np.where(owns, word + first_word, -1))


def _between(prefix: list[int], seen: Seen, suffix: list[int]) -> Seen:
    """The same with special pieces around it, which have no case and no owner."""
    around = (len(prefix), len(suffix))
    return Seen(
        np.concatenate([prefix, seen.pieces, suffix]).astype(np.int64),
        np.pad(seen.cases, around),
        np.pad(seen.owners, around, constant_values=-1),
    )


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
