"""Token lines with BIO or BIOES tags, one column for each level of nesting -> Docs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...decode.bioes import bioes_of_biluo, span_type, spans_of_tags
from ..common.lines import (
    UTF8,
    FormatError,
    Line,
    blocks,
    check_encoding,
    numbered_lines,
    unread_cells,
)
from .report import EntityReport
from .to_docs import is_label, set_entities

DOCSTART = "-DOCSTART-"
"""Begins a document in CoNLL-2003; it is no word."""

LevelSpans = list[tuple[int, int, str]]


@dataclass(frozen=True)
class Columns:
    """What stands where; columns count from 0.

    tag: the first column of tags. levels: how many there are, None for all to the end of the line.
    innermost_first: whether an entity inside another one stands in an earlier column. It has to be
        said, True or False, where there are several levels, and is checked.
    """

    token: int = 0
    tag: int = 1
    levels: int | None = 1
    innermost_first: bool | None = None

    def __post_init__(self) -> None:
        if min(self.token, self.tag) < 0 or (self.levels is not None and self.levels < 1):
            raise ValueError(
                "token_column and tag_column must be 1 or more, and levels 0 or more: the first "
                "column is 1."
            )
        if self.levels != 1 and self.innermost_first is None:
            raise ValueError(
                "Several levels of entities: say whether the innermost or the outermost one is "
                "first (innermost_first, --innermost-first or --outermost-first)."
            )


def read_columns(
    path: Path,
    vocab: Vocab,
    columns: Columns,
    *,
    n_sents: int = 1,
    spans_key: str | None = None,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: EntityReport | None = None,
) -> Iterator[Doc]:
    """Docs of n_sents sentences, 0 for one Doc, from a file with a token a line.

    Columns are separated by tabs. Sentences end at lines that are empty or hold blanks alone; lines
    that begin with # and have no tab are comments. These, lines of -DOCSTART-, and columns that are
    not read are counted. A tag that continues no entity begins one.
    spans_key: the group for the entities; None for doc.ents, which can't hold nested ones.
    skip_bad: leave out sentences that can't be read. Raises FormatError, with file and line.
    """
    if n_sents < 0:
        raise ValueError(f"n_sents must be 0 or more, not {n_sents}")
    report = EntityReport() if report is None else report
    waiting: list[Doc] = []
    lines = _without_marks(numbered_lines(path, encoding), report)
    for block in blocks(lines):
        make = partial(_sentence, block, vocab, columns, spans_key, report)
        waiting += report.attempt(make, skip_bad=skip_bad)
        if n_sents and len(waiting) == n_sents:
            yield _joined(waiting)
            waiting = []
    if waiting:
        yield _joined(waiting)


def _without_marks(lines: Iterable[Line], report: EntityReport) -> Iterator[Line]:
    """Lines of tokens and blank ones; others are counted."""
    for place, line in lines:
        if line.startswith("#") and "\t" not in line:
            report.not_kept["comments"] += 1
        elif line.partition("\t")[0] == DOCSTART:
            report.not_kept[f"lines {DOCSTART}"] += 1
        else:
            yield place, line


def _sentence(
    block: list[Line], vocab: Vocab, columns: Columns, spans_key: str | None, report: EntityReport
) -> Doc:
    check_encoding(block)
    rows = [line.rstrip("\t").split("\t") for _, line in block]
    wanted = len(rows[0]) if columns.levels is None else columns.tag + columns.levels
    for (place, _), row in zip(block, rows, strict=True):
        _check_row(place, row, columns, wanted)
    report.not_kept.update(unread_cells(rows, (columns.token, *range(columns.tag, wanted))))
    doc = Doc(vocab, words=[row[columns.token] for row in rows])
    levels = []
    for column in range(columns.tag, wanted):
        tags = [
            checked_tag(place, row[column]) for (place, _), row in zip(block, rows, strict=True)
        ]
        report.stray += count_stray(tags)
        levels.append(spans_of_tags(tags))
    place = block[0][0]
    if columns.innermost_first is not None:
        _check_order(place, doc, levels, innermost_first=columns.innermost_first)
    outward = levels[::-1] if columns.innermost_first else levels
    spans = [Span(doc, start, end, label=kind) for level in outward for start, end, kind in level]
    set_entities(doc, spans, place, spans_key=spans_key, report=report)
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


def _joined(sentences: list[Doc]) -> Doc:
    if len(sentences) == 1:
        return sentences[0]
    doc = Doc.from_docs(sentences, ensure_whitespace=False)
    assert doc is not None
    # from_docs leaves out groups that are empty everywhere.
    for key in sentences[0].spans:
        if key not in doc.spans:
            doc.spans[key] = []
    return doc


def _check_row(place: str, row: list[str], columns: Columns, wanted: int) -> None:
    least = max(wanted, columns.tag + 1, columns.token + 1)
    is_short = len(row) < least
    if is_short or (columns.levels is None and len(row) != wanted):
        raise FormatError(
            place,
            "columns",
            f"{len(row)} columns where {least} are wanted; columns are separated by tabs",
        )
    if not row[columns.token].strip():
        raise FormatError(place, "columns", "the token is empty")


def checked_tag(place: str, tag: str) -> str:
    """The tag in BIOES. Raises FormatError at place for what is no tag."""
    is_span = tag[:2] in {f"{p}-" for p in "BIESLU"} and is_label(span_type(tag))
    if tag != "O" and not is_span:
        raise FormatError(place, "tag", f"{tag!r} is no tag such as O, B-PER or I-PER")
    return bioes_of_biluo(tag)


def count_stray(tags: Sequence[str]) -> int:
    """Tags that continue an entity which the one before does not leave open."""
    before = ["O", *tags]
    return sum(
        tag[0] in "IE" and last not in (f"B{tag[1:]}", f"I{tag[1:]}")
        for last, tag in zip(before, tags, strict=False)
    )


def _check_order(
    place: str, doc: Doc, levels: Sequence[LevelSpans], *, innermost_first: bool
) -> None:
    outward = levels if innermost_first else levels[::-1]
    for number, level in enumerate(outward):
        for start, end, _ in level:
            for low, high, _ in (span for outer in outward[number + 1 :] for span in outer):
                if start <= low and high <= end and (start, end) != (low, high):
                    first = "innermost" if innermost_first else "outermost"
                    raise FormatError(
                        place,
                        "order",
                        f"{doc[low:high].text!r} is inside {doc[start:end].text!r}: the levels are "
                        f"not {first} first",
                    )
