"""The work of ``spacy biaffine convert``: files of one form to files of another, counted."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ...doc.layers import LAYERS
from ..common.atomic import whole_folder, whole_text
from ..common.docbin import MAX_DOCS, read_docbin, write_docbin
from ..common.language import language_of, vocab_for
from ..common.lines import FormatError, Skipped
from ..entities.json_offsets import KEYS
from ..form import Form
from ..forms import looks_like
from ..options import SPANS_KEY
from .kept import kept_and_lost
from .plan import Job
from .size import doubt_size

Progress = Callable[[Iterable[Doc]], Iterable[Doc]]
"""Wraps the Docs as they come, such as tqdm."""


@dataclass
class Conversion:
    """What one conversion read and wrote.

    written: how much of each layer, where it was written to a text form. lost: how much of each
    layer that form has no place for. keys: further keys of records that are not in the output.
    layers: how many Docs are annotated with each layer, by its name.
    """

    report: Skipped
    docs: int = 0
    files: list[Path] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    keys: Counter[str] = field(default_factory=Counter)
    layers: Counter[str] = field(default_factory=Counter)

    @property
    def is_whole(self) -> bool:
        """Whether all that was read is in the output, without doubt."""
        report = self.report
        counts = (report.skipped, report.doubtful, report.not_kept, self.keys, self.lost)
        return not any(map(Counter.total, counts))

    def counted(
        self, docs: Iterable[Doc], writes: Form | None, spans_key: str | None
    ) -> Iterator[Doc]:
        """The Docs, each counted when it comes."""
        for doc in docs:
            self.docs += 1
            self.layers.update(layer.name for layer in LAYERS if layer.is_on(doc))
            doubt_size(doc, f"Doc {self.docs}", self.report)
            if writes is None or not writes.keeps_keys:
                self.keys.update(list(doc.user_data.get(KEYS, ())))
            if writes is not None:
                written, lost = kept_and_lost(doc, writes, spans_key)
                self.written.update(written)
                self.lost.update(lost)
            yield doc

    def rows(self) -> list[tuple[str, int]]:
        """All counts, with their names."""
        written = [(layer, n) for layer, n in self.written.items() if n]
        rows = [*self.report.rows(), *written]
        rows.insert(1, ("docs", self.docs))
        rows += [("files", len(self.files))] if len(self.files) > 1 else []
        rows += [(f"left out: {reason}", n) for reason, n in self.report.skipped.most_common()]
        doubtful = self.report.doubtful.most_common()
        rows += [(f"{what} (first: {self.report.first[what]})", n) for what, n in doubtful]
        rows += [(f"not in this form: {layer}", n) for layer, n in self.lost.items() if n]
        not_kept = self.report.not_kept + self.keys  # without those of which there are none
        return rows + [(f"not kept: {what}", n) for what, n in not_kept.most_common()]


def convert(
    job: Job,
    options: Mapping[str, Any],
    *,
    lang: str | None = None,
    skip_bad: bool = False,
    max_docs: int = MAX_DOCS,
    wanted: Collection[str] = (),
    progress: Progress = iter,
) -> Conversion:
    """Convert the files of a job. options: of its forms, by name.

    lang: None takes it from the file's name. max_docs: see `write_docbin`. wanted: names of layers,
    one of which must be there.
    Raises ValueError for options that the forms don't have, and where there is nothing to write,
    FormatError for what can't be read unless skip_bad, and OSError.
    """
    reading, writing = _shared_out(job, options)
    report = Skipped() if job.reads is None else job.reads.report()
    result = Conversion(report)
    language = language_of(job.sources[0]) if lang is None else lang
    docs = _docs(job, language, report, skip_bad, reading)
    docs = result.counted(docs, job.writes, writing.get(SPANS_KEY.name))
    counted = progress(_checked(docs, result, job, wanted))
    if job.writes is None:
        result.files = write_docbin(counted, job.target, max_docs=max_docs)
    elif job.writes.files:
        result.files = write_folder(counted, job.target, job.writes, writing)
    else:
        write_text(counted, job.target, job.writes, writing)
        result.files = [job.target]
    return result


def write_text(
    docs: Iterable[Doc], path: Path, form: Form, options: Mapping[str, Any] | None = None
) -> None:
    """Write Docs in a form. Raises ValueError, and leaves the file as it was, where the form can't
    hold one of them, or where there is nothing to write."""
    assert form.write is not None
    size = 0
    with whole_text(path) as file:
        file.write(form.opening)
        for number, doc in enumerate(docs, 1):
            text = form.write(doc, number, **(options or {}))
            size += len(text)
            file.write((form.between if number > 1 else "") + text)
        file.write(form.closing)
        if not size:
            raise ValueError(f"no sentences to write to {path}")


def write_folder(
    docs: Iterable[Doc], folder: Path, form: Form, options: Mapping[str, Any]
) -> list[Path]:
    """Write the files of each Doc, named by its number; returns them.

    Raises ValueError as `write_text`, and FileExistsError where the folder is not empty.
    """
    assert form.files is not None
    names = []
    with whole_folder(folder) as temporary:
        for number, doc in enumerate(docs, 1):
            for ending, text in form.files(doc, **options).items():
                name = f"{number:05}{ending}"
                (temporary / name).write_text(text, encoding="utf-8", newline="\n")
                names.append(name)
        if not names:
            raise ValueError(f"no Docs to write to {folder}")
    return [folder / name for name in names]


def _docs(
    job: Job, lang: str, report: Skipped, skip_bad: bool, options: dict[str, Any]
) -> Iterator[Doc]:
    if job.reads is not None:
        assert job.reads.read is not None
        docs = job.reads.read(job.sources, lang, report, skip_bad=skip_bad, **options)
        yield from _with_hint(docs, job.sources, job.reads)
        return
    vocab = vocab_for(lang)
    for source in job.sources:
        yield from read_docbin(source, vocab)


def _checked(
    docs: Iterable[Doc], result: Conversion, job: Job, wanted: Collection[str]
) -> Iterator[Doc]:
    """The Docs. Raises ValueError behind them where there is none, or none with a wanted layer."""
    yield from docs
    names = " ".join(map(str, job.sources))
    hint = "" if job.reads is None else looks_like(job.sources[0], job.reads)
    if not result.docs:
        reasons = result.report.reasons()
        raise ValueError(f"no Docs to write: none found in {names}{reasons}{hint}")
    if job.reads is not None and wanted and not any(result.layers[layer] for layer in wanted):
        titles = " or ".join(layer.title for layer in LAYERS if layer.name in wanted)
        unread = result.report.not_kept + result.keys
        listed = ", ".join(f"{what} ({n:,})" for what, n in unread.most_common(10))
        raise ValueError(
            f"none of the {result.docs:,} docs of {names}, read as {job.reads.name}, is annotated "
            f"with {titles}" + (f"; not read: {listed}" if listed else "") + hint
        )


def _with_hint(docs: Iterable[Doc], sources: Sequence[Path], form: Form) -> Iterator[Doc]:
    """The Docs. An error of reading says which other form the file seems to be of."""
    try:
        yield from docs
    except FormatError as error:
        hint = looks_like(sources[0], form)
        if not hint:
            raise
        raise ValueError(f"{error}{hint}") from error


def _shared_out(job: Job, options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the reader and those of the writer."""
    readers = () if job.reads is None else job.reads.options
    writers = () if job.writes is None else job.writes.write_options
    reading, writing = (
        {option.name: options[option.name] for option in own if option.name in options}
        for own in (readers, writers)
    )
    unknown = options.keys() - reading.keys() - writing.keys()
    if unknown:
        known = ", ".join(sorted({option.written[0] for option in (*readers, *writers)})) or "none"
        names = " and ".join(each.name for each in (job.reads, job.writes) if each)
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(unknown))
        raise ValueError(f"{flags}: no option of {names}, which has {known}")
    return reading, writing
