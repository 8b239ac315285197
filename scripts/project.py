"""The steps of project.yml; workflow/ holds what they do."""

import argparse
from pathlib import Path

from wasabi import msg
from workflow.convert import convert
from workflow.evaluate import evaluate
from workflow.fetch import assets, clean, encoder, sources
from workflow.package import package, try_package
from workflow.recipe import corpora, fit, jackknife, score, wheel
from workflow.train import debug, train

ON_A_CORPUS = {
    "convert": convert,
    "train": train,
    "debug": debug,
    "evaluate": evaluate,
    "package": package,
    "try": try_package,
}
RECIPE = {
    "pipeline-corpora": corpora,
    "pipeline-jackknife": jackknife,
    "pipeline-train": fit,
    "pipeline-evaluate": score,
    "pipeline-package": wheel,
}
ON_NOTHING = {"assets": assets, "sources": sources, "encoder": encoder, "clean": clean}


def main() -> None:
    """Parse the command line and run one step."""
    parser = argparse.ArgumentParser(description=__doc__)
    steps = parser.add_subparsers(required=True, metavar="STEP")
    for name, step in (ON_A_CORPUS | RECIPE | ON_NOTHING).items():
        options = steps.add_parser(name, help=step.__doc__)
        options.set_defaults(step=step)
        if name in ON_NOTHING:
            continue
        options.add_argument("treebank", type=Path)
        options.add_argument("--form", default="")
        options.add_argument("--lang", default="")
        options.add_argument("--config", type=Path, default=Path("configs/parser.cfg"))
        options.add_argument("--n-sents", type=int, default=5)
        options.add_argument("--merge-mwt", type=_yes_or_no, default=False)
        options.add_argument("--skip-bad", type=_yes_or_no, default=False)
        options.add_argument("--gpu-id", type=int, default=-1)
        options.add_argument("--seed", type=int, default=0)
        options.add_argument("--encoder", default="")
        options.add_argument("--set", default="")
        options.add_argument("--name", default="")
        options.add_argument("--version", default="0.1.0")
        options.add_argument("--text", default="")
        if name in RECIPE:
            for source in ("propbank", "btc", "wnut", "uner", "pud"):
                options.add_argument(f"--{source}", default="")
    args = parser.parse_args()
    try:
        args.step(args)
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)


def _yes_or_no(word: str) -> bool:
    return {"true": True, "false": False}[word.lower()]


if __name__ == "__main__":
    main()
