"""The work of ``spacy biaffine convert-relations``: graphs in files -> .spacy and back, counted."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...doc.graphs import DEP_GRAPH, has_graph
from ..common.docbin import MAX_DOCS, read_docbin, write_docbin
from ..common.language import vocab_for
from ..conllu.api import ReadReport, read_conllu
from ..relations.api import (
    ENTITIES,
    RelationReport,
    add_layers,
    read_conll04,
    read_scierc,
    read_spert,
    read_token_graphs,
    set_enhanced,
    write_spert,
)
from .conversion import Conversion, Progress

RelationSummary = Conversion[RelationReport]

ReadFiles = Callable[[Sequence[Path], Vocab, RelationReport], Iterator[Doc]]
"""Docs of some files, counted in the report."""


def spert_files(*, spans_key: str = ENTITIES, skip_bad: bool = False) -> ReadFiles:
    """See `read_spert`."""
    return _one_by_one(partial(read_spert, spans_key=spans_key, skip_bad=skip_bad))


def scierc_files(
    *, related_sentences: bool = False, spans_key: str = ENTITIES, skip_bad: bool = False
) -> ReadFiles:
    """See `read_scierc`."""
    read = partial(read_scierc, related_sentences=related_sentences)
    return _one_by_one(partial(read, spans_key=spans_key, skip_bad=skip_bad))


def conll04_files(
    *, ids: Sequence[str] | None = None, spans_key: str = ENTITIES, skip_bad: bool = False
) -> ReadFiles:
    """See `read_conll04`."""

    def read(paths: Sequence[Path], vocab: Vocab, report: RelationReport) -> Iterator[Doc]:
        chosen = None if ids is None else frozenset(ids)
        return read_conll04(
            paths, vocab, ids=chosen, spans_key=spans_key, skip_bad=skip_bad, report=report
        )

    return read


def graph_files(*, spans_key: str = ENTITIES, skip_bad: bool = False) -> ReadFiles:
    """See `read_token_graphs`."""
    return _one_by_one(partial(read_token_graphs, spans_key=spans_key, skip_bad=skip_bad))


def conllu_files(
    *,
    layers: Path | None = None,
    spans_key: str = ENTITIES,
    n_sents: int = 1,
    by_doc: bool = False,
    skip_bad: bool = False,
) -> ReadFiles:
    """Docs of a treebank with the graph of DEPS, and with the layers beside it; see `read_conllu`,
    `set_enhanced` and `add_layers`.
    """

    def read_file(path: Path, vocab: Vocab, report: RelationReport) -> Iterator[Doc]:
        found = ReadReport()
        yield from read_conllu(
            path,
            vocab,
            n_sents=n_sents,
            by_doc=by_doc,
            skip_bad=skip_bad,
            check_deps=True,
            report=found,
        )
        report.skipped += found.skipped
        report.errors += found.errors

    def read(paths: Sequence[Path], vocab: Vocab, report: RelationReport) -> Iterator[Doc]:
        docs: Iterable[Doc] = (doc for path in paths for doc in read_file(path, vocab, report))
        if layers is None:
            docs = _texts(docs, report)
        else:
            docs = add_layers(docs, layers, spans_key=spans_key, report=report)
        for doc in docs:
            set_enhanced(doc)
            if has_graph(doc, DEP_GRAPH):
                report.arcs += len(doc._.dep_graph)
            yield doc

    return read


def to_spacy(
    paths: Sequence[Path],
    target: Path,
    read: ReadFiles,
    *,
    lang: str = "xx",
    max_docs: int = MAX_DOCS,
    progress: Progress = iter,
) -> RelationSummary:
    """Convert files to one .spacy file; see `write_docbin`."""
    summary = RelationSummary(RelationReport())
    docs = read(paths, vocab_for(lang), summary.report)
    summary.files = write_docbin(progress(summary.counted(docs)), target, max_docs=max_docs)
    return summary


def to_spert(
    paths: Sequence[Path], target: Path, *, spans_key: str = ENTITIES, progress: Progress = iter
) -> RelationSummary:
    """Convert .spacy files, or folders of shards, to one of SpERT's JSON; see `write_spert`."""
    summary = RelationSummary(RelationReport())
    vocab = vocab_for("xx")
    docs = (doc for path in paths for doc in read_docbin(path, vocab))
    counted = _with_counts(summary.counted(docs), spans_key, summary.report)
    write_spert(progress(counted), target, spans_key=spans_key)
    summary.files = [target]
    return summary


def _with_counts(docs: Iterable[Doc], spans_key: str, report: RelationReport) -> Iterator[Doc]:
    for doc in docs:
        report.texts += 1
        report.entities += len(doc.spans.get(spans_key, doc.ents))
        report.relations += len(doc._.relations)
        yield doc


def _texts(docs: Iterable[Doc], report: RelationReport) -> Iterator[Doc]:
    for doc in docs:
        report.texts += 1
        yield doc


def _one_by_one(read: Callable[..., Iterator[Doc]]) -> ReadFiles:
    def read_all(paths: Sequence[Path], vocab: Vocab, report: RelationReport) -> Iterator[Doc]:
        for path in paths:
            yield from read(path, vocab, report=report)

    return read_all
