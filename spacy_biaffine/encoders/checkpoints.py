"""Checkpoints of Hugging Face, and their tokenizers.

Everything that imports transformers or tokenizers is in this file, inside the functions that need
it.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from tokenizers import Tokenizer

PACKAGE = "package:"


def locate(name: str, user: str = "FrozenTransformer") -> str:
    """The folder or hub name that transformers understands."""
    if not name.startswith(PACKAGE):
        return name
    package, _, folder = name.removeprefix(PACKAGE).partition("/")
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise OSError(
            f"{user}: {name!r} needs the Python package {package!r}, which is not "
            "installed here. Install it with pip, or name a folder instead."
        )
    return str(Path(spec.submodule_search_locations[0]) / folder)


def read_tokenizer(written: str, *, user: str) -> Tokenizer:
    """The tokenizer of its JSON. user: what asks for it, to be named in errors."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise ImportError(_remedy(user, error)) from error
    return Tokenizer.from_str(written)


def import_transformers(user: str) -> Any:
    try:
        import safetensors  # noqa: F401 (is it there?)
        import transformers
    except ImportError as error:
        raise ImportError(_remedy(user, error)) from error
    return transformers


def _remedy(user: str, error: ImportError) -> str:
    return (
        f"{user} needs the transformers library: pip install -e '.[transformers]' in a clone "
        f"({error})"
    )


def load_weights(transformers: Any, source: str, config: Any, user: str) -> Any:
    """The model of the config, which may have fewer layers than the weights.

    All its weights must be found: a frozen layer left at random would spoil every result without
    a word.
    """
    level = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()  # it warns about the layers we leave out
    try:
        model, info = transformers.AutoModel.from_pretrained(
            source, config=config, torch_dtype=torch.float32, output_loading_info=True
        )
    finally:
        transformers.logging.set_verbosity(level)
    missing = [key for key in info["missing_keys"] if not key.startswith("pooler.")]
    if missing:
        raise ValueError(
            f"{user}: the weights in {source!r} lack {len(missing)} parameters of "
            f"the model in its config.json, {missing[0]} among them. Are they of another model?"
        )
    return model


def from_zero(layers: list[int], depth: int, user: str) -> list[int]:
    """Layer numbers from 0 (embeddings) to depth."""
    counted = [layer + depth + 1 if layer < 0 else layer for layer in layers]
    if not counted or not all(0 <= layer <= depth for layer in counted):
        raise ValueError(
            f"{user}: layers = {layers}, but the encoder has layers 0 (embeddings) "
            f"to {depth}; negative numbers count from the last, -1."
        )
    return counted


def positions_of(config: Any) -> int:
    """Positions a model has for pieces.

    RoBERTa and its kin start counting after the padding id. The others are treated alike and
    lose, with a padding id of 0, one piece of context in texts that long.
    """
    positions = getattr(config, "max_position_embeddings", None)
    return sys.maxsize if positions is None else positions - (config.pad_token_id or 0) - 1


def special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """Ids the tokenizer puts before and after a text, such as [CLS] and [SEP]."""
    encoding = tokenizer.encode(["a"], is_pretokenized=True)
    own = np.flatnonzero(np.array(encoding.special_tokens_mask) == 0)
    return encoding.ids[: own[0]], encoding.ids[own[-1] + 1 :]
