"""Registered readers of entity files, whose examples have gold tokens."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

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
from .corpus import examples_of


class EntityJsonCorpus:
    """Examples from JSON lines with character offsets.

    cluener: CLUENER's form, whose last offset is included (see `cluener_offsets`), and not that of
        `offsets_of`.
    characters: a token for every character, instead of the pipeline's tokenizer.
    spans_key, snap, skip_bad: as in `read_entities_json`. limit: most examples, 0 for all.
    """

    def __init__(
        self,
        path: Path,
        cluener: bool = False,
        characters: bool = False,
        spans_key: str | None = None,
        snap: bool = False,
        skip_bad: bool = False,
        limit: int = 0,
    ) -> None:
        self.path = Path(path)
        self.offsets = cluener_offsets if cluener else offsets_of
        self.characters = characters
        self.spans_key = spans_key
        self.snap = snap
        self.skip_bad = skip_bad
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Examples with gold tokens. Raises FormatError, with file and line."""
        return examples_of(self._docs(nlp), [], self.limit)

    def _docs(self, nlp: Language) -> Iterator[Doc]:
        report = EntityReport()
        yield from read_entities_json(
            self.path,
            by_character(nlp.vocab) if self.characters else nlp.make_doc,
            self.offsets,
            spans_key=self.spans_key,
            snap=self.snap,
            skip_bad=self.skip_bad,
            report=report,
        )
        _warn(self.path, report)


class EntityColumnsCorpus:
    """Examples from a file with a token a line, or from all files of a folder, one by one.

    token_column, tag_column: counted from 1. levels: how many columns of tags, 0 for all to the end
    of the line; with several, innermost_first must be given. n_sents: sentences to a Doc, 0 for one
    Doc a file. given: as in `doc.given`, such as "sents". limit: most examples, 0 for all.
    """

    def __init__(
        self,
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
    ) -> None:
        check_given(given)
        self.path = Path(path)
        self.columns = Columns(token_column - 1, tag_column - 1, levels or None, innermost_first)
        self.n_sents = n_sents
        self.spans_key = spans_key
        self.skip_bad = skip_bad
        self.given = list(given)
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Examples with gold tokens. Raises FormatError, with file and line."""
        return examples_of(self._docs(nlp), self.given, self.limit)

    def _docs(self, nlp: Language) -> Iterator[Doc]:
        for file in sorted(self.path.iterdir()) if self.path.is_dir() else [self.path]:
            report = EntityReport()
            yield from read_columns(
                file,
                nlp.vocab,
                self.columns,
                n_sents=self.n_sents,
                spans_key=self.spans_key,
                skip_bad=self.skip_bad,
                report=report,
            )
            _warn(file, report)


def _warn(path: Path, report: EntityReport) -> None:
    if report.skipped:
        warnings.warn(f"{path}: left out: {dict(report.skipped)}", stacklevel=3)
