"""Files with semantic roles <-> Docs with doc._.frames: the names other modules use."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..common.lines import UTF8
from .conll05 import EWT_PROPBANK, SpanColumns, parse_span_block
from .conll09 import parse_conll09_block, parse_up_block
from .read import Block, PropSentence, PropsReport, read_blocks
from .to_docs import docs_of_props, frames_of_words
from .write import to_conll05, to_conll09, write_conll05, write_conll09

__all__ = [
    "EWT_PROPBANK",
    "Parse",
    "PropsReport",
    "SpanColumns",
    "conll09",
    "frames_of_words",
    "read_props",
    "span_columns",
    "to_conll05",
    "to_conll09",
    "universal_propositions",
    "write_conll05",
    "write_conll09",
]

Parse = Callable[[Block], PropSentence]
"""A sentence's lines -> its words and predicates; it makes the form of a file."""


def span_columns(columns: SpanColumns = EWT_PROPBANK) -> Parse:
    """Argument spans in brackets: EWT-PropBank's table, or CoNLL-2005 with other columns."""
    return partial(parse_span_block, columns=columns)


def conll09(*, predicted: bool = False, blind: bool = False) -> Parse:
    """CoNLL-2009. predicted: syntax from the columns of automatic tools, not of the annotators.
    blind: predicates are given, and there are no columns of arguments."""
    return partial(parse_conll09_block, predicted=predicted, blind=blind)


universal_propositions: Parse = parse_up_block
"""CoNLL-U with columns for the sense and for each predicate."""


def read_props(
    path: Path,
    vocab: Vocab,
    parse: Parse,
    *,
    n_sents: int = 1,
    words: bool = False,
    word_frames: bool = False,
    skip_auxiliaries: bool = False,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: PropsReport | None = None,
) -> Iterator[Doc]:
    """Docs of a file with semantic roles, with what syntax it has.

    The first span of a predicate begins with the word that is annotated as such; its other pieces
    follow. C-X pieces are spans of the argument that they continue, R-X is a label like others. A
    tree is read where it is complete and has one root.
    n_sents: sentences to a Doc. words: arguments as words (see `frames_of_words`). word_frames:
    these too, as doc._.word_frames.
    skip_auxiliaries: leave out be.03, do.01, get.03 and have.01 where the word is tagged AUX.
    skip_bad: leave out sentences that can't be read. report: filled with counts.
    Raises FormatError, with file and line.
    """
    report = PropsReport() if report is None else report
    sentences = read_blocks(
        path,
        parse,
        report,
        encoding=encoding,
        skip_auxiliaries=skip_auxiliaries,
        skip_bad=skip_bad,
    )
    return docs_of_props(sentences, vocab, n_sents=n_sents, words=words, word_frames=word_frames)
