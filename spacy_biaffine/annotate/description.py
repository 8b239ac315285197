"""What a job is, as OUT.job.json keeps it: pipeline, inputs, settings and package versions."""

import hashlib
import json
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from spacy.util import get_package_path, is_package

from .worker import Job

Description = dict[str, Any]

JOB = 2
"""Counts the forms that job files have had."""

PACKAGES = ("spacy-biaffine", "spacy", "thinc", "torch", "numpy", "transformers", "tokenizers")
"""Those whose versions may change what a pipeline finds."""

_CHUNK = 2**20


def describe(job: Job, files: Sequence[Path], *, by_doc: bool, shard_size: int) -> Description:
    """Plain data; two descriptions are equal where the outputs must be, byte for byte.

    Raises ValueError where there is no such pipeline, and OSError.
    """
    return {
        "job": JOB,
        "model": [job.model, digest(model_folder(job.model))],
        "inputs": [[str(file), file.stat().st_size, digest(file)] for file in files],
        "versions": _versions(),
        "form": job.form,
        "spans_key": job.spans_key,
        "by_doc": by_doc,
        "shard_size": shard_size,
        "batch_size": job.batch_size,
    }


def differences(earlier: Description, job: Description) -> list[str]:
    """In which settings they differ, for "another ..."."""
    other = [key for key, value in job.items() if earlier.get(key) != value]
    return [_told(key, earlier.get(key), job[key]) for key in other]


def job_id(job: Description) -> str:
    """Names a job, so that its shards can be told from those of others."""
    return hashlib.blake2b(json.dumps(job).encode(), digest_size=16).hexdigest()


def model_folder(model: str) -> Path:
    """The folder of a pipeline, by its path or by the name of a package.

    Raises ValueError where there is none.
    """
    folder = Path(model)
    if is_package(model):
        return get_package_path(model)
    if not folder.is_dir():
        raise ValueError(f"there is no pipeline {model}: no folder, and no installed package")
    if not (folder / "config.cfg").exists():
        inside = sorted(path.parent for path in folder.glob("*/config.cfg"))
        remedy = f"; did you mean {inside[0]}?" if inside else ""
        raise ValueError(f"{model} is no pipeline: it has no config.cfg{remedy}")
    return folder


def digest(path: Path) -> str:
    """Of a file, or of the names and contents of all files in a folder."""
    found = hashlib.blake2b(digest_size=16)
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            found.update(file.relative_to(path).as_posix().encode("utf8", "surrogateescape"))
            with file.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    found.update(chunk)
    return found.hexdigest()


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _told(key: str, earlier: Any, now: Any) -> str:
    if key == "versions" and isinstance(earlier, dict):
        names = sorted(n for n in {*earlier, *now} if earlier.get(n) != now.get(n))
        changes = (f"{n} {earlier.get(n, 'none')}, now {now.get(n, 'none')}" for n in names)
        return f"versions ({'; '.join(changes)})"
    if key == "inputs" and isinstance(earlier, list):
        if sorted(earlier) == sorted(now):
            return "inputs (the same files in another order)"
        if {tuple(each) for each in earlier} == {tuple(each) for each in now}:
            return "inputs (a file is given more or less often)"
    return key
