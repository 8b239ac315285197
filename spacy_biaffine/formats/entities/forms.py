"""The forms of entities, and of labels of words."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from ..common.language import vocab_for
from ..form import Form, Read, has_keys, head, keys_of
from ..options import (
    CHARACTERS,
    ENCODING,
    INNERMOST_FIRST,
    LABEL_COLUMN,
    LABEL_TO,
    LEVELS,
    N_SENTS,
    SNAP,
    SPANS_KEY,
    TAG_COLUMN,
    TOKEN_COLUMN,
)
from .bio_columns import Columns, read_columns
from .json_offsets import (
    ReadOffsets,
    cluener_offsets,
    entities_text,
    offsets_of,
    read_entities_json,
)
from .label_columns import LabelReport, read_labels
from .report import EntityReport
from .to_docs import by_character


def _json_reader(offsets: ReadOffsets) -> Read:
    def read(
        paths: Sequence[Path],
        lang: str,
        report: EntityReport,
        *,
        characters: bool = False,
        **options: Any,
    ) -> Iterator[Doc]:
        nlp = spacy.blank(lang)
        tokenize = by_character(nlp.vocab) if characters else nlp.make_doc
        for path in paths:
            yield from read_entities_json(path, tokenize, offsets, report=report, **options)

    return read


def _read_columns(
    paths: Sequence[Path],
    lang: str,
    report: EntityReport,
    *,
    token_column: int = 1,
    tag_column: int = 2,
    levels: int = 1,
    innermost_first: bool | None = None,
    **options: Any,
) -> Iterator[Doc]:
    """Of files, and of all files in folders; columns count from 1."""
    vocab = vocab_for(lang)
    columns = Columns(token_column - 1, tag_column - 1, levels or None, innermost_first)
    files = [
        file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]
    for file in files:
        yield from read_columns(file, vocab, columns, report=report, **options)


def _read_labels(
    paths: Sequence[Path],
    lang: str,
    report: LabelReport,
    *,
    token_column: int = 1,
    label_column: int = 2,
    label_to: str = "tag",
    **options: Any,
) -> Iterator[Doc]:
    vocab = vocab_for(lang)
    for path in paths:
        yield from read_labels(
            path,
            vocab,
            target=label_to,
            token=token_column - 1,
            label=label_column - 1,
            report=report,
            **options,
        )


def _has_one_column_of_tags(path: Path) -> bool:
    rows = [line.split("\t") for line in head(path).splitlines()[:-1] if line.strip()]
    tags = {row[-1][:2] for row in rows}
    return (
        all(len(row) == 2 for row in rows)
        and tags <= {"O", "B-", "I-", "E-", "S-", "L-", "U-"}
        and not tags.isdisjoint({"B-", "S-", "U-"})
    )


_LABEL_OBJECT = re.compile(r'"label"\s*:\s*\{')


def _has_entities(text: str) -> bool:
    """Whether it has "entities", and is neither of doccano nor with further layers."""
    keys = keys_of(text)
    others = {"format", "Comments"}
    return keys >= {"text", "entities"} and not keys & others and '"start_offset"' not in text


JSON = Form(
    name="json",
    title='JSON lines {"text": "Oslo fjord", "entities": [[0, 4, "LOC"]]}; ends are exclusive',
    holds=("entities", "spans"),
    sample={"a.jsonl": json.dumps({"text": "Oslo fjord", "entities": [[0, 4, "LOC"]]}) + "\n"},
    example="a.jsonl a.spacy --form json -l en",
    fits=lambda path: _has_entities(head(path)),
    read=_json_reader(offsets_of),
    options=(SPANS_KEY, CHARACTERS, SNAP, ENCODING),
    report=EntityReport,
    write=entities_text,
    keeps_keys=True,
    write_options=(SPANS_KEY,),
    suffix=".jsonl",
    aliases=("entities",),
)

CLUENER = Form(
    name="cluener",
    title='JSON lines {"text": , "label": {"LOC": {"Oslo": [[0, 3]]}}}; ends are inclusive',
    holds=("entities", "spans"),
    sample={
        "dev.json": json.dumps({"text": "Oslo fjord", "label": {"LOC": {"Oslo": [[0, 3]]}}}) + "\n"
    },
    example="dev.json dev.spacy --form cluener -l zh --characters",
    fits=lambda path: (
        has_keys(path, "text", "label") and _LABEL_OBJECT.search(head(path)) is not None
    ),
    read=_json_reader(cluener_offsets),
    options=(SPANS_KEY, CHARACTERS, SNAP, ENCODING),
    report=EntityReport,
)

COLUMNS = Form(
    name="columns",
    title="A token a line, tabs, BIO or BIOES tags; a file, or a folder of files",
    holds=("sentences", "entities", "spans"),
    sample={"dev.tsv": "Oslo\tB-LOC\nfjord\tO\n\n"},
    example=(
        "litbank/tsv train.spacy --form columns --levels 0 --innermost-first --n-sents 0 "
        "--spans-key sc"
    ),
    fits=_has_one_column_of_tags,
    folders=True,
    read=_read_columns,
    options=(*(SPANS_KEY, TOKEN_COLUMN, TAG_COLUMN, LEVELS, INNERMOST_FIRST, N_SENTS, ENCODING),),
    report=EntityReport,
)

LABELS = Form(
    name="labels",
    title="A token and its label a line, between tabs or blanks; the label _ is none",
    holds=("sentences", "tags"),
    sample={"supertags.txt": "rain NN\nfell _\n\n"},
    example="supertags.txt train.spacy --form labels --target _.supertag",
    read=_read_labels,
    options=(LABEL_TO, TOKEN_COLUMN, LABEL_COLUMN, N_SENTS, ENCODING),
    report=LabelReport,
)
