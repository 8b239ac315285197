"""AdamW with rates by parameter name, and what Thinc lacks: momentum, a schedule."""

import math
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, cast

import torch
from thinc.api import Ops
from thinc.backends import get_array_ops
from thinc.optimizers import FloatOrSeq, KeyT
from thinc.types import Floats1d, FloatsXd
from torch import Tensor, nn
from torch.optim.adamw import adamw

from .optimizer_state import ResumableOptimizer, as_array


class Adam(ResumableOptimizer):
    """Adam with decoupled weight decay, step for step that of torch.optim.AdamW.

    With theta the weights, g their gradient after clipping, r = learn_rate * factor:

        theta <- (1 - r * weight_decay) * theta
        m <- beta1 * m + (1 - beta1) * g        v <- beta2 * v + (1 - beta2) * g^2
        theta <- theta - r * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)

    (Loshchilov and Hutter 2019, algorithm 2.) Thinc's own Adam.v1 lacks the correction of v under
    eps, and decays after the step. All parameters are decayed, biases too, as in torch.

    learn_rate: a number, or a schedule that moves by one with every `step_schedules`.
    rate_factors: what learn_rate is multiplied by, by a pattern over the parameter's name. The
        first pattern that matches counts, without any the factor is 1. Factors, so that a schedule
        bends all rates alike: 1e-5 for an encoder beside 2e-3 is `encoder.* = 0.005`. With 0 a
        parameter is not trained. Patterns are globs: `*` crosses dots. Quotes around one do not
        matter. A name is
        - in a PyTorch module, its name in `named_parameters()`, without the component's;
        - in a spacy-transformers encoder, likewise that in the Hugging Face model: for BERT and
          its kin `embeddings.word_embeddings.weight`, `encoder.layer.0.output.dense.bias`;
        - in a Thinc layer, the bare name, W, b or E; of a frozen encoder's learned mix
          `mix_weights` and `mix_gamma`.
    weight_decay: the share of the weights, times the rate, that a step takes away.
    grad_clip: the longest a gradient may be (Euclidean norm); longer ones are scaled down to it.
        This looks at one parameter (one weight matrix, one bias) at a time, as Thinc does, and
        not at the norm over all of them: the optimizer meets them one by one. 0 clips nothing.

    All parameters of one of our torch modules take their step at once, in torch's fused kernel
    where this build has it for the device.

    `state` and `load_state` store the moments, counts and place of the schedules by the names of
    component and parameter, so that a training can be resumed in another process.

    Warns at the second step about patterns that match no parameter.
    """

    __slots__ = ["_factors", "rate_factors", "weight_decay"]

    rate_factors: dict[str, float]
    weight_decay: float
    _factors: dict[str, float]  # of every parameter name seen

    def __init__(
        self,
        learn_rate: FloatOrSeq = 0.001,
        *,
        rate_factors: dict[str, float] | None = None,
        weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        grad_clip: float = 1.0,
    ):
        super().__init__(
            learn_rate,
            L2=0.0,
            beta1=beta1,
            beta2=beta2,
            eps=eps,
            grad_clip=grad_clip,
        )
        # a config keeps quotes around a key as part of it, unlike those around a value
        self.rate_factors = {p.strip("\"'"): f for p, f in (rate_factors or {}).items()}
        self.weight_decay = weight_decay
        self._factors = {}

    def __call__(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> tuple[FloatsXd, FloatsXd]:
        factor = self._factor(key[1])
        return super().__call__(key, weights, gradient, lr_scale=lr_scale * factor)

    def step_module(self, owner: int, module: nn.Module) -> None:
        """What a call with each parameter of the module that has a gradient would do, at once.

        owner: the number in the keys of these parameters. Clips gradients in place.
        """
        by_factor: dict[float, list[tuple[KeyT, nn.Parameter]]] = {}
        for name, weight in module.named_parameters():
            if weight.grad is not None and weight.numel():
                by_factor.setdefault(self._factor(name), []).append(((owner, name), weight))
        for factor, parameters in by_factor.items():
            keys, weights = map(list, zip(*parameters, strict=True))
            self._step_tensors(keys, weights, self.learn_rate * factor)

    @torch.no_grad()
    def _step_tensors(self, keys: list[KeyT], weights: list[nn.Parameter], rate: float) -> None:
        gradients = [cast(Tensor, weight.grad).contiguous() for weight in weights]
        if self.grad_clip:
            _clip(gradients, self.grad_clip)
        device = weights[0].device
        updates = [self.nr_update[key] for key in keys]
        fused = _has_fused_adamw(device.type)
        adamw(
            [weight.detach() for weight in weights],
            gradients,
            _moments(self.mom1, keys, weights),
            _moments(self.mom2, keys, weights),
            [],
            list(torch.tensor(updates, dtype=torch.float32, device=device).unbind()),
            fused=fused,
            foreach=not fused,
            amsgrad=False,
            beta1=self.b1,
            beta2=self.b2,
            lr=rate,
            weight_decay=self.weight_decay,
            eps=self.eps,
            maximize=False,
        )
        for key in keys:
            self.nr_update[key] += 1

    def _factor(self, name: str) -> float:
        if name not in self._factors:
            matches = (f for pattern, f in self.rate_factors.items() if fnmatchcase(name, pattern))
            self._factors[name] = next(matches, 1.0)
        return self._factors[name]

    def _adam(
        self,
        ops: Ops,
        weights: FloatsXd,
        gradient: FloatsXd,
        lr_scale: float,
        key: KeyT,
        nr_upd: int,
    ) -> tuple[FloatsXd, FloatsXd]:
        """One step in place. `ops.adam` wants both corrections folded into its rate and eps."""
        if key not in self.mom1:
            self.mom1[key] = ops.alloc1f(weights.size)
            self.mom2[key] = ops.alloc1f(weights.size)
        rate = self.learn_rate * lr_scale
        weights *= 1 - rate * self.weight_decay
        fix1, fix2 = 1 - self.b1**nr_upd, math.sqrt(1 - self.b2**nr_upd)
        flat_weights, flat_gradient, self.mom1[key], self.mom2[key] = ops.adam(
            ops.reshape1f(weights, weights.size),
            ops.reshape1f(gradient, gradient.size),
            ops.reshape1f(as_array(self.mom1[key], weights), weights.size),
            ops.reshape1f(as_array(self.mom2[key], weights), weights.size),
            self.b1,
            self.b2,
            self.eps * fix2,
            rate * fix2 / fix1,
        )
        return (
            ops.reshape_f(flat_weights, weights.shape),
            ops.reshape_f(flat_gradient, gradient.shape),
        )

    def step_schedules(self) -> None:
        super().step_schedules()
        # after the first `nlp.update` a shared encoder has not had its turn yet
        if self._steps == 2 and self._factors:
            self._warn_of_idle_patterns()

    def _warn_of_idle_patterns(self) -> None:
        names = sorted(self._factors)
        for pattern in self.rate_factors:
            if not any(fnmatchcase(name, pattern) for name in names):
                warnings.warn(
                    f"spacy-biaffine.Adam.v1: no trained parameter is called {pattern!r}, so this "
                    f"rate factor changes nothing. Names here: {', '.join(names[:20])}"
                    + (f" and {len(names) - 20} more" if len(names) > 20 else ""),
                    stacklevel=3,
                )


@cache
def _has_fused_adamw(device: str) -> bool:
    """Whether this build of torch has it for a type of device: for CPUs since torch 2.4."""
    try:
        torch.optim.AdamW([torch.zeros(1, device=device, requires_grad=True)], fused=True)
    except RuntimeError:
        return False
    return True


def _clip(gradients: list[Tensor], longest: float) -> None:
    """Scale down each gradient that is longer, without waiting for the device."""
    norms = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients])
    for gradient, share in zip(gradients, (longest / norms).clamp(max=1.0).unbind(), strict=True):
        gradient.mul_(share)


