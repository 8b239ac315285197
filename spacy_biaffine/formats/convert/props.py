"""The work of ``spacy biaffine convert-roles``: files with semantic roles -> .spacy and back."""

from collections.abc import Callable, Iterable
from pathlib import Path

from spacy.tokens import Doc

from ..common.docbin import MAX_DOCS, read_docbin, write_docbin
from ..common.language import vocab_for
from ..props.api import Parse, PropsReport, read_props
from .conversion import Conversion, Progress

RoleSummary = Conversion[PropsReport]


def props_to_spacy(
    source: Path,
    target: Path,
    parse: Parse,
    *,
    lang: str = "xx",
    n_sents: int = 1,
    words: bool = False,
    word_frames: bool = False,
    skip_auxiliaries: bool = False,
    skip_bad: bool = False,
    max_docs: int = MAX_DOCS,
    progress: Progress = iter,
) -> RoleSummary:
    """Convert a file with semantic roles; see `read_props`, and `write_docbin` for the files."""
    summary = RoleSummary(PropsReport())
    docs = read_props(
        source,
        vocab_for(lang),
        parse,
        n_sents=n_sents,
        words=words,
        word_frames=word_frames,
        skip_auxiliaries=skip_auxiliaries,
        skip_bad=skip_bad,
        report=summary.report,
    )
    summary.files = write_docbin(progress(summary.counted(docs)), target, max_docs=max_docs)
    return summary


def spacy_to_props(
    source: Path,
    target: Path,
    write: Callable[[Iterable[Doc], Path], int],
    *,
    progress: Progress = iter,
) -> RoleSummary:
    """Convert a .spacy file, or a folder of shards, by `write_conll05` or `write_conll09`."""
    summary = RoleSummary(PropsReport())
    docs = summary.counted(read_docbin(source, vocab_for("xx")))
    summary.report.sentences = write(progress(docs), target)
    summary.files = [target]
    return summary
