"""The token lines of CoNLL04 as Bekoulis et al. (2018) have them -> Docs."""

import ast
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ...decode.bioes import spans_of_tags
from ..common.lines import UTF8, FormatError, check_encoding, numbered_lines
from ..entities.bio_columns import checked_tag, count_stray
from ..entities.to_docs import is_label
from .to_docs import ENTITIES, RelationReport, annotate, doc_of

Block = list[tuple[str, list[str]]]
"""Places and cells of a sentence's lines."""

N_COLUMNS = 5


def read_conll04(
    paths: Sequence[Path],
    vocab: Vocab,
    *,
    ids: Collection[str] | None = None,
    spans_key: str = ENTITIES,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: RelationReport | None = None,
) -> Iterator[Doc]:
    """A Doc for each sentence of some files, after a line "#doc ID".

    Columns are separated by tabs: the token's number from 0; the token; its BIO tag, where one that
    continues no entity begins one; a list of relation labels; a list of as many token numbers. A
    relation stands at the last token of its first entity and names the last token of its second;
    ['N'] with the token's own number stands for none.

    ids: only these sentences, such as those of `read_ids`. spans_key: the group for the entities;
    see `annotate`. skip_bad: leave out sentences that can't be read. Raises FormatError, with file
    and line, or for ids that no file has.
    """
    report = RelationReport() if report is None else report
    missing = set(ids or ())
    for path in paths:
        for identifier, block in _blocks(path, encoding):
            if not block:
                report.not_kept["sentences without a token"] += 1
                missing.discard(identifier)
                continue
            if ids is None or identifier in ids:
                missing.discard(identifier)
                make = partial(_doc, identifier, block, vocab, spans_key, report)
                yield from report.attempt(make, skip_bad=skip_bad)
    if missing:
        names = ", ".join(sorted(missing)[:10])
        where = ", ".join(map(str, paths))
        raise FormatError(where, "ids", f"{len(missing)} of the ids are not there: {names}")


def read_ids(path: Path, split: str) -> list[str]:
    """The ids of one split: the line SPLIT, tab, ids separated by blanks. # begins a comment.

    Raises FormatError where there is no such line.
    """
    splits = {}
    for place, line in numbered_lines(path):
        check_encoding([(place, line)])
        name, tab, ids = line.partition("\t")
        if tab and not line.startswith("#"):
            splits[name.strip()] = ids.split()
    if split not in splits:
        known = ", ".join(splits) or "none"
        raise FormatError(str(path), "ids", f"no line of ids for {split!r}; there are: {known}")
    return splits[split]


def _blocks(path: Path, encoding: str) -> Iterator[tuple[str, Block]]:
    identifier, block = "", Block()
    begun = False
    for place, line in numbered_lines(path, encoding):
        if line.startswith("#doc"):
            if begun or block:
                yield identifier, block
            begun = True
            identifier, block = line.removeprefix("#doc").strip(), []
        elif line.strip():
            block.append((place, line.split("\t")))
    if begun or block:
        yield identifier, block


def _doc(
    identifier: str, block: Block, vocab: Vocab, spans_key: str, report: RelationReport
) -> Doc:
    check_encoding((place, "\t".join(cells)) for place, cells in block)
    for at, (place, cells) in enumerate(block):
        if len(cells) != N_COLUMNS or cells[0] != str(at):
            raise FormatError(
                place,
                "columns",
                f"wanted {N_COLUMNS} columns separated by tabs, the first of them {at}, the "
                f"token's number after #doc",
            )
    first = block[0][0]
    doc = doc_of(vocab, [cells[1] for _, cells in block], first)
    tags = [checked_tag(place, cells[2]) for place, cells in block]
    entities = [Span(doc, start, end, label=kind) for start, end, kind in spans_of_tags(tags)]
    by_last = {entity.end - 1: entity for entity in entities}
    relations = [
        (_entity_at(by_last, at, place), _entity_at(by_last, tail, place), label)
        for at, (place, cells) in enumerate(block)
        for label, tail in _relations(place, cells, at)
    ]
    annotate(
        doc, entities, relations, first, spans_key=spans_key, report=report, identifier=identifier
    )
    report.stray += count_stray(tags)
    return doc


def _relations(place: str, cells: list[str], at: int) -> list[tuple[str, int]]:
    labels, tails = (_literal(place, cell) for cell in cells[3:])
    if len(labels) != len(tails):
        raise FormatError(place, "relation", f"{len(labels)} labels, but {len(tails)} tokens")
    pairs = list(zip(labels, tails, strict=True))
    for label, tail in pairs:
        if not is_label(label) or type(tail) is not int:
            raise FormatError(place, "relation", f"{label!r} to {tail!r} is no label and token")
    return [] if pairs == [("N", at)] else pairs


def _literal(place: str, cell: str) -> list[Any]:
    try:
        value = ast.literal_eval(cell.strip())
    # What ast.literal_eval raises; the last two where brackets are nested too deeply.
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise FormatError(place, "relation", f"{cell!r:.60} is no list such as ['N']") from error
    if not isinstance(value, list):
        raise FormatError(place, "relation", f"{cell!r:.60} is no list such as ['N']")
    return value


def _entity_at(by_last: dict[int, Span], at: int, place: str) -> Span:
    if at not in by_last:
        raise FormatError(place, "relation", f"no entity ends at token {at}, which has a relation")
    return by_last[at]