def _moments(
    kept: dict[KeyT, FloatsXd], keys: list[KeyT], weights: list[nn.Parameter]
) -> list[Tensor]:
    """Those of tensors are kept as tensors; zero at first."""
    moments = cast(dict[KeyT, Any], kept)
    for key, weight in zip(keys, weights, strict=True):
        if key not in moments:
            moments[key] = torch.zeros_like(weight, memory_format=torch.contiguous_format)
    return [moments[key] for key in keys]


class SGD(ResumableOptimizer):
    """Stochastic gradient descent with momentum, step for step that of torch.optim.SGD.

        v <- momentum * v + g        theta <- theta - learn_rate * v

    with g the gradient after clipping. Thinc's own SGD.v1 has no momentum.

    learn_rate: a number, or a schedule that moves by one with every `step_schedules`.
    grad_clip: the longest a gradient may be, as in `Adam`.
    """

    __slots__ = ["momentum"]

    momentum: float

    def __init__(
        self, learn_rate: FloatOrSeq = 0.01, *, momentum: float = 0.9, grad_clip: float = 5.0
    ):
        super().__init__(learn_rate, L2=0.0, grad_clip=grad_clip)
        self.momentum = momentum

    def __call__(
        self, key: KeyT, weights: FloatsXd, gradient: FloatsXd, *, lr_scale: float = 1.0
    ) -> tuple[FloatsXd, FloatsXd]:
        if not gradient.size:
            return weights, gradient
        ops = get_array_ops(weights)
        if self.grad_clip:
            gradient = ops.clip_gradient(gradient, self.grad_clip)
        velocity = +gradient
        if key in self.mom1:
            velocity += self.momentum * as_array(self.mom1[key], weights)
        self.mom1[key] = cast(Floats1d, velocity)
        weights -= self.learn_rate * lr_scale * velocity
        gradient.fill(0)
        return weights, gradient


def warmup_cosine(initial_rate: float, warmup_steps: int, total_steps: int) -> Iterator[float]:
    """Rise from 0 to initial_rate in a line, then fall to 0 along half a cosine, and stay there.

    With Thinc's warmup_linear.v1 it shares the arguments and the warm-up.
    """
    for step in range(warmup_steps):
        yield initial_rate * step / warmup_steps
    for step in range(total_steps - warmup_steps):
        progress = step / (total_steps - warmup_steps)
        yield initial_rate * 0.5 * (1 + math.cos(math.pi * progress))
    while True:
        yield 0.0
