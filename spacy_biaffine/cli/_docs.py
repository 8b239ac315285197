"""Files with annotation as Docs, for the commands that read any of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab


def read_docs(
    path: Path,
    vocab: "Vocab",
    *,
    n_sents: int = 1,
    by_doc: bool = False,
    merge_mwt: bool = False,
) -> Iterator["Doc"]:
    """Docs of a CoNLL-U file, of a .spacy file, or of all .spacy files in a folder.

    n_sents, by_doc, merge_mwt: of CoNLL-U, as in `read_conllu`.
    Raises ConlluError, with file and line; OSError; ValueError for files of another kind.
    """
    from ..formats.common.docbin import read_docbin
    from ..formats.conllu.api import read_conllu

    if path.suffix in (".conllu", ".conll"):
        yield from read_conllu(path, vocab, n_sents=n_sents, by_doc=by_doc, merge_mwt=merge_mwt)
    elif path.suffix == ".spacy" or not path.suffix or path.is_dir():
        yield from read_docbin(path, vocab)
    else:
        raise ValueError(f"{path}: wanted NAME.spacy, a folder of such files, or NAME.conllu")
