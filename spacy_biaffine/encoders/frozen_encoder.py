"""A Hugging Face encoder that is only ever read: loading, word features, bytes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import srsly
import torch
from thinc.api import get_torch_default_device

from ..models import torch_forks  # noqa: F401 (nlp.pipe with several processes)
from .checkpoints import (
    from_zero,
    import_transformers,
    load_weights,
    locate,
    positions_of,
    read_tokenizer,
    special_tokens,
)
from .int8 import int8_copy
from .wordpieces import Pieces, Window, cut_windows, cut_words, pooling_bags

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_PIECES_PER_WORD = 32


class Reading(NamedTuple):
    """How texts are read, in wordpieces.

    window: most in one window, special tokens included.
    stride: most from the start of one window to the start of the next.
    batch_size: most in one forward pass, padding included.
    int8: by linear layers of eight bits.
    """

    window: int
    stride: int
    batch_size: int
    int8: bool = False


class FrozenEncoder:
    """A model cut above the highest layer in `layers`, with its tokenizer.

    layers: 0 is the output of the embeddings, k that of the k-th layer.
    limit: the most pieces the model can read at once, special tokens included.
    """

    def __init__(self, model: Any, tokenizer: Tokenizer, layers: list[int], limit: int):
        self.model = model.eval().requires_grad_(False).to(get_torch_default_device())
        if getattr(model, "pooler", None) is not None:
            model.pooler = None  # reads the first piece only, and nobody reads it
        self.tokenizer = tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True  # a text may hold the letters "[SEP]" or "<s>"
        self.layers = layers
        self.limit = limit
        self.prefix, self.suffix = special_tokens(tokenizer)
        self._int8: Any = None

    @property
    def width(self) -> int:
        return int(self.model.config.hidden_size)

    def feature_width(self, stack: bool) -> int:
        """Numbers per word that `encode` returns."""
        return self.width * (len(self.layers) if stack else 1)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    def encode(self, texts: list[list[str]], reading: Reading, stack: bool) -> torch.Tensor:
        """Features of all words of all texts, on the device of the model.

        Returns (n_words, width), the mean over the layers, or with `stack`
        (n_words, n_layers * width), one layer after the other. A word's features are the mean over
        its pieces, and zero if it has none. Raises ValueError where int8 is asked for and cannot
        be.
        """
        size = min(reading.window, self.limit) - len(self.prefix) - len(self.suffix)
        stride = min(reading.stride, size)
        pieces = [cut_words(self.tokenizer, t, min(MAX_PIECES_PER_WORD, stride)) for t in texts]
        first_rows = np.cumsum([0, *map(len, texts)])
        windows = [
            (window, text)
            for text, p in enumerate(pieces)
            for window in cut_windows(p.starts, size, stride)
        ]
        shape = (int(first_rows[-1]), self.feature_width(stack))
        features = torch.zeros(shape, device=self.device)
        model = self._eight_bits() if reading.int8 else self.model
        for batch in _batches(windows, reading.batch_size):
            rows = np.concatenate([first_rows[text] + window.words for window, text in batch])
            vectors = self._read(batch, pieces, stack, model)
            features[torch.from_numpy(rows).to(self.device)] = vectors
        return features

    def _eight_bits(self) -> Any:
        """The model with linear layers of eight bits, made once."""
        if self._int8 is None:
            self._int8 = int8_copy(self.model)
        return self._int8

    def _read(
        self, batch: list[tuple[Window, int]], pieces: list[Pieces], stack: bool, model: Any
    ) -> torch.Tensor:
        """One forward pass; the features of the windows' words, window after window."""
        longest = max(window.end - window.start for window, _ in batch)
        length = len(self.prefix) + longest + len(self.suffix)
        ids = np.full((len(batch), length), self.model.config.pad_token_id or 0, dtype=np.int64)
        mask = np.zeros_like(ids)
        positions, sizes = [], []
        for row, (window, text) in enumerate(batch):
            shown = [*self.prefix, *pieces[text].ids[window.start : window.end], *self.suffix]
            ids[row, : len(shown)] = shown
            mask[row, : len(shown)] = 1
            window_positions, window_sizes = pooling_bags(window, pieces[text].starts)
            positions.append(window_positions + row * length + len(self.prefix))
            sizes.append(window_sizes)
        hidden = self._hidden(ids, mask, stack, model)
        return self._pool(hidden, np.concatenate(positions), np.concatenate(sizes))

    @torch.no_grad()
    def _hidden(self, ids: np.ndarray, mask: np.ndarray, stack: bool, model: Any) -> torch.Tensor:
        """(n_windows, length) ids to (n_windows * length, width or n_layers * width)."""
        output = model(
            input_ids=torch.from_numpy(ids).to(self.device),
            attention_mask=torch.from_numpy(mask).to(self.device),
            output_hidden_states=True,
            return_dict=True,
        )
        chosen = [output.hidden_states[layer].flatten(0, 1).float() for layer in self.layers]
        return torch.cat(chosen, dim=1) if stack else torch.stack(chosen).mean(dim=0)

    def _pool(self, hidden: torch.Tensor, positions: np.ndarray, sizes: np.ndarray) -> torch.Tensor:
        """Mean over the positions of each word, (n_words, width of hidden)."""
        offsets = np.cumsum(sizes) - sizes
        return torch.nn.functional.embedding_bag(
            torch.from_numpy(positions).to(self.device),
            hidden.contiguous(),
            torch.from_numpy(offsets).to(self.device),
            mode="mean",
        )

    def fingerprint(self) -> str:
        """Names the weights, the tokenizer and the layers: equal for equal features."""
        config = self.model.config.to_diff_dict()
        for name in ("_name_or_path", "transformers_version", "torch_dtype", "architectures"):
            config.pop(name, None)
        digest = hashlib.blake2b(digest_size=12)
        digest.update(json.dumps([config, self.layers, self.limit], sort_keys=True).encode())
        digest.update(self.tokenizer.to_str().encode())
        for name, tensor in sorted(self.model.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.cpu().numpy().tobytes())
        return digest.hexdigest()

    def to_bytes(self) -> bytes:
        """Everything `from_bytes` needs: no folder, no hub."""
        from safetensors.torch import save

        state = {name: tensor.contiguous() for name, tensor in self.model.state_dict().items()}
        return srsly.msgpack_dumps(
            {
                "config": self.model.config.to_json_string(use_diff=False),
                "tokenizer": self.tokenizer.to_str(),
                "layers": self.layers,
                "limit": self.limit,
                "state": save(state),
            }
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> FrozenEncoder:
        transformers = import_transformers("FrozenTransformer")
        from safetensors.torch import load

        message = srsly.msgpack_loads(data)
        config = json.loads(message["config"])
        config = transformers.AutoConfig.for_model(config.pop("model_type"), **config)
        model = transformers.AutoModel.from_config(config)
        tokenizer = read_tokenizer(message["tokenizer"], user="FrozenTransformer")
        encoder = cls(model, tokenizer, message["layers"], message["limit"])
        encoder.model.load_state_dict(load(message["state"]))
        return encoder

    @classmethod
    def from_pretrained(
        cls, name: str, layers: list[int], *, user: str = "FrozenTransformer"
    ) -> FrozenEncoder:
        """Load a folder, a name on the hub, or `package:PACKAGE/FOLDER`, a folder in an installed
        Python package. Negative layers count from the last one of the whole model, -1.

        user: what asks for it, to be named in errors.
        Raises OSError with the remedy if there is no such model, ValueError if it does not fit.
        """
        transformers = import_transformers(user)
        source = locate(name, user)
        try:
            config = transformers.AutoConfig.from_pretrained(source)
            tokenizer = transformers.AutoTokenizer.from_pretrained(source, add_prefix_space=True)
        except (OSError, ValueError) as error:
            raise OSError(
                f"{user}: cannot load an encoder from {name!r}. Give a folder with "
                "config.json, the weights and tokenizer.json, or 'package:PACKAGE/FOLDER' for a "
                "folder in an installed Python package, or a name on the Hugging Face hub, which "
                f"needs the network once. The library says: {error}"
            ) from error
        if not tokenizer.is_fast:
            raise ValueError(
                f"{user}: {name!r} has no fast tokenizer. Convert it and save "
                "tokenizer.json beside the weights."
            )
        layers = from_zero(layers, config.num_hidden_layers, user)
        config.num_hidden_layers = max(layers)
        model = load_weights(transformers, source, config, user)
        limit = min(tokenizer.model_max_length, positions_of(config))
        backend = type(tokenizer.backend_tokenizer).from_str(tokenizer.backend_tokenizer.to_str())
        return cls(model, backend, layers, limit)


def _batches(
    windows: list[tuple[Window, int]], batch_size: int
) -> Iterator[list[tuple[Window, int]]]:
    """Windows of similar length together, at most `batch_size` pieces or one window."""
    batch: list[tuple[Window, int]] = []
    for item in sorted(windows, key=lambda item: item[0].end - item[0].start):
        length = item[0].end - item[0].start
        if batch and (len(batch) + 1) * length > batch_size:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch
