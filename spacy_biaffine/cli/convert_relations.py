"""``python -m spacy biaffine convert-relations``."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._options import Lang, MaxDocs, SkipBad

if TYPE_CHECKING:
    from ..formats.convert.relations import ReadFiles, RelationSummary


class Form(str, Enum):
    """What the files are."""

    spert = "spert"
    scierc = "scierc"
    conll04 = "conll04"
    graph = "graph"
    conllu = "conllu"


def convert_relations(
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="Files, joined to one")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="NAME.spacy, or NAME.json")],
    form: Annotated[Form | None, typer.Option("--form", help="What IN is; see below")] = None,
    spans_key: Annotated[
        str, typer.Option("--spans-key", help="Group for the entities, nested ones too")
    ] = "entities",
    lang: Lang = "xx",
    related_sentences: Annotated[
        bool,
        typer.Option(
            "--related-sentences", help="scierc: only sentences with a relation, a Doc each"
        ),
    ] = False,
    ids: Annotated[
        Path | None,
        typer.Option("--ids", help="conll04: file of the ids of each split, with --split"),
    ] = None,
    split: Annotated[
        str | None, typer.Option("--split", help="conll04: which line of --ids")
    ] = None,
    layers: Annotated[
        Path | None,
        typer.Option("--layers", help="conllu: entities, relations, frames; JSON lines"),
    ] = None,
    n_sents: Annotated[
        int, typer.Option("--n-sents", "-n", min=1, help="conllu: sentences to a Doc")
    ] = 1,
    by_doc: Annotated[
        bool, typer.Option("--by-doc", help="conllu: a Doc for each '# newdoc'")
    ] = False,
    skip_bad: SkipBad = False,
    max_docs: MaxDocs = 100_000,
) -> None:
    """Convert files with relations and other graphs to .spacy files, and back to SpERT's JSON.

    spert: {"tokens": [...], "entities": [{"type": "Peop", "start": 0, "end": 2}], "relations":
    [{"type": "Live_In", "head": 0, "tail": 1}]}, one array or an object a line; ends are the token
    after the last. Example: python -m spacy biaffine convert-relations a.json a.spacy --form spert

    scierc: documents, an object a line; numbers count the document's tokens, ends are the last
    one. Example: python -m spacy biaffine convert-relations train.json train.spacy --form scierc
    --related-sentences

    conll04: a token a line after "#doc ID". Example: python -m spacy biaffine convert-relations
    train.txt dev.txt train.spacy --form conll04 --ids spert_split_ids.txt --split train

    graph: {"words": [...], "pos_tags": [...], "head_indices": [...], "head_tags": [...]}, heads
    count from 1, and 0 is none; arcs go to doc._.dep_graph. Example: python -m spacy biaffine
    convert-relations graphs.json graphs.spacy --form graph

    conllu: a treebank; the graph of DEPS goes to doc._.dep_graph, empty nodes collapsed, and
    --layers to entities, doc._.relations and doc._.frames; what is absent from an object of them is
    not annotated. Example: python -m spacy biaffine convert-relations en_sampler-ud-dev.conllu
    dev.spacy --form conllu --layers en_sampler-layers-dev.jsonl

    Back: python -m spacy biaffine convert-relations dev.spacy dev.json
    """
    from wasabi import msg

    from ..formats.convert import relations as work
    from ._summary import docs_bar

    try:
        if target.suffix == ".json":
            summary = work.to_spert(sources, target, spans_key=spans_key, progress=docs_bar)
        else:
            summary = work.to_spacy(
                sources,
                target,
                _reader(
                    form,
                    spans_key,
                    related_sentences,
                    ids,
                    split,
                    layers,
                    n_sents,
                    by_doc,
                    skip_bad,
                ),
                lang=lang,
                max_docs=max_docs,
                progress=docs_bar,
            )
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)
    else:
        _show(sources, summary)


def _reader(
    form: Form | None,
    spans_key: str,
    related_sentences: bool,
    ids: Path | None,
    split: str | None,
    layers: Path | None,
    n_sents: int,
    by_doc: bool,
    skip_bad: bool,
) -> "ReadFiles":
    from ..formats.convert import relations as work
    from ..formats.relations.api import read_ids

    if (ids is None) != (split is None):
        raise ValueError("--ids and --split go together: a file of ids, and which line of it")
    if form is None:
        names = ", ".join(each.value for each in Form)
        raise ValueError(f"say what IN is: --form, one of {names}; see --help")
    if form is Form.spert:
        return work.spert_files(spans_key=spans_key, skip_bad=skip_bad)
    if form is Form.scierc:
        return work.scierc_files(
            related_sentences=related_sentences, spans_key=spans_key, skip_bad=skip_bad
        )
    if form is Form.conll04:
        chosen = None if ids is None or split is None else read_ids(ids, split)
        return work.conll04_files(ids=chosen, spans_key=spans_key, skip_bad=skip_bad)
    if form is Form.graph:
        return work.graph_files(spans_key=spans_key, skip_bad=skip_bad)
    return work.conllu_files(
        layers=layers, spans_key=spans_key, n_sents=n_sents, by_doc=by_doc, skip_bad=skip_bad
    )


def _show(sources: list[Path], summary: "RelationSummary") -> None:
    from ._summary import left_out, show_summary

    report = summary.report
    rows = [
        ("texts", report.texts),
        ("docs", summary.docs),
        ("entities", report.entities),
        ("relations", report.relations),
    ]
    further = [
        ("arcs", report.arcs),
        ("frames", report.frames),
        ("listed again, kept once", report.repeated),
        ("tags that continue nothing", report.stray),
    ]
    rows += [row for row in further if row[1]]
    show_summary(
        " ".join(map(str, sources)),
        summary.files,
        [*rows, *left_out(report.skipped)],
        report.errors,
    )
