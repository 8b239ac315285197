"""Predict the trees, tags and lemmas of the training corpus by parsers that did not see them.

python jackknife.py CORPUS/train/web.spacy CORPUS/parsed/web.spacy --folds 4

Docs are dealt to folds in blocks of neighbours, so that each fold has every genre and few documents
are split; for each fold a pipeline is trained on the other ones (jackknife.cfg) and reads the fold
from its tokens alone, sentences included. The output has the same Docs in the same order, with
predicted layers only. A fold that is finished is kept: the command can be stopped and repeated.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy.cli.train import train
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.corpora.corpus import give

CONFIG = Path(__file__).parent / "jackknife.cfg"
BLOCK = 20
LAYERS = ["HEAD", "DEP", "TAG", "LEMMA"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gold", type=Path)
    parser.add_argument("parsed", type=Path)
    parser.add_argument("--folds", type=int, default=4)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    args = parser.parse_args()
    docs = list(read_docbin(args.gold, Vocab()))
    folds = [number // BLOCK % args.folds for number in range(len(docs))]
    work = args.parsed.parent / "folds"
    work.mkdir(parents=True, exist_ok=True)
    for fold in range(args.folds):
        if not (work / f"{fold}.spacy").exists():
            own = [doc for doc, its in zip(docs, folds, strict=True) if its == fold]
            others = [doc for doc, its in zip(docs, folds, strict=True) if its != fold]
            parse_fold(others, own, work / f"{fold}", args.cache)
    vocab = Vocab()
    parsed = [read_docbin(work / f"{fold}.spacy", vocab) for fold in range(args.folds)]
    write_docbin((next(parsed[fold]) for fold in folds), args.parsed)
    print(args.parsed)


def parse_fold(others: list[Doc], own: list[Doc], work: Path, cache: Path) -> None:
    """Train on the other Docs, and write the own ones as predicted to WORK.spacy."""
    work.mkdir(exist_ok=True)
    write_docbin(others, work / "train.spacy")
    write_docbin(own, work / "dev.spacy")
    paths = {"train": work / "train.spacy", "dev": work / "dev.spacy", "cache": cache}
    overrides = {f"paths.{name}": str(path) for name, path in paths.items()}
    train(CONFIG, work / "model", overrides=overrides)
    nlp = spacy.load(work / "model" / "model-last")
    write_docbin(predicted(nlp, own), work.with_suffix(".spacy"))


def predicted(nlp: spacy.Language, docs: list[Doc]) -> Iterator[Doc]:
    """The Docs' tokens with predicted trees, tags and lemmas."""
    for doc in nlp.pipe(give(doc, []) for doc in docs):
        bare = give(doc, [])
        bare.from_array(LAYERS, doc.to_array(LAYERS))
        yield bare


if __name__ == "__main__":
    main()
