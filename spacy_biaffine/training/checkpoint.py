"""A training run on disk: all that is needed to go on as if it had never stopped."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from spacy.language import Language
from spacy.util import load_model
from thinc.api import Model, Optimizer
from thinc.optimizers import KeyT
from thinc.shims import PyTorchShim
from thinc.util import to_numpy

FOLDER = "checkpoint"


@dataclass
class Progress:
    """How far a run has come.

    step: steps taken. epoch, batch: the epoch that runs, and batches of it that are done.
    losses, words, seconds: since the last evaluation, and since the start. results: (score, step)
    of each evaluation. history: what was logged at each, plain data.
    """

    step: int = 0
    epoch: int = 0
    batch: int = 0
    losses: dict[str, float] = field(default_factory=dict)
    words: int = 0
    seconds: float = 0.0
    results: list[tuple[float, int]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)


def save_checkpoint(output: Path, nlp: Language, optimizer: Optimizer, done: Progress) -> None:
    """Write the checkpoint of a run; one that was there stays whole until this one is."""
    new, old = output / f"{FOLDER}.new", output / f"{FOLDER}.old"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    nlp.to_disk(new / "model")
    state = {
        "progress": asdict(done),
        "optimizer": _optimizer_state(nlp, optimizer),
        "random": _random_state(),
    }
    torch.save(state, new / "state.pt")
    shutil.rmtree(old, ignore_errors=True)
    if (output / FOLDER).exists():
        (output / FOLDER).replace(old)
    new.replace(output / FOLDER)
    shutil.rmtree(old, ignore_errors=True)


def find_checkpoint(output: Path) -> Path | None:
    """The folder of the newest whole checkpoint of a run, None where there is none."""
    folders = (output / FOLDER, output / f"{FOLDER}.old")
    return next((folder for folder in folders if (folder / "state.pt").exists()), None)


def load_pipeline(checkpoint: Path) -> Language:
    """The pipeline of a checkpoint, to be trained further."""
    return load_model(checkpoint / "model")


def load_progress(checkpoint: Path, nlp: Language, optimizer: Optimizer) -> Progress:
    """Give the optimizer and all generators of random numbers their state, and return how far the
    run had come."""
    state = torch.load(checkpoint / "state.pt", weights_only=True)
    done = Progress(**state["progress"])
    done.results = [(score, step) for score, step in done.results]
    _set_optimizer_state(nlp, optimizer, state["optimizer"])
    for _ in range(done.step):
        optimizer.step_schedules()
    _set_random_state(state["random"])
    return done


def _optimizer_state(nlp: Language, optimizer: Optimizer) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for name, key in _parameters(nlp):
        if key in optimizer.nr_update:
            moments = {
                moment: torch.from_numpy(np.array(to_numpy(getattr(optimizer, moment)[key])))
                for moment in ("mom1", "mom2")
                if key in getattr(optimizer, moment)
            }
            state[name] = {"updates": optimizer.nr_update[key], **moments}
    return state


def _set_optimizer_state(nlp: Language, optimizer: Optimizer, state: dict[str, Any]) -> None:
    for name, key in _parameters(nlp):
        if name in state:
            optimizer.nr_update[key] = state[name]["updates"]
            for moment in ("mom1", "mom2"):
                if moment in state[name]:
                    getattr(optimizer, moment)[key] = state[name][moment].numpy()


def _parameters(nlp: Language) -> Iterator[tuple[str, KeyT]]:
    """The name of each parameter that an optimizer can meet, the same in every process, and the
    key under which it meets it in this one."""
    for pipe, component in nlp.pipeline:
        model = getattr(component, "model", None)
        if not isinstance(model, Model):
            continue
        for number, node in enumerate(model.walk()):
            for name in node.param_names:
                yield f"{pipe}/{number}/{name}", (node.id, name)
            for place, shim in enumerate(node.shims):
                if isinstance(shim, PyTorchShim) and shim._model is not None:
                    for name, _ in shim._model.named_parameters():
                        yield f"{pipe}/{number}/{place}/{name}", (shim.id, name)


def _random_state() -> dict[str, Any]:
    version, numbers, gauss = random.getstate()
    name, keys, position, has_gauss, cached = cast(tuple, np.random.get_state())
    state: dict[str, Any] = {
        "python": [version, list(numbers), gauss],
        "numpy": [name, keys.tolist(), position, has_gauss, cached],
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def _set_random_state(state: dict[str, Any]) -> None:
    version, numbers, gauss = state["python"]
    random.setstate((version, tuple(numbers), gauss))
    name, keys, position, has_gauss, cached = state["numpy"]
    np.random.set_state((name, np.array(keys, dtype=np.uint32), position, has_gauss, cached))
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
