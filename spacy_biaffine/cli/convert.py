"""``python -m spacy biaffine convert``."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._options import MaxDocs, SkipBad

if TYPE_CHECKING:
    from ..formats.convert.conllu import Summary


class Format(str, Enum):
    """What to write."""

    spacy = "spacy"
    conllu = "conllu"


def convert(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="CoNLL-U file, UD treebank folder, or .spacy file")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="NAME.spacy or NAME.conllu, or a folder")
    ],
    n_sents: Annotated[
        int,
        typer.Option("--n-sents", "-n", min=1, help="Sentences to a Doc, never across '# newdoc'"),
    ] = 1,
    by_doc: Annotated[bool, typer.Option("--by-doc", help="One Doc for each '# newdoc'")] = False,
    merge_mwt: Annotated[
        bool,
        typer.Option(
            "--merge-mwt", help="One token for each multiword token: the text is as written"
        ),
    ] = False,
    skip_bad: SkipBad = False,
    lang: Annotated[
        str | None,
        typer.Option("--lang", "-l", help="Language code; by default from the file name, else xx"),
    ] = None,
    max_docs: MaxDocs = 100_000,
    to: Annotated[
        Format | None, typer.Option("--to", help="What to write; by default as the file names say")
    ] = None,
) -> None:
    """Convert CoNLL-U to .spacy files for training, and back. For entities: convert-entities.

    A UD treebank folder gives train.spacy, dev.spacy and test.spacy, as far as present.

    Example: python -m spacy biaffine convert UD_English-EWT corpus --n-sents 3

    Back: python -m spacy biaffine convert corpus/dev.spacy dev.conllu
    """
    from wasabi import msg

    from ..formats.convert import conllu as work
    from ._summary import docs_bar

    try:
        to_conllu = work.writes_conllu(source, target) if to is None else to is Format.conllu
        for file, out in work.plan(source, target, to_conllu=to_conllu):
            if to_conllu:
                summary = work.spacy_to_conllu(file, out, progress=docs_bar)
            else:
                summary = work.conllu_to_spacy(
                    file,
                    out,
                    lang=lang,
                    n_sents=n_sents,
                    by_doc=by_doc,
                    merge_mwt=merge_mwt,
                    skip_bad=skip_bad,
                    max_docs=max_docs,
                    progress=docs_bar,
                )
            _show(file, summary)
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)


def _show(source: Path, summary: "Summary") -> None:
    from ._summary import left_out, show_summary

    report = summary.report
    rows = [
        ("sentences", report.sentences),
        ("docs", summary.docs),
        ("files", len(summary.files)),
    ]
    if report.words:  # read from CoNLL-U
        rows[1:1] = [
            ("words", report.words),
            ("multiword tokens", report.ranges),
            ("empty nodes", report.empty_nodes),
        ]
    show_summary(str(source), summary.files, [*rows, *left_out(report.skipped)], report.errors)
