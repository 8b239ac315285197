"""The state of an optimizer under names that mean the same in every process."""

from collections.abc import Iterator
from typing import Any, cast

from spacy.language import Language
from thinc.api import Model, Optimizer, torch2xp, xp2torch
from thinc.optimizers import KeyT
from thinc.shims import PyTorchShim
from thinc.types import FloatsXd
from torch import Tensor


class ResumableOptimizer(Optimizer):
    """An optimizer whose state can be stored, and given to one of the same config elsewhere.

    Thinc keys the state by numbers that count the models made in a process. Here a parameter is
    COMPONENT/NODE/NAME, or COMPONENT/NODE/SHIM/NAME within a torch module: NODE counts the layers
    of the component's model in the order of `Model.walk()`, SHIM the shims of that layer.
    """

    __slots__ = ["_steps"]

    _steps: int  # how often the schedules have moved

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, use_averages=False, **kwargs)
        self._steps = 0

    def step_schedules(self) -> None:
        super().step_schedules()
        self._steps += 1

    def state(self, nlp: Language) -> dict[str, Any]:
        """A copy of all that later steps depend on, beside the weights and the settings.

        Returns tensors on the CPU and plain data, which `torch.save` writes and
        `torch.load(weights_only=True)` reads:

            {"schedule_steps": 120,
             "parameters": {"parser/2/0/arc.weight": {"updates": 120, "mom1": ..., "mom2": ...}}}

        mom1, mom2: running means of the gradient and of its square; SGD has mom1 (the velocity)
        alone. A parameter that no step has reached is not there.
        """
        parameters = {}
        for place, key, _ in _parameters(nlp):
            moments = {"mom1": self.mom1.get(key), "mom2": self.mom2.get(key)}
            found = {name: _on_cpu(m) for name, m in moments.items() if m is not None}
            if found:
                parameters[place] = {"updates": int(self.nr_update[key]), **found}
        return {"schedule_steps": self._steps, "parameters": parameters}

    def load_state(self, nlp: Language, state: dict[str, Any]) -> None:
        """Go on from what `state` has returned, with the model that has the weights of then.

        Schedules move on to their place. Raises ValueError, before anything changes, where a
        parameter is missing or has another size, or the schedules are past that place.
        """
        weights = {place: (key, weight) for place, key, weight in _parameters(nlp)}
        stored = state["parameters"]
        for place, values in stored.items():
            _check(place, values, weights)
        if self._steps > state["schedule_steps"]:
            raise ValueError(
                f"This optimizer is at step {self._steps}, after the stored state's "
                f"{state['schedule_steps']}: give the state to a new optimizer."
            )
        for kept in (self.mom1, self.mom2, self.nr_update):
            kept.clear()
        for place, values in stored.items():
            key, weight = weights[place]
            self.nr_update[key] = values["updates"]
            for name, moments in (("mom1", self.mom1), ("mom2", self.mom2)):
                if name in values:
                    moment = values[name].to(weight.device, copy=True).view(weight.shape)
                    cast(dict[KeyT, Any], moments)[key] = moment
        while self._steps < state["schedule_steps"]:
            self.step_schedules()


def as_array(moment: Any, weights: FloatsXd) -> FloatsXd:
    """A moment, kept as array or tensor, as an array of the shape of the weights."""
    array = torch2xp(moment) if isinstance(moment, Tensor) else moment
    return cast(FloatsXd, array.reshape(weights.shape))


def _on_cpu(moment: Any) -> Tensor:
    tensor = moment if isinstance(moment, Tensor) else xp2torch(moment)
    return tensor.detach().to("cpu", copy=True)


def _parameters(nlp: Language) -> Iterator[tuple[str, KeyT, Tensor]]:
    """Place, Thinc's key and weight of every parameter of every component."""
    for component, pipe in nlp.components:
        model = getattr(pipe, "model", None)
        for number, node in enumerate(model.walk() if isinstance(model, Model) else ()):
            for name in node.param_names:
                if node.has_param(name):
                    weight = xp2torch(cast(FloatsXd, node.get_param(name)))
                    yield f"{component}/{number}/{name}", (node.id, name), weight
            for shim_number, shim in enumerate(node.shims):
                module = shim._model if isinstance(shim, PyTorchShim) else None
                for name, tensor in module.named_parameters() if module is not None else ():
                    yield f"{component}/{number}/{shim_number}/{name}", (shim.id, name), tensor


def _check(place: str, values: dict[str, Any], weights: dict[str, tuple[KeyT, Tensor]]) -> None:
    if place not in weights:
        raise ValueError(
            f"The stored state of the optimizer has the parameter {place!r}, which is not in this "
            f"pipeline. Does it have the same components, with the same settings and names?"
        )
    size, stored = weights[place][1].numel(), values["mom1"].numel()
    if size != stored:
        raise ValueError(
            f"The stored state of the optimizer has {stored} numbers for the parameter {place!r}, "
            f"which has {size} here. Is it of another size, or were its labels others?"
        )
