"""The work of ``spacy biaffine convert-entities``: entity files -> .spacy and back, with counts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import spacy
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..common.docbin import MAX_DOCS, read_docbin, write_docbin
from ..common.language import vocab_for
from ..entities.api import (
    Columns,
    EntityReport,
    by_character,
    read_columns,
    read_entities_json,
    write_entities_json,
)
from ..entities.json_offsets import ReadOffsets
from .conversion import Conversion, Progress

EntitySummary = Conversion[EntityReport]


def json_to_spacy(
    source: Path,
    target: Path,
    offsets: ReadOffsets,
    *,
    lang: str = "xx",
    characters: bool = False,
    spans_key: str | None = None,
    snap: bool = False,
    skip_bad: bool = False,
    max_docs: int = MAX_DOCS,
    progress: Progress = iter,
) -> EntitySummary:
    """Convert JSON lines; see `read_entities_json`, and `write_docbin` for the files.

    characters: a token for every character, instead of the language's tokenizer.
    """
    summary = EntitySummary(EntityReport())
    nlp = spacy.blank(lang)
    docs = read_entities_json(
        source,
        by_character(nlp.vocab) if characters else nlp.make_doc,
        offsets,
        spans_key=spans_key,
        snap=snap,
        skip_bad=skip_bad,
        report=summary.report,
    )
    summary.files = write_docbin(progress(summary.counted(docs)), target, max_docs=max_docs)
    return summary


def columns_to_spacy(
    files: Sequence[Path],
    target: Path,
    columns: Columns,
    *,
    lang: str = "xx",
    n_sents: int = 1,
    spans_key: str | None = None,
    skip_bad: bool = False,
    max_docs: int = MAX_DOCS,
    progress: Progress = iter,
) -> EntitySummary:
    """Convert files of token lines to one; see `read_columns`."""
    summary = EntitySummary(EntityReport())
    docs = _read_files(files, vocab_for(lang), columns, n_sents, spans_key, skip_bad, summary)
    summary.files = write_docbin(progress(summary.counted(docs)), target, max_docs=max_docs)
    return summary


def spacy_to_json(
    source: Path, target: Path, *, spans_key: str | None = None, progress: Progress = iter
) -> EntitySummary:
    """Convert a .spacy file, or a folder of shards, to JSON lines."""
    summary = EntitySummary(EntityReport())
    docs = summary.counted(read_docbin(source, vocab_for("xx")))
    summary.report = write_entities_json(progress(docs), target, spans_key=spans_key)
    summary.files = [target]
    return summary


def _read_files(
    files: Sequence[Path],
    vocab: Vocab,
    columns: Columns,
    n_sents: int,
    spans_key: str | None,
    skip_bad: bool,
    summary: EntitySummary,
) -> Iterator[Doc]:
    for file in files:
        yield from read_columns(
            file,
            vocab,
            columns,
            n_sents=n_sents,
            spans_key=spans_key,
            skip_bad=skip_bad,
            report=summary.report,
        )
