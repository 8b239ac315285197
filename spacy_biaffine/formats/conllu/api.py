"""CoNLL-U files <-> spaCy Docs: the names other modules use."""

from collections.abc import Iterator
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..common.lines import UTF8
from .deps import ROOT, EnhancedEdge, EnhancedGraph, enhanced_edges
from .kept import copy_kept
from .merge import merge_ranges
from .read import ConlluError, ReadReport, Sentence, parse_sentences, read_sentences
from .text import source_text
from .to_docs import DocMaker, group_sentences
from .write import to_conllu, write_conllu

__all__ = [
    "ROOT",
    "ConlluError",
    "EnhancedEdge",
    "EnhancedGraph",
    "ReadReport",
    "copy_kept",
    "docs_from_conllu",
    "enhanced_edges",
    "read_conllu",
    "source_text",
    "to_conllu",
    "write_conllu",
]


def read_conllu(
    path: Path,
    vocab: Vocab,
    *,
    n_sents: int = 1,
    by_doc: bool = False,
    merge_mwt: bool = False,
    skip_bad: bool = False,
    check_deps: bool = False,
    encoding: str = UTF8,
    report: ReadReport | None = None,
) -> Iterator[Doc]:
    """Docs of a CoNLL-U file.

    n_sents: sentences to a Doc; by_doc: a Doc for each ``# newdoc`` instead.
    merge_mwt: one token for each multiword token, so that ``doc.text`` is ``# text``; otherwise the
        syntactic words are the tokens, and `source_text` gives the text back.
    skip_bad: leave out sentences that are not valid. check_deps: those with malformed DEPS are not,
        and sentences with and without DEPS do not share a Doc.
    encoding: of the file. report: filled with counts.
    Raises FormatError, with file and line.
    """
    sentences = read_sentences(
        path, report, skip_bad=skip_bad, check_deps=check_deps, encoding=encoding
    )
    return docs_of(sentences, vocab, n_sents, by_doc, merge_mwt, by_deps=check_deps)


def docs_from_conllu(
    text: str,
    vocab: Vocab,
    *,
    n_sents: int = 1,
    by_doc: bool = False,
    merge_mwt: bool = False,
    skip_bad: bool = False,
    report: ReadReport | None = None,
    name: str = "<text>",
) -> Iterator[Doc]:
    """As `read_conllu`, from text. name: what errors call it."""
    sentences = parse_sentences(text.split("\n"), name, report, skip_bad=skip_bad)
    return docs_of(sentences, vocab, n_sents, by_doc, merge_mwt)


def docs_of(
    sentences: Iterator[Sentence],
    vocab: Vocab,
    n_sents: int = 1,
    by_doc: bool = False,
    merge_mwt: bool = False,
    *,
    by_deps: bool = False,
) -> Iterator[Doc]:
    """Docs of sentences, with the options of `read_conllu`."""
    maker = DocMaker(vocab)
    if merge_mwt:
        sentences = map(merge_ranges, sentences)
    for group in group_sentences(sentences, n_sents=n_sents, by_doc=by_doc, by_deps=by_deps):
        yield maker.make(group)
