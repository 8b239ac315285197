"""The work of ``spacy biaffine annotate``: files -> records -> shards -> annotated -> OUT."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from spacy.util import get_package_path, is_package

from .local import Run
from .output import Output
from .records import READERS, Records, read_records
from .shards import Shard, cut
from .worker import Job

SHARD_SIZE = 1000

_CHUNK = 2**20


@dataclass
class Summary:
    """What a run did.

    target: what OUT is. shards: how many there are, 0 where OUT was there. docs, words: written by
    this run. earlier: records of shards that were there. bad: what OUT.bad.jsonl holds, place and
    reason.
    """

    target: Path
    shards: int = 0
    docs: int = 0
    words: int = 0
    earlier: int = 0
    bad: list[str] = field(default_factory=list)


def annotate(
    job: Job,
    sources: Sequence[Path],
    target: Path,
    run: Run,
    *,
    by_doc: bool = False,
    shard_size: int = SHARD_SIZE,
    told: Callable[[int], object] = lambda records: None,
) -> Summary:
    """Annotate files, as `read_records` reads them, by `local.run_here` or another `Run`.

    The same call goes on where an earlier one was stopped; see `output` for what lies on the disk.
    told: called with the number of records whenever some have become part of the output.
    Raises ValueError for what is asked for, and OSError for files.
    """
    output = Output(target, job.form)
    files = find_files(sources, target)
    result = output.begin(
        {
            "model": [job.model, _digest(model_folder(job.model))],
            "inputs": {str(file): _digest(file) for file in files},
            "form": job.form,
            "spans_key": job.spans_key,
            "by_doc": by_doc,
            "shard_size": shard_size,
            "batch_size": job.batch_size,
        }
    )
    summary = Summary(target)
    if result is None:
        shards = cut(_records(files, by_doc), shard_size)
        with closing(run(job, _missing(shards, output, summary, told))) as done:
            for shard in done:
                output.put(shard)
                summary.docs += shard.docs
                summary.words += shard.words
                told(shard.docs + len(shard.bad))
        if not summary.shards:
            output.discard()
            raise ValueError(f"there is nothing to annotate in {', '.join(map(str, sources))}")
        result = output.join(summary.shards)
    summary.target = result
    summary.bad = [f"{each.place}: {each.reason}" for each in output.bad_records()]
    return summary


def find_files(sources: Sequence[Path], target: Path) -> list[Path]:
    """The files themselves, and those in folders, in the order of their names.

    Raises ValueError for what can't be read, and for a folder that would get the output.
    """
    wanted = ", ".join(READERS)
    files: list[Path] = []
    for source in sources:
        if source.is_dir():
            found = [file for file in source.iterdir() if file.suffix in READERS and file.is_file()]
            if not found:
                raise ValueError(f"no file in {source} ends in {wanted}")
            if target.parent.resolve() == source.resolve():
                raise ValueError(f"{target} would be among its own inputs; write to another folder")
            files += sorted(found)
        elif not source.exists():
            raise ValueError(f"{source} does not exist")
        elif source.suffix not in READERS:
            raise ValueError(f"{source} can't be read: its name must end in {wanted}")
        else:
            files.append(source)
    return files


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


def _records(files: Sequence[Path], by_doc: bool) -> Records:
    for file in files:
        yield from read_records(file, by_doc=by_doc)


def _missing(
    shards: Iterator[Shard], output: Output, summary: Summary, told: Callable[[int], object]
) -> Iterator[Shard]:
    """The shards that no earlier run has finished; all are counted."""
    there = output.finished()
    for shard in shards:
        summary.shards += 1
        if shard.number in there:
            summary.earlier += len(shard.records)
            told(len(shard.records))
        else:
            yield shard


def _digest(path: Path) -> str:
    """Of a file, or of the names and contents of all files in a folder."""
    digest = hashlib.blake2b(digest_size=16)
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            digest.update(file.relative_to(path).as_posix().encode("utf8", "surrogateescape"))
            with file.open("rb") as stream:
                while chunk := stream.read(_CHUNK):
                    digest.update(chunk)
    return digest.hexdigest()
