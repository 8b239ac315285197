"""What a result line says of a run beside its scores: versions, parameters, memory."""

import hashlib
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from spacy.language import Language
from thinc.api import Model
from torch import nn

import spacy_biaffine

PACKAGES = ("spacy", "thinc", "torch", "transformers")


def versions() -> dict[str, str]:
    """Of Python, of the packages that matter, and of our own, with a hash of its source."""
    found = {"python": platform.python_version(), "spacy-biaffine": spacy_biaffine.__version__}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {**found, "source": _source_hash(Path(spacy_biaffine.__file__).parent)}


def _source_hash(package: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def count_parameters(nlp: Language, frozen: list[str]) -> dict[str, Any]:
    """Numbers in all weights, in the trained ones, and in the trained ones layer by layer.

    frozen: components that are not updated. A frozen encoder counts under `all` alone.
    `modules` has the trained parts of torch modules, such as `global_pointer.pointer`.
    """
    seen: set[int] = set()
    counts: dict[str, Any] = {"trained": 0, "all": 0, "parts": {}, "modules": {}}
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            for size, is_trained, module in _weights(node, seen):
                counts["all"] += size
                if is_trained and name not in frozen:
                    counts["trained"] += size
                    _add(counts["parts"], node.name, size)
                    if module:
                        _add(counts["modules"], f"{node.name}.{module}", size)
    return counts


def _add(counts: dict[str, int], key: str, size: int) -> None:
    counts[key] = counts.get(key, 0) + size


def _weights(node: Model, seen: set[int]) -> Iterator[tuple[int, bool, str]]:
    """Size of each weight of a layer that is not in `seen`, whether it is trained, and where in a
    torch module it is."""
    if node.id in seen:
        return
    seen.add(node.id)
    for name in node.param_names:
        if node.has_param(name):
            yield node.get_param(name).size, True, ""
    for shim in node.shims:
        for name, weight in _torch_weights(shim):
            if id(weight) not in seen:
                seen.add(id(weight))
                yield weight.numel(), weight.requires_grad, name.partition(".")[0]


def _torch_weights(shim: Any) -> Iterator[tuple[str, nn.Parameter]]:
    """Of the torch modules that a shim holds, itself or one object further, by name."""
    for value in vars(shim).values():
        for held in (value, *getattr(value, "__dict__", {}).values()):
            if isinstance(held, nn.Module):
                yield from held.named_parameters()


def peak_memory_mb() -> float | None:
    """The most memory this process has had; None where the system does not tell."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
