"""``python -m spacy biaffine convert-labels``."""

from pathlib import Path
from typing import Annotated

import typer

from ._options import Lang, MaxDocs


def convert_labels(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A token and its label a line")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="NAME.spacy")],
    label_to: Annotated[
        str, typer.Option("--target", help="Where labels go: tag, pos, or _.NAME")
    ] = "tag",
    token_column: Annotated[
        int, typer.Option("--token-column", min=1, help="Where the tokens are, from 1")
    ] = 1,
    label_column: Annotated[
        int, typer.Option("--label-column", min=1, help="Where the labels are, from 1")
    ] = 2,
    n_sents: Annotated[int, typer.Option("--n-sents", "-n", min=1, help="Sentences to a Doc")] = 1,
    lang: Lang = "xx",
    max_docs: MaxDocs = 100_000,
) -> None:
    """Convert a file with a token and its label a line to .spacy files for training a tagger.

    Columns stand between tabs, in lines without a tab between blanks; an empty line ends a
    sentence, and the label _ is none.

    Example: python -m spacy biaffine convert-labels supertags.txt train.spacy --target _.supertag
    """
    from wasabi import msg

    from ..formats.common.docbin import write_docbin
    from ..formats.common.language import vocab_for
    from ..formats.convert.conversion import Conversion
    from ..formats.entities.label_columns import read_labels
    from ._summary import docs_bar, show_summary

    summary = Conversion(None)
    try:
        docs = read_labels(
            source,
            vocab_for(lang),
            target=label_to,
            token=token_column - 1,
            label=label_column - 1,
            n_sents=n_sents,
        )
        summary.files = write_docbin(docs_bar(summary.counted(docs)), target, max_docs=max_docs)
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)
    show_summary(str(source), summary.files, [("docs", summary.docs)], [])
