"""The work that is broken: commands of the package on small inputs, and what they give."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .inputs import inputs
from .process import FORK, Process

Digests = dict[str, str]


class Whole(NamedTuple):
    """Undisturbed work. results: digests by name. largest: bytes of the largest file."""

    seconds: float
    results: Digests
    largest: int


@dataclass(frozen=True)
class Work:
    """A command. results: digests of what it gives in a folder, of what is there so far.
    is_whole_or_absent: whether what is there before the end must be what is there at the end.
    keeps: a folder that later work reads, such as a cache."""

    name: str
    command: Sequence[object]
    results: Callable[[Path], Digests]
    is_whole_or_absent: bool = True
    can_fill_disk: bool = True
    keeps: str = ""

    def prepare(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        for path in inputs().iterdir():
            (folder / path.name).symlink_to(path)

    def start(self, folder: Path, largest_file: int | None = None) -> Process:
        return Process(folder, self.command, largest_file)

    def undisturbed(self, folder: Path) -> Whole:
        self.prepare(folder)
        started = time.monotonic()
        process = self.start(folder)
        if code := process.wait():
            raise RuntimeError(f"{self.name}: status {code}: {process.said}")
        seconds = time.monotonic() - started
        sizes = [p.stat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink()]
        return Whole(seconds, self.results(folder), max(sizes))

    def forget(self, folder: Path) -> None:
        """Remove the results, and leave what is kept."""
        for path in folder.iterdir():
            if path.name == self.keeps or path.is_symlink():
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def partly(self, folder: Path, whole: Whole) -> str:
        """What is wrong with what is there after a fault; "" for nothing."""
        found = self.results(folder)
        if not self.is_whole_or_absent:
            return ""
        torn = [name for name, digest in found.items() if digest != whole.results.get(name)]
        return f"not whole after the fault: {torn}" if torn else ""

    def compared(self, folder: Path, whole: Whole) -> str:
        """What differs at the end from undisturbed work; "" for nothing."""
        found = self.results(folder)
        names = found.keys() | whole.results.keys()
        other = sorted(name for name in names if found.get(name) != whole.results.get(name))
        return f"other at the end: {other}" if other else ""


def files_named(*names: str) -> Callable[[Path], Digests]:
    """Digests of the files of these names that are there."""

    def results(folder: Path) -> Digests:
        return {name: _digest(folder / name) for name in names if (folder / name).is_file()}

    return results


def weights(folder: Path) -> Digests:
    """Digests of the last model's files, but for the time in its meta; and whether the best one,
    where there is one, can be loaded."""
    last, best = folder / "out" / "model-last", folder / "out" / "model-best"
    found = {
        str(path.relative_to(last)): _digest(path)
        for path in sorted(last.rglob("*"))
        if path.is_file() and path.name not in ("meta.json", "config.cfg")
    }
    if best.exists():
        found["best"] = "loads" if _loads(best) else "can't be loaded"
    return found


def scores(folder: Path) -> Digests:
    """Scores of the runs of a grid that are finished."""
    path = folder / "results" / "tiny.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [json.loads(line) for line in lines]
    if len({line["key"] for line in found}) < len(found):
        return {"doubled": str(len(found))}
    return {line["key"]: json.dumps([line["dev"], line["test"]]) for line in found}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _loads(folder: Path) -> bool:
    process = FORK.Process(target=partial(_load, folder))
    process.start()
    process.join()
    return process.exitcode == 0


def _load(folder: Path) -> Any:
    import spacy

    return spacy.load(folder)


def _annotate(output: str, *options: object) -> Work:
    command = ["annotate", "model", "texts.txt", output, "--shard-size", 25, *options]
    return Work(f"annotating to {output}", command, files_named(output))


def _train(name: str, config: str, keeps: str = "") -> Work:
    command = ["train", config, "-o", "out", "--minutes", 0.1, "--threads", 1]
    return Work(name, command, weights, is_whole_or_absent=False, keeps=keeps)


WORKS = (
    Work("converting from CoNLL-U", ["convert", "big.conllu", "o.spacy"], files_named("o.spacy")),
    Work("converting to CoNLL-U", ["convert", "big.spacy", "o.conllu"], files_named("o.conllu")),
    Work(
        "converting to JSON",
        ["convert", "big.spacy", "o.layers.jsonl"],
        files_named("o.layers.jsonl"),
    ),
    _annotate("found.spacy"),
    _annotate("found.conllu"),
    _annotate("found.jsonl"),
    _annotate("found.json", "--form", "spert"),
    _train("training, with a model saved every other step", "train.cfg"),
    _train("training on a frozen encoder, its vectors kept on disk", "cached.cfg", keeps="cache"),
    Work(
        "a grid of experiments",
        ["experiment", "tiny.yml", "--workers", 1, "--vars.data", "data"],
        scores,
        can_fill_disk=False,
    ),
)
