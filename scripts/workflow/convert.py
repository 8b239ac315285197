"""From the user's folder to corpus/."""

import argparse
import shutil
import subprocess
import sys

from wasabi import msg

from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.common.language import vocab_for
from spacy_biaffine.formats.convert.treebank import SPLITS

from .commands import spacy_command
from .place import Place

DEV_EVERY = 10


def convert(args: argparse.Namespace) -> None:
    """Convert all splits; without a dev split, set every tenth Doc of train aside."""
    place = Place(args)
    files = place.source.files
    msg.info(f"{place.source.kind}, language '{place.lang}'")
    commands = place.source.commands(place.corpus, place.lang)
    if "train" not in files:
        msg.fail(f"{args.treebank} has no train file: there is nothing to learn from")
        msg.text("To score a trained pipeline on it:")
        for words in commands:
            print(" ", subprocess.list2cmdline(["python", "-m", "spacy", *map(str, words)]))
        print(f"  python -m spacy evaluate PIPELINE {place.corpus}/test.spacy")
        sys.exit(1)
    for words in commands:
        spacy_command(*words)
    if not commands:
        _copy(place)
    for split in set(SPLITS) - set(files):  # of an earlier state of the folder
        (place.corpus / f"{split}.spacy").unlink(missing_ok=True)
        shutil.rmtree(place.corpus / split, ignore_errors=True)
    if "dev" not in files:
        _carve_dev(place)
    if "test" not in files:
        msg.warn(
            "There is no test split: the pipeline will be scored on dev",
            "Training picks its best model by dev, so that score will be flattering.",
        )


def _copy(place: Place) -> None:
    """Docs that are converted already, into a corpus of which dev can be carved."""
    vocab = vocab_for(place.lang)
    for split, path in place.source.files.items():
        files = write_docbin(read_docbin(path, vocab), place.corpus / f"{split}.spacy")
        msg.good(f"{path} -> {files[0] if len(files) == 1 else files[0].parent}")


def _carve_dev(place: Place) -> None:
    docs = list(read_docbin(place.corpus_file("train"), vocab_for(place.lang)))
    dev = docs[DEV_EVERY - 1 :: DEV_EVERY] or docs[-1:]
    train = [doc for doc in docs if not any(doc is other for other in dev)]
    if not train:
        msg.fail(
            "There is no dev split, and train is a single Doc: it can't be divided",
            "Use fewer sentences to a Doc: --vars.n_sents 1",
            exits=1,
        )
    write_docbin(dev, place.corpus / "dev.spacy")
    write_docbin(train, place.corpus / "train.spacy")
    msg.warn(
        f"There is no dev split: {len(dev)} of the {len(docs)} Docs of train are set aside as dev",
        f"Every {DEV_EVERY}th Doc, so the same ones each time. They are not trained on.",
    )
