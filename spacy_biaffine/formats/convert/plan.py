"""What is to be converted: which forms, and which files go where."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..common.docbin import holds_shards
from ..form import Form
from ..forms import (
    CONLLU,
    FORMS,
    OUTPUTS,
    form_named,
    form_of,
    form_to_write,
    looks_like,
    names_of,
)
from .treebank import find_splits


class Job(NamedTuple):
    """Files that become one. reads, writes: None for .spacy."""

    sources: list[Path]
    target: Path
    reads: Form | None
    writes: Form | None


def plan(
    sources: Sequence[Path], target: Path, form: Form | None = None, *, to: str | None = None
) -> list[Job]:
    """What goes where.

    form: of the files that are no .spacy; None for that which they leave no doubt of.
    to: name of the form to write, or "spacy"; None for what the names say. A form with files for
    each Doc goes to the folder TARGET.
    Files, or a folder of shards, go to TARGET, or to TARGET/NAME where TARGET is a folder or has no
    suffix. A treebank folder goes to TARGET/train, TARGET/dev, TARGET/test; a folder of .spacy
    files, one by one, to TARGET: a folder may have a dot in its name.
    Raises ValueError where that can't be done, and says what is missing.
    """
    _check_there(sources)
    reads, writes = _forms(sources, target, form, to)
    folder = sources[0]
    if not _is_taken_apart(sources, reads):
        return [Job(list(sources), _place(sources, target, writes), reads, writes)]
    if target.is_file() or _is_output(target):
        raise ValueError(f"{folder} is a folder, so the output {target} must be a folder too")
    files = (
        {p.stem: p for p in sorted(folder.glob("*.spacy"))}
        if reads is None
        else find_splits(folder)
    )
    end = _ending(writes)
    return [Job([file], target / f"{name}{end}", reads, writes) for name, file in files.items()]


def _check_there(sources: Sequence[Path]) -> None:
    """Raises ValueError where there is nothing to read."""
    for source in sources:
        if not source.exists():
            raise ValueError(f"{source} does not exist: No such file or folder")
        if not source.is_file() and not source.is_dir():
            raise ValueError(
                f"{source} is a device or a pipe, and input is read twice: write it to a file first"
            )
    if all(map(_is_empty, sources)):
        names = " ".join(map(str, sources))
        raise ValueError(f"no sentences found in {names}: the file is empty")


def _is_empty(source: Path) -> bool:
    """Whether it is a file of text without any."""
    return source.is_file() and source.suffix != ".spacy" and not source.stat().st_size


def _forms(
    sources: Sequence[Path], target: Path, form: Form | None, to: str | None
) -> tuple[Form | None, Form | None]:
    is_spacy = target.suffix == ".spacy" if to is None else to == "spacy"
    named = form_to_write(target) if to is None else None if is_spacy else form_named(to)
    if not all(map(_holds_docs, sources)):
        reads = form or _recognized(sources)
        if reads is named:
            raise ValueError(f"{sources[0]} is {_ending(named)} already; see --to")
        return reads, named
    if is_spacy:
        raise ValueError(f"{sources[0]} is .spacy already; see --to")
    writes = (form if to is None else None) or named or (None if target.suffix else CONLLU)
    if writes not in OUTPUTS:
        raise ValueError(f"{target}: say what to write by --to, one of {names_of(OUTPUTS, 'or')}")
    return None, writes


def _holds_docs(source: Path) -> bool:
    """A .spacy file, or a folder of such."""
    if source.is_dir():
        return not any(source.glob("*.conllu")) and any(source.glob("*.spacy"))
    return source.suffix == ".spacy"


def _recognized(sources: Sequence[Path]) -> Form:
    if len(sources) == 1 and sources[0].is_dir() and form_of(sources[0]) is None:
        find_splits(sources[0])
        return CONLLU
    forms = {form_of(source) for source in sources}
    (form, *others) = forms
    if form is None or others:
        raise ValueError(f"say what {sources[0]} is by --form, one of {names_of(FORMS, 'or')}")
    return form


def _is_taken_apart(sources: Sequence[Path], reads: Form | None) -> bool:
    """Whether the files of a folder are converted one by one."""
    folder = sources[0]
    if len(sources) > 1 or not folder.is_dir():
        return False
    if reads is None:
        return not holds_shards(folder)
    if reads is not CONLLU and not reads.folders:
        detail = f"{folder} is a folder; name its files of the form {reads.name}"
        raise ValueError(detail + looks_like(folder, reads))
    return reads is CONLLU


def _place(sources: Sequence[Path], target: Path, writes: Form | None) -> Path:
    if writes is not None and writes.files:
        return target
    end = _ending(writes)
    if target.suffix and target.suffix == Path(f"x{end}").suffix:
        return target
    if target.is_dir() or not target.suffix:
        return target / f"{sources[0].stem}{end}"
    if writes is not None and writes.suffix is None:
        return target
    raise ValueError(f"{target} must end in {end}, or be a folder")


def _ending(writes: Form | None) -> str:
    if writes is None:
        return ".spacy"
    return "" if writes.files else writes.suffix or ".txt"


def _is_output(target: Path) -> bool:
    return target.suffix in (".spacy", ".conll") or form_to_write(target) is not None
