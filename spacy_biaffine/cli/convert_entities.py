"""``python -m spacy biaffine convert-entities``."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._options import Lang, MaxDocs, SkipBad

if TYPE_CHECKING:
    from ..formats.convert.entities import EntitySummary


class Form(str, Enum):
    """What the file is."""

    json = "json"
    cluener = "cluener"
    columns = "columns"


def convert_entities(
    source: Annotated[
        Path,
        typer.Argument(metavar="IN", help="JSON lines, token lines, or a folder of the latter"),
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="NAME.spacy, or NAME.jsonl")],
    form: Annotated[Form | None, typer.Option("--form", help="What IN is; see below")] = None,
    spans_key: Annotated[
        str | None,
        typer.Option("--spans-key", help="Group for nested entities; by default doc.ents"),
    ] = None,
    lang: Lang = "xx",
    characters: Annotated[
        bool, typer.Option("--characters", help="json, cluener: a token for every character")
    ] = False,
    snap: Annotated[
        bool, typer.Option("--snap", help="json, cluener: widen entities to whole tokens")
    ] = False,
    token_column: Annotated[
        int, typer.Option("--token-column", min=1, help="columns: where the tokens are, from 1")
    ] = 1,
    tag_column: Annotated[
        int, typer.Option("--tag-column", min=1, help="columns: where the tags begin, from 1")
    ] = 2,
    levels: Annotated[
        int, typer.Option("--levels", min=0, help="columns: how many of tags; 0 for all")
    ] = 1,
    innermost_first: Annotated[
        bool | None,
        typer.Option(
            "--innermost-first/--outermost-first", help="columns: their order, if several"
        ),
    ] = None,
    n_sents: Annotated[
        int,
        typer.Option("--n-sents", "-n", min=0, help="columns: sentences to a Doc; 0 for a file"),
    ] = 1,
    skip_bad: SkipBad = False,
    max_docs: MaxDocs = 100_000,
) -> None:
    """Convert files with entities to .spacy files for training, and back to JSON lines.

    json: {"text": "Oslo fjord", "entities": [[0, 4, "LOC"]]}, the end is the character after the
    last. Example: python -m spacy biaffine convert-entities a.jsonl a.spacy --form json -l en

    cluener: {"text": ..., "label": {"LOC": {"Oslo": [[0, 3]]}}}, the end is the last character.
    Example: python -m spacy biaffine convert-entities dev.json dev.spacy --form cluener -l zh
    --characters

    columns: a token a line, tabs, BIO or BIOES tags. Example: python -m spacy biaffine
    convert-entities litbank/tsv train.spacy --form columns --levels 0 --innermost-first --n-sents 0
    --spans-key sc

    Back: python -m spacy biaffine convert-entities dev.spacy dev.jsonl --spans-key sc
    """
    from wasabi import msg

    from ..formats.convert import entities as work
    from ..formats.entities.api import Columns, cluener_offsets, offsets_of
    from ._summary import docs_bar

    try:
        if target.suffix == ".jsonl":
            summary = work.spacy_to_json(source, target, spans_key=spans_key, progress=docs_bar)
        elif form is None:
            raise ValueError("say what IN is: --form json, cluener or columns; see --help")
        elif form is Form.columns:
            summary = work.columns_to_spacy(
                sorted(source.iterdir()) if source.is_dir() else [source],
                target,
                Columns(token_column - 1, tag_column - 1, levels or None, innermost_first),
                lang=lang,
                n_sents=n_sents,
                spans_key=spans_key,
                skip_bad=skip_bad,
                max_docs=max_docs,
                progress=docs_bar,
            )
        else:
            summary = work.json_to_spacy(
                source,
                target,
                cluener_offsets if form is Form.cluener else offsets_of,
                lang=lang,
                characters=characters,
                spans_key=spans_key,
                snap=snap,
                skip_bad=skip_bad,
                max_docs=max_docs,
                progress=docs_bar,
            )
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    else:
        _show(source, summary)


def _show(source: Path, summary: "EntitySummary") -> None:
    from ._summary import left_out, show_summary

    report = summary.report
    rows = [("texts", report.texts), ("docs", summary.docs), ("entities", report.entities)]
    if report.snapped:
        rows.append(("entities moved to tokens", report.snapped))
    if report.stray:
        rows.append(("tags that continue nothing", report.stray))
    show_summary(str(source), summary.files, [*rows, *left_out(report.skipped)], report.errors)
