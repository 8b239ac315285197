"""The work of ``spacy biaffine annotate``: files -> records -> shards -> annotated -> OUT."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from ..formats.common.locks import only_writer
from .description import describe
from .local import Run
from .output import Output
from .parts import Counts
from .records import READERS, Records, read_records
from .shards import Shard, cut
from .worker import Job

SHARD_SIZE = 1000

Told = Callable[[int], object]
"""Called with the number of records whenever some have become part of the output."""


@dataclass
class Summary:
    """What a run did.

    target: what OUT is. total: what it holds. shards: how many there are, 0 where OUT was there.
    docs, words: written by this run. earlier: records of shards that were there. again: shards that
    were there, but torn or of another job. bad: what OUT.bad.jsonl holds, place and reason.
    """

    target: Path
    total: Counts
    shards: int = 0
    docs: int = 0
    words: int = 0
    earlier: int = 0
    again: list[str] = field(default_factory=list)
    bad: list[str] = field(default_factory=list)


def annotate(
    job: Job,
    sources: Sequence[Path],
    target: Path,
    run: Run,
    *,
    by_doc: bool = False,
    shard_size: int = SHARD_SIZE,
    told: Told = lambda records: None,
) -> Summary:
    """Annotate files, as `read_records` reads them, by `local.run_here` or another `Run`.

    The same call goes on where an earlier one was stopped; see `output` for what lies on the disk.
    Raises ValueError for what is asked for, where another process writes OUT, and where an input
    changes meanwhile; OSError for files.
    """
    output = Output(target, job.form)
    files = find_files(sources, target)
    with only_writer(target):
        states = list(map(_state, files))
        description = describe(job, files, by_doc=by_doc, shard_size=shard_size)
        summary = Summary(target, Counts(0, 0, 0, {}))
        total = output.begin(description)
        if total is None:
            shards = cut(_records(files, by_doc), shard_size)
            _run_missing(job, shards, run, output, summary, told)
            _check_unchanged(files, states, output)
            if not summary.shards:
                output.discard()
                raise ValueError(f"there is nothing to annotate in {', '.join(map(str, sources))}")
            total = output.join(description, summary.shards)
        summary.total = total
        summary.target = output.result() or target
        summary.bad = [f"{each.place}: {each.reason}" for each in output.bad_records()]
    return summary


def _run_missing(
    job: Job, shards: Iterator[Shard], run: Run, output: Output, summary: Summary, told: Told
) -> None:
    summary.again = output.parts.again
    with closing(run(job, _missing(shards, output, summary, told))) as done:
        for shard in done:
            output.put(shard)
            summary.docs += shard.docs
            summary.words += shard.words
            told(shard.docs + len(shard.bad))


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


def _records(files: Sequence[Path], by_doc: bool) -> Records:
    for file in files:
        yield from read_records(file, by_doc=by_doc)


def _missing(
    shards: Iterator[Shard], output: Output, summary: Summary, told: Told
) -> Iterator[Shard]:
    """The shards that no earlier run has finished; all are counted."""
    there = output.parts.finished()
    for shard in shards:
        summary.shards += 1
        if shard.number in there:
            summary.earlier += len(shard.records)
            told(len(shard.records))
        else:
            yield shard


def _state(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns


def _check_unchanged(files: Sequence[Path], states: list[tuple[int, int]], output: Output) -> None:
    for file, state in zip(files, states, strict=True):
        if _state(file) != state:
            raise ValueError(
                f"{file} has changed while it was read. Remove {output.job} and "
                f"{output.parts.folder}, and begin again when it is finished."
            )
