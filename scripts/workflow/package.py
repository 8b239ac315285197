"""A wheel of the pipeline, and what it does where nothing else is."""

import argparse
import shutil
import sys
import tempfile
from itertools import islice
from pathlib import Path

from spacy.tokens import Doc
from wasabi import msg

from spacy_biaffine.doc.given import give
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.common.language import vocab_for

from .commands import run, spacy_command
from .place import Place

TEXTS = {
    "en": "She opened a café on Bridge Street last spring. Would you like to come with us, "
    "or should we wait?"
}
SAMPLERS = ("treebank", "treebank-de")
SAMPLED = (
    "The scores above were measured on invented sentences that are much like those it was trained\n"
    "on; on ordinary text expect far less: LAS 0.88 there has been 0.43 on UD_English-EWT.\n"
    "A pipeline for ordinary English, and how to make one for another language: docs/pipeline.md"
)
"""What a figure on the samplers of assets/ is worth."""
TRY_PACKAGE = Path(__file__).parents[1] / "try_package.py"


def package(args: argparse.Namespace) -> None:
    """Run `spacy package`."""
    place = Place(args)
    wheel = place.wheel(args.name, args.version)
    shutil.rmtree(wheel.parent.parent, ignore_errors=True)  # nothing of an earlier build gets in
    place.packages.mkdir(parents=True, exist_ok=True)
    options = ("--name", place.package_name(args.name), "--version", args.version)
    log = place.packages / "build.log"
    spacy_command("package", place.model, place.packages, *options, "--build", "wheel", log=log)
    if not wheel.exists():
        print(log.read_text(encoding="utf-8"))
        msg.fail(f"{wheel} was not built", exits=1)
    msg.good(f"Built a wheel of {wheel.stat().st_size / 1e6:.1f} MB. To use it anywhere:")
    print(f"  pip install {wheel}")


def try_package(args: argparse.Namespace) -> None:
    """Install the wheel in a scratch environment and read a text there.

    A pipeline that is given more than sentences gets a Doc of the test split with that on it.
    """
    place = Place(args)
    wheel = place.wheel(args.name, args.version)
    if not wheel.exists():
        msg.fail(f"{wheel} does not exist", "First: spacy project run package", exits=1)
    what = (sys.executable, TRY_PACKAGE, wheel, f"{place.lang}_{place.package_name(args.name)}")
    given = place.learned.given
    further = [layer for layer in given if layer != "sents"]
    if further and args.text:
        msg.warn(f"A text alone has no {' nor '.join(further)}, which the pipeline is trained with")
    if args.text or not further:
        run(*what, f"--text={args.text or TEXTS.get(place.lang) or _first_text(place)}")
    else:
        with tempfile.TemporaryDirectory() as folder:
            docs = write_docbin([give(_first_doc(place), given)], Path(folder, "given.spacy"))
            msg.info(f"A Doc of the corpus, gold {', '.join(given)} are given")
            run(*what, "--docs", *docs)
    if args.treebank.resolve().parent == Path("assets").resolve() and place.name in SAMPLERS:
        print(f"{SAMPLED}\n")


def _first_doc(place: Place) -> Doc:
    docs = read_docbin(place.corpus_file(place.evaluation_split()), vocab_for(place.lang))
    return next(docs)


def _first_text(place: Place) -> str:
    return "".join(sent.text_with_ws for sent in islice(_first_doc(place).sents, 2))
