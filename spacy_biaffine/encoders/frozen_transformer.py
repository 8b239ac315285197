"""A frozen Hugging Face encoder as a Thinc model: Docs to word vectors, each text read once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from spacy.tokens import Doc
from thinc.api import Model
from thinc.shims import Shim
from thinc.types import Floats1d, Floats2d, FloatsXd, Ints1d
from thinc.util import torch2xp

from .feature_cache import DiskCache, FeatureCache, MemoryCache, text_key
from .frozen_encoder import FrozenEncoder, Reading

MEMORY_LIMIT = 1024**3
MIN_WINDOW = 16  # room for the special tokens and a long word
MIX_WEIGHTS = "mix_weights"
MIX_GAMMA = "mix_gamma"


def FrozenTransformer(  # noqa: N802 (spaCy names architectures like classes)
    name: str,
    layers: list[int],
    learned_mix: bool = False,
    cache: str | None = None,
    window: int = 128,
    stride: int = 112,
    batch_size: int = 2048,
    int8: bool = False,
) -> Model[list[Doc], list[Floats2d]]:
    """Word vectors of a frozen encoder: the mean over the word's pieces in the chosen layers.

    The encoder is loaded when the pipeline is initialized, and saved with the pipeline: loading one
    needs neither the folder nor the hub. A Doc is read as a whole, in windows if it is long, so
    that its vectors depend on its words alone. From the first training step on features are kept,
    in training and in evaluation, so that each text is read once and not once per epoch.

    name: a folder, a name on the Hugging Face hub, or `package:PACKAGE/FOLDER` for a folder
        inside an installed Python package.
    layers: 0 is the output of the embeddings, -1 the last layer. Several are averaged. Layers
        above the highest one are neither run nor saved.
    learned_mix: train gamma * sum_l softmax(w)_l h_l over the layers (Peters et al. 2018, eq. 1)
        instead of their mean.
    cache: a folder for the features, which several trainings may share at the same time. A loaded
        pipeline reads it if it is there, and writes to it only in training. None: up to 1 GiB
        is kept in memory.
    window: most wordpieces read at once, special tokens included; if the model takes fewer, as
        many as it takes.
    stride: most wordpieces from the start of one window to the next, which shares window - stride
        pieces with it. The windows of a text are about equally long.
    batch_size: most wordpieces in one forward pass, padding included.
    int8: linear layers of eight bits, in training and prediction: faster on a CPU, and a little
        less exact. Their full precision is saved.
    """
    if not 0 < stride < window or window < MIN_WINDOW:
        raise ValueError(
            f"FrozenTransformer: window ({window}) must be at least {MIN_WINDOW}, and stride "
            f"({stride}) above 0 and below window."
        )
    shim = FrozenShim(name, layers, learned_mix, cache, Reading(window, stride, batch_size, int8))
    params: dict[str, FloatsXd | None] = {MIX_WEIGHTS: None, MIX_GAMMA: None} if learned_mix else {}
    return Model(
        "frozen_transformer", forward, init=init, dims={"nO": None}, params=params, shims=[shim]
    )


def init(model: Model, X: list[Doc] | None = None, Y: object = None) -> None:
    """Load the encoder.

    Without a sample X this is a pipeline being prepared for loading: the weights come from its
    bytes, and the encoder's folder may not exist on this machine.
    """
    shim = _shim(model)
    if X is not None and shim.encoder is None:
        shim.encoder = FrozenEncoder.from_pretrained(shim.name, shim.layers)
        model.set_dim("nO", shim.encoder.width)
    for name, size in ((MIX_WEIGHTS, len(shim.layers)), (MIX_GAMMA, 1)):
        if model.has_param(name) is not False:
            start = model.ops.alloc1f(size)
            model.set_param(name, start + 1 if name == MIX_GAMMA else start)


def forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    shim = _shim(model)
    features = shim([[token.text for token in doc] for doc in docs], is_train)
    lengths = cast(Ints1d, np.array([len(doc) for doc in docs], dtype="int32"))
    if model.has_param(MIX_WEIGHTS) is False:
        return model.ops.unflatten(features, lengths), lambda gradients: []
    n_layers = len(shim.layers)
    stack = features.reshape(len(features), n_layers, features.shape[1] // n_layers)
    vectors, backprop_mix = mix_layers(model, stack)

    def backprop(gradients: list[Floats2d]) -> list[Doc]:
        backprop_mix(model.ops.flatten(gradients))
        return []

    return model.ops.unflatten(vectors, lengths), backprop


def mix_layers(model: Model, stack: Any) -> tuple[Floats2d, Callable[[Floats2d], None]]:
    """Mix a stack h (n_words, n_layers, width): gamma * sum_l a_l h_l with a = softmax(w)."""
    xp = model.ops.xp
    weights = cast(Floats1d, model.get_param(MIX_WEIGHTS))
    gamma = cast(Floats1d, model.get_param(MIX_GAMMA))
    shares = xp.exp(weights - weights.max())
    shares /= shares.sum()
    mixed = xp.einsum("l,nlh->nh", shares, stack)

    def backprop(gradient: Floats2d) -> None:
        per_layer = xp.einsum("nlh,nh->l", stack, gradient)
        mean = (shares * per_layer).sum(keepdims=True)
        model.inc_grad(MIX_WEIGHTS, gamma * shares * (per_layer - mean))
        model.inc_grad(MIX_GAMMA, mean)

    return gamma * mixed, backprop


def _shim(model: Model) -> "FrozenShim":
    return cast(FrozenShim, model.shims[0])


class FrozenShim(Shim):
    """Carries the encoder through Thinc's serialization and puts the cache before it.

    encoder: None until `init` or `from_bytes`.
    """

    def __init__(
        self, name: str, layers: list[int], learned_mix: bool, cache: str | None, reading: Reading
    ):
        super().__init__(None)
        self.name = name
        self.layers = layers
        self.learned_mix = learned_mix
        self.cache = cache
        self.reading = reading
        self.encoder: FrozenEncoder | None = None
        self._features: FeatureCache | None = None
        self._recording = False

    def __call__(self, texts: list[list[str]], is_train: bool) -> Any:
        """Features of all words, (n_words, width), or (n_words, n_layers * width) to be mixed."""
        if self.encoder is None:
            raise ValueError(
                "FrozenTransformer holds no encoder yet: call nlp.initialize(), which loads "
                f"{self.name!r}, or load a trained pipeline."
            )
        cache = self._cache(self.encoder, is_train)
        if cache is None:
            return torch2xp(self._encode(self.encoder, texts))
        keys = [text_key(words) for words in texts]
        found = cache.read(set(keys))
        missing = {key: words for key, words in zip(keys, texts, strict=True) if key not in found}
        if missing:
            rows = self._encode(self.encoder, list(missing.values())).cpu().numpy()
            ends = np.cumsum([len(words) for words in missing.values()])[:-1]
            fresh = dict(zip(missing, np.split(rows, ends), strict=True))
            found.update(fresh)
            if self._recording:
                cache.write(fresh)
        width = self.encoder.feature_width(self.learned_mix)
        rows = np.concatenate([np.zeros((0, width), "float32"), *(found[key] for key in keys)])
        return torch2xp(torch.from_numpy(rows).to(self.encoder.device))

    def _encode(self, encoder: FrozenEncoder, texts: list[list[str]]) -> torch.Tensor:
        return encoder.encode(texts, self.reading, stack=self.learned_mix)

    def _cache(self, encoder: FrozenEncoder, is_train: bool) -> FeatureCache | None:
        """Opened for writing by the first training step, for reading where its folder exists."""
        if is_train and not self._recording:
            self._recording = True
            self._features = (
                MemoryCache(MEMORY_LIMIT) if self.cache is None else self._disk(encoder)
            )
        elif self._features is None and self.cache is not None and Path(self.cache).is_dir():
            self._features = self._disk(encoder)
        return self._features

    def _disk(self, encoder: FrozenEncoder) -> DiskCache:
        mixing = "stack" if self.learned_mix else "mean"
        windows = f"equal-{self.reading.window}-{self.reading.stride}"
        windows += "-int8" if self.reading.int8 else ""
        name = f"{encoder.fingerprint()}-{mixing}-{windows}"
        folder = Path(str(self.cache)) / name
        return DiskCache(folder, encoder.feature_width(self.learned_mix))

    def finish_update(self, optimizer: Any) -> None:
        """Nothing: the weights are frozen."""

    def to_device(self, device_type: str, device_id: int) -> None:
        if self.encoder is not None:
            device = torch.device("cuda", device_id) if device_type == "gpu" else device_type
            self.encoder.model.to(device)

    def to_bytes(self) -> bytes:
        return b"" if self.encoder is None else self.encoder.to_bytes()

    def from_bytes(self, data: bytes) -> "FrozenShim":
        self.encoder = FrozenEncoder.from_bytes(data) if data else None
        self._features = None
        self._recording = False
        return self

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: what the bytes hold, and no open cache."""
        state = {**self.__dict__, "encoder": self.to_bytes()}
        return {**state, "_features": None, "_recording": False}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.from_bytes(state["encoder"])
