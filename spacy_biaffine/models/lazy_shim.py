"""A torch module as a shim of a Thinc model."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO
from typing import Any

import srsly
import torch
from thinc.api import get_torch_default_device
from thinc.shims import PyTorchGradScaler, PyTorchShim
from torch import Tensor, nn

from ..decode.finite import NotFiniteError
from .optimizers import Adam


class LazyShim(PyTorchShim):
    """A torch module that is made late, and saved with the sizes that it was made from."""

    def __init__(self, build: Callable[..., nn.Module], mixed_precision: bool) -> None:
        self._build = build
        self._sizes: dict[str, Any] | None = None
        self._half_on_gpu = mixed_precision
        self._gradients_are_zero = False
        self._weights_are_finite = False
        super().__init__(None)

    @property
    def module(self) -> nn.Module:
        """The module. Raises ValueError before it is made."""
        if self._model is None:
            raise ValueError(
                "The model has no weights yet: call nlp.initialize() with training examples, "
                "or load a trained pipeline with spacy.load()."
            )
        return self._model

    def build(self, sizes: dict[str, Any]) -> None:
        """Make the module on the current device; in full precision, whatever is asked, on a CPU."""
        device = get_torch_default_device()
        self._sizes = sizes
        self._weights_are_finite = False
        self._model = self._build(**sizes).to(device)
        self._mixed_precision = self._half_on_gpu and device.type == "cuda"
        self._grad_scaler = PyTorchGradScaler(self._mixed_precision)
        self._grad_scaler.to_(device)

    def require_finite(self, vectors: Tensor) -> None:
        """Raise NotFiniteError where predictions from these vectors would mean nothing. Weights are
        looked at once after each change."""
        if not self._weights_are_finite:
            for name, weight in self.module.named_parameters():
                _require_finite(f"The weights {name}", weight)
            self._weights_are_finite = True
        _require_finite("Word vectors", vectors)

    def predict_batches(self, batches: list[Any], options: dict[str, Any]) -> list[Any]:
        """What the module predicts for each batch, dropout off."""
        if self.module.training:
            self.module.eval()
        # Any module that `build` makes has a predict; nn.Module declares none.
        with self._autocast():
            return [self.module.predict(batch, **options) for batch in batches]  # type: ignore[operator]

    def score_batches(self, batches: list[Any]) -> list[tuple[Tensor, ...]]:
        """The module's scores for each batch, dropout on; all but integers in float32."""
        self.module.train()
        with self._autocast():
            scores = [self.module(batch) for batch in batches]
        return [
            type(each)(*(t.float() if t.is_floating_point() else t for t in each))
            for each in scores
        ]

    def backpropagate(
        self, x: Tensor, scores: list[tuple[Tensor, ...]], d_scores: list[tuple[Tensor, ...]]
    ) -> Tensor:
        """Add to the weights' gradients; return that of x, zero after an overflow."""
        pairs = [
            (score, d_score)
            for batch, d_batch in zip(scores, d_scores, strict=True)
            for score, d_score in zip(batch, d_batch, strict=True)
            if score.requires_grad
        ]
        if not pairs:
            return torch.zeros_like(x)
        outputs, d_outputs = map(list, zip(*pairs, strict=True))
        scaled = self._grad_scaler.scale(d_outputs, inplace=True)
        weights = list(self.module.parameters())
        gradients = torch.autograd.grad(outputs, [x, *weights], scaled, allow_unused=True)
        # What earlier batches of the same step have left in weight.grad is unscaled already.
        if self._grad_scaler.unscale([g for g in gradients if g is not None]):
            return torch.zeros_like(x)
        d_x, *d_weights = gradients
        for weight, gradient in zip(weights, d_weights, strict=True):
            if gradient is not None:
                # Not added to zeros: that would be a copy of every weight matrix at each step.
                earlier = None if self._gradients_are_zero else weight.grad
                weight.grad = gradient if earlier is None else earlier + gradient
        self._gradients_are_zero = False
        return d_x if d_x is not None else torch.zeros_like(x)

    def _autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast(self.device.type) if self._mixed_precision else nullcontext()

    def finish_update(self, optimizer: Any) -> None:
        """Update the weights, where there are any; all at once where the optimizer can."""
        if self._model is None:
            return
        if isinstance(optimizer, Adam):
            if not self._grad_scaler.found_inf:
                optimizer.step_module(self.id, self._model)
            self._model.zero_grad(set_to_none=False)
            self._grad_scaler.update()
        else:
            super().finish_update(optimizer)
        self._gradients_are_zero = True
        self._weights_are_finite = False

    def to_bytes(self) -> bytes:
        """Sizes and weights: tensors and plain data alone."""
        weights = BytesIO()
        if self._model is not None:
            torch.save(self._model.state_dict(), weights)
        return srsly.msgpack_dumps({"sizes": self._sizes, "weights": weights.getvalue()})

    def from_bytes(self, bytes_data: bytes) -> "LazyShim":
        """Make the module from the stored sizes and fill in its weights."""
        stored = srsly.msgpack_loads(bytes_data)
        self._sizes, self._model = stored["sizes"], None
        if self._sizes is not None:
            self.build(self._sizes)
            device = get_torch_default_device()
            weights = torch.load(BytesIO(stored["weights"]), map_location=device, weights_only=True)
            self.module.load_state_dict(weights)
        return self


def _require_finite(what: str, tensor: Tensor) -> None:
    if not torch.isfinite(tensor).all():
        raise NotFiniteError(
            f"{what} contain NaN or infinity, so scores would mean nothing. Where training has "
            f"made them so, lower the learning rate or clip the gradients, and train again."
        )
