"""The work of ``spacy biaffine convert``: CoNLL-U -> .spacy and back, with counts."""

from pathlib import Path

from ..common.docbin import MAX_DOCS, holds_shards, read_docbin, write_docbin
from ..common.language import language_of, vocab_for
from ..conllu.api import ReadReport, read_conllu, write_conllu
from .conversion import Conversion, Progress
from .treebank import find_splits

Summary = Conversion[ReadReport]


def conllu_to_spacy(
    source: Path,
    target: Path,
    *,
    lang: str | None = None,
    n_sents: int = 1,
    by_doc: bool = False,
    merge_mwt: bool = False,
    skip_bad: bool = False,
    max_docs: int = MAX_DOCS,
    progress: Progress = iter,
) -> Summary:
    """Convert a CoNLL-U file to NAME.spacy, or to shards in NAME/ (see `write_docbin`).

    lang: None takes it from the file's name. progress: wraps the Docs as they come.
    Raises ConlluError on the first sentence that is not valid, unless skip_bad.
    """
    summary = Summary(ReadReport())
    vocab = vocab_for(language_of(source) if lang is None else lang)
    docs = read_conllu(
        source,
        vocab,
        n_sents=n_sents,
        by_doc=by_doc,
        merge_mwt=merge_mwt,
        skip_bad=skip_bad,
        report=summary.report,
    )
    summary.files = write_docbin(progress(summary.counted(docs)), target, max_docs=max_docs)
    return summary


def spacy_to_conllu(source: Path, target: Path, *, progress: Progress = iter) -> Summary:
    """Convert a .spacy file, or a folder of shards, to one CoNLL-U file."""
    summary = Summary(ReadReport())
    docs = read_docbin(source, vocab_for("xx"))
    n_sentences = write_conllu(progress(summary.counted(docs)), target)
    summary.report.sentences = n_sentences
    summary.files = [target]
    return summary


def writes_conllu(source: Path, target: Path) -> bool:
    """Whether the names ask for CoNLL-U as output: TARGET says so, or else SOURCE."""
    if target.suffix in (".spacy", ".conllu"):
        return target.suffix == ".conllu"
    if source.is_dir():
        return not any(source.glob("*.conllu")) and any(source.glob("*.spacy"))
    return source.suffix == ".spacy"


def plan(source: Path, target: Path, *, to_conllu: bool) -> list[tuple[Path, Path]]:
    """Which file goes where.

    A file, or a folder of shards, goes to TARGET, or to TARGET/NAME where TARGET is a folder or has
    no suffix. A treebank folder goes to TARGET/train, TARGET/dev, TARGET/test; a folder of .spacy
    files, one by one, to TARGET: a folder may have a dot in its name.
    Raises ValueError where source holds nothing to convert.
    """
    suffix = ".conllu" if to_conllu else ".spacy"
    if not source.exists():
        raise ValueError(f"{source} does not exist")
    if source.suffix == suffix:
        raise ValueError(f"{source} is {suffix} already; see --to")
    if source.is_file() or (to_conllu and holds_shards(source)):
        if target.suffix == suffix:
            return [(source, target)]
        if target.suffix and not target.is_dir():
            raise ValueError(f"{target} must end in {suffix}, or be a folder")
        return [(source, target / f"{source.stem}{suffix}")]
    if target.suffix in (".spacy", ".conllu", ".conll") or target.is_file():
        raise ValueError(f"{source} is a folder, so the output {target} must be a folder too")
    if not to_conllu:
        return [(file, target / f"{split}.spacy") for split, file in find_splits(source).items()]
    files = sorted(source.glob("*.spacy"))
    if not files:
        raise ValueError(f"no .spacy file in {source}")
    return [(file, target / f"{file.stem}.conllu") for file in files]
