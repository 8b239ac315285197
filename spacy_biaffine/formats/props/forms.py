"""The forms of semantic roles."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from spacy.tokens import Doc

from ..common.language import vocab_for
from ..form import Form, Read, first_row, head
from ..options import (
    BLIND,
    ENCODING,
    N_SENTS,
    PREDICTED,
    PROPS_COLUMN,
    SKIP_AUXILIARIES,
    TAG_COLUMN,
    WORD_COLUMN,
    WORD_FRAMES,
    WORDS,
)
from .api import Parse, SpanColumns, conll09, read_props, span_columns, universal_propositions
from .conll09 import CONLL09 as CONLL09_COLUMNS
from .conll09 import UP as UP_COLUMNS
from .conll12 import OntoNotesReport, read_conll12
from .read import PropsReport
from .write import to_conll05, to_conll09


def _reader(parse_for: Callable[..., Parse], *names: str) -> Read:
    """A reader of what `parse_for` parses, given those of the options that have these names."""

    def read(
        paths: Sequence[Path], lang: str, report: PropsReport, **options: Any
    ) -> Iterator[Doc]:
        parse = parse_for(**{name: options.pop(name) for name in names if name in options})
        vocab = vocab_for(lang)
        for path in paths:
            yield from read_props(path, vocab, parse, report=report, **options)

    return read


def _conll05(
    *, word_column: int = 1, tag_column: int = 0, props_column: int = 2, blind: bool = False
) -> Parse:
    tag = tag_column - 1 if tag_column else None
    columns = SpanColumns(word=word_column - 1, xpos=tag, frame=props_column - 1, blind=blind)
    return span_columns(columns)


def _is_ontonotes(path: Path) -> bool:
    lines = [line for line in head(path).splitlines()[:-1] if line.strip() and line[0] != "#"]
    rows = [line.split() for line in lines[:1]]
    return any(len(row) > 11 and row[1].isdigit() and row[2] == "0" for row in rows)


def _is_propbank(path: Path) -> bool:
    row = first_row(path)
    return len(row) >= 9 and row[0] == "1" and row[5].isdigit() and not row[6].isdigit()


_OPTIONS = (N_SENTS, WORDS, WORD_FRAMES, SKIP_AUXILIARIES, ENCODING)

PROPBANK = Form(
    name="propbank",
    title="EWT-PropBank: number, word, lemma, UPOS, XPOS, head, label, frame, sense, brackets",
    holds=("sentences", "trees", "tags", "frames", "word_frames"),
    sample={
        "train.tsv": (
            "1\tRain\train\tNOUN\tNN\t2\tnsubj\t-\t-\t(ARG1*)\n"
            "2\tfell\tfall\tVERB\tVBD\t0\troot\tfall\tfall.01\t(V*)\n\n"
        )
    },
    example="train.tsv train.spacy --form propbank -l en --skip-auxiliaries",
    fits=_is_propbank,
    read=_reader(span_columns),
    options=_OPTIONS,
    report=PropsReport,
)

CONLL05 = Form(
    name="conll05",
    title="CoNLL-2005: words, and behind them the predicates and a column of brackets for each",
    holds=("sentences", "frames"),
    sample={"wsj.txt": "Rain\t-\t(A1*)\nfell\tfall\t(V*)\n\n"},
    example="wsj.txt wsj.spacy --form conll05 --tag-column 2 --props-column 3",
    read=_reader(_conll05, "word_column", "tag_column", "props_column", "blind"),
    options=(*_OPTIONS, WORD_COLUMN, TAG_COLUMN, PROPS_COLUMN, BLIND),
    report=PropsReport,
    write=lambda doc, number: to_conll05(doc),
)

CONLL09 = Form(
    name="conll09",
    title="CoNLL-2009: arguments are words",
    holds=("sentences", "trees", "tags", "frames", "word_frames"),
    sample={
        "train.txt": (
            "1\tRain\train\train\tNN\tNN\t_\t_\t2\t2\tSBJ\tSBJ\t_\t_\tA1\n"
            "2\tfell\tfall\tfall\tVBD\tVBD\t_\t_\t0\t0\tROOT\tROOT\tY\tfall.01\t_\n\n"
        )
    },
    example="train.txt train.spacy --form conll09 --predicted",
    fits=lambda path: len(row := first_row(path)) >= CONLL09_COLUMNS and row[12] in ("Y", "_"),
    read=_reader(conll09, "predicted", "blind"),
    options=(*_OPTIONS, PREDICTED, BLIND),
    report=PropsReport,
    write=lambda doc, number: to_conll09(doc),
)

UP = Form(
    name="up",
    title="Universal Propositions: CoNLL-U with further columns; arguments are words",
    holds=("sentences", "trees", "tags", "frames"),
    sample={
        "en_x-up-train.conllu": (
            "1\tRain\train\tNOUN\tNN\t_\t2\tnsubj\t_\t_\t_\tA1\n"
            "2\tfell\tfall\tVERB\tVBD\t_\t0\troot\t_\t_\tfall.01\t_\n\n"
        )
    },
    example="en_ewt-up-train.conllu train.spacy --form up -l en",
    fits=lambda path: path.suffix == ".conllu" and len(first_row(path)) >= UP_COLUMNS,
    read=_reader(lambda: universal_propositions),
    options=_OPTIONS,
    report=PropsReport,
)

CONLL12 = Form(
    name="conll12",
    title="CoNLL-2012, OntoNotes' *_gold_conll: tags, named entities, roles; brackets may nest",
    holds=("sentences", "tags", "entities", "frames"),
    sample={
        "x_gold.conll": (
            "#begin document (x); part 000\n"
            "x 0 0 Oslo NNP (TOP(S(NP*) - - - - (GPE) (ARG1*) (0)\n"
            "x 0 1 grew VBD (VP*))) grow 01 1 - * (V*) -\n\n#end document\n"
        )
    },
    example="x_gold.conll train.spacy -l en",
    fits=_is_ontonotes,
    read=read_conll12,
    options=_OPTIONS,
    report=OntoNotesReport,
)
