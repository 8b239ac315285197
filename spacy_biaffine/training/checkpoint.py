"""A training run on disk: all that is needed to go on as if it had never stopped."""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from spacy.language import Language
from spacy.pipeline.edit_tree_lemmatizer import EditTreeLemmatizer
from spacy.util import load_model

from ..formats.common.atomic import replace_on_disk, sync_files
from ..models.optimizer_state import ResumableOptimizer

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


def save_checkpoint(
    output: Path, nlp: Language, optimizer: ResumableOptimizer, done: Progress
) -> None:
    """Write the checkpoint of a run; one that was there stays whole until this one is."""
    state = {
        "progress": asdict(done),
        "optimizer": optimizer.state(nlp),
        "random": _random_state(),
    }
    with replaced(output / FOLDER) as new:
        nlp.to_disk(new / "model")
        buffer = BytesIO()  # what torch raises while it writes to a full disk is no OSError
        torch.save(state, buffer)
        (new / "state.pt").write_bytes(buffer.getbuffer())


@contextmanager
def replaced(folder: Path) -> Iterator[Path]:
    """An empty folder to write to, which takes the place of another one at the end.

    Until then the other one is whole, under its name or, for a moment, with .old behind it.
    """
    new, old = folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    yield new
    sync_files(new)
    if folder.exists():  # else the old one is the only one there is
        shutil.rmtree(old, ignore_errors=True)
        folder.replace(old)
    replace_on_disk(new, folder)
    shutil.rmtree(old, ignore_errors=True)


def find_checkpoint(output: Path) -> Path | None:
    """The folder of the newest whole checkpoint of a run, None where there is none."""
    folders = (output / FOLDER, output / f"{FOLDER}.old")
    return next((folder for folder in folders if (folder / "state.pt").exists()), None)


def load_pipeline(checkpoint: Path) -> Language:
    """The pipeline of a checkpoint, to be trained further."""
    return with_lemma_labels(load_model(checkpoint / "model"))


def with_lemma_labels(nlp: Language) -> Language:
    """The pipeline, whose lemmatizers know their labels. spaCy does not load them: each gold lemma
    would count as the first label, and training on would unlearn all lemmas."""
    for _, pipe in nlp.components:
        if isinstance(pipe, EditTreeLemmatizer):
            pipe.tree2label = {tree: label for label, tree in enumerate(pipe.cfg["labels"])}
    return nlp


def load_progress(checkpoint: Path, nlp: Language, optimizer: ResumableOptimizer) -> Progress:
    """Give the optimizer and all generators of random numbers their state, and return how far the
    run had come."""
    state = torch.load(checkpoint / "state.pt", weights_only=True)
    done = Progress(**state["progress"])
    done.results = [(score, step) for score, step in done.results]
    optimizer.load_state(nlp, state["optimizer"])
    _set_random_state(state["random"])
    return done


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
