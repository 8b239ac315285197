"""Registered readers of entity files, whose examples have gold tokens."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc

from ...doc.given import check_given
from ..entities.api import (
    Columns,
    EntityReport,
    by_character,
    cluener_offsets,
    offsets_of,
    read_columns,
    read_entities_json,
)
from .corpus import Reader, examples_of, warn_of_skipped


def EntityJsonCorpus(  # noqa: N802 (spaCy names registered functions like classes)
    path: Path,
    cluener: bool = False,
    characters: bool = False,
    spans_key: str | None = None,
    snap: bool = False,
    skip_bad: bool = False,
    limit: int = 0,
) -> Reader:
    """Examples from JSON lines with character offsets.

    cluener: CLUENER's form, whose last offset is included (see `cluener_offsets`), and not that of
        `offsets_of`.
    characters: a token for every character, instead of the pipeline's tokenizer.
    spans_key, snap, skip_bad: as in `read_entities_json`. limit: most examples, 0 for all.
    Raises FormatError, with file and line.
    """
    offsets = cluener_offsets if cluener else offsets_of

    def docs(nlp: Language) -> Iterator[Doc]:
        report = EntityReport()
        yield from read_entities_json(
            Path(path),
            by_character(nlp.vocab) if characters else nlp.make_doc,
            offsets,
            spans_key=spans_key,
            snap=snap,
            skip_bad=skip_bad,
            report=report,
        )
        warn_of_skipped(Path(path), report)

    return lambda nlp: examples_of(docs(nlp), [], limit)


def EntityColumnsCorpus(  # noqa: N802 (spaCy names registered functions like classes)
    path: Path,
    token_column: int = 1,
    tag_column: int = 2,
    levels: int = 1,
    innermost_first: bool | None = None,
    n_sents: int = 1,
    spans_key: str | None = None,
    skip_bad: bool = False,
    given: Sequence[str] = (),
    limit: int = 0,
) -> Reader:
    """Examples from a file with a token a line, or from all files of a folder, one by one.

    token_column, tag_column: counted from 1. levels: how many columns of tags, 0 for all to the end
    of the line; with several, innermost_first must be given. n_sents: sentences to a Doc, 0 for one
    Doc a file. given: as in `doc.given`, such as "sents". limit: most examples, 0 for all.
    Raises FormatError, with file and line.
    """
    check_given(given)
    columns = Columns(token_column - 1, tag_column - 1, levels or None, innermost_first)
    options: dict[str, Any] = {"n_sents": n_sents, "spans_key": spans_key, "skip_bad": skip_bad}

    def docs(nlp: Language) -> Iterator[Doc]:
        source = Path(path)
        for file in sorted(source.iterdir()) if source.is_dir() else [source]:
            report = EntityReport()
            yield from read_columns(file, nlp.vocab, columns, **options, report=report)
            warn_of_skipped(file, report)

    return lambda nlp: examples_of(docs(nlp), given, limit)
