"""``python -m spacy biaffine convert-roles``."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._options import Lang, MaxDocs, SkipBad

if TYPE_CHECKING:
    from ..formats.convert.props import RoleSummary


class Form(str, Enum):
    """What the file with roles is."""

    propbank = "propbank"
    conll05 = "conll05"
    conll09 = "conll09"
    up = "up"


def convert_roles(
    source: Annotated[Path, typer.Argument(metavar="IN", help="File with roles, or NAME.spacy")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="NAME.spacy, or file with roles")],
    form: Annotated[Form, typer.Option("--form", help="Form of the file with roles; see below")],
    n_sents: Annotated[int, typer.Option("--n-sents", "-n", min=1, help="Sentences to a Doc")] = 1,
    words: Annotated[
        bool,
        typer.Option("--words", help="Arguments as words instead of spans, by the sentence's tree"),
    ] = False,
    word_frames: Annotated[
        bool,
        typer.Option("--word-frames", help="Arguments as words too, in doc._.word_frames"),
    ] = False,
    skip_auxiliaries: Annotated[
        bool,
        typer.Option("--skip-auxiliaries", help="Leave out be.03, do.01, get.03, have.01 on AUX"),
    ] = False,
    predicted: Annotated[
        bool, typer.Option("--predicted", help="conll09: syntax of the P columns")
    ] = False,
    word_column: Annotated[
        int, typer.Option("--word-column", min=1, help="conll05: where the words are, from 1")
    ] = 1,
    tag_column: Annotated[
        int, typer.Option("--tag-column", min=0, help="conll05: where tags are, 0 for nowhere")
    ] = 0,
    props_column: Annotated[
        int, typer.Option("--props-column", min=1, help="conll05: where the predicates are, from 1")
    ] = 2,
    lang: Lang = "xx",
    skip_bad: SkipBad = False,
    max_docs: MaxDocs = 100_000,
) -> None:
    """Convert files with semantic roles to .spacy files with doc._.frames, and back.

    propbank: number, word, lemma, UPOS, XPOS, head, label, frame, sense, and one column of brackets
    for each predicate. Example: python -m spacy biaffine convert-roles train.tsv train.spacy --form
    propbank -l en --skip-auxiliaries

    conll05: the columns of CoNLL-2005 behind the words; --props-column is the first of them.
    Example: python -m spacy biaffine convert-roles wsj.txt wsj.spacy --form conll05 --tag-column 2
    --props-column 3

    conll09: CoNLL-2009, arguments are words. Example: python -m spacy biaffine convert-roles
    train.txt train.spacy --form conll09 --predicted

    up: Universal Propositions, CoNLL-U with further columns; arguments are words. Example: python
    -m spacy biaffine convert-roles en_ewt-up-train.conllu train.spacy --form up -l en

    Back, to conll05 or conll09: python -m spacy biaffine convert-roles dev.spacy dev.txt --form
    conll05
    """
    from wasabi import msg

    from ..formats.convert import props as work
    from ..formats.props import api as props
    from ._summary import docs_bar

    writers = {Form.conll05: props.write_conll05, Form.conll09: props.write_conll09}
    try:
        columns = props.SpanColumns(
            word=word_column - 1,
            xpos=tag_column - 1 if tag_column else None,
            frame=props_column - 1,
        )
        parsers = {
            Form.propbank: props.span_columns(),
            Form.conll05: props.span_columns(columns),
            Form.conll09: props.conll09(predicted=predicted),
            Form.up: props.universal_propositions,
        }
        if target.suffix == ".spacy":
            summary = work.props_to_spacy(
                source,
                target,
                parsers[form],
                lang=lang,
                n_sents=n_sents,
                words=words,
                word_frames=word_frames,
                skip_auxiliaries=skip_auxiliaries,
                skip_bad=skip_bad,
                max_docs=max_docs,
                progress=docs_bar,
            )
        elif form not in writers:
            raise ValueError(f"{target}: roles are written as --form conll05 or conll09")
        else:
            summary = work.spacy_to_props(source, target, writers[form], progress=docs_bar)
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)
    else:
        _show(source, summary)


def _show(source: Path, summary: "RoleSummary") -> None:
    from ._summary import left_out, show_summary

    report = summary.report
    rows = [("sentences", report.sentences), ("docs", summary.docs)]
    further = [
        ("words", report.words),
        ("predicates", report.predicates),
        ("arguments", sum(report.roles.values())),
        ("labels", len(report.roles)),
        ("auxiliaries left out", report.auxiliaries),
        ("sentences without roles left out", report.unannotated),
        ("sentences without a tree", report.treeless),
    ]
    rows += [row for row in further if row[1]]
    show_summary(str(source), summary.files, [*rows, *left_out(report.skipped)], report.errors)
