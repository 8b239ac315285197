"""Training, and the checks before it."""

import argparse
import tempfile
from pathlib import Path

from spacy.cli._util import parse_config_overrides
from spacy.util import load_config
from thinc.api import Config
from wasabi import msg

from .commands import check_gpu, settings_of, spacy_command
from .convert import convert
from .learned import Learned
from .place import Place


def train(args: argparse.Namespace) -> None:
    """Run `spacy train` with paths and language filled in, on a corpus that may be new here."""
    check_gpu(args.gpu_id)
    check_steps(args.config, settings_of(args.set))
    place = Place(args)
    _check_encoder(args)
    if not place.corpus_file("train").exists():
        convert(args)
    _check_corpus(place, args)
    options = ("--output", place.model.parent, "--gpu-id", args.gpu_id)
    spacy_command("train", args.config, *options, *_overrides(place, args))


def debug(args: argparse.Namespace) -> None:
    """Run `spacy debug config` and `spacy debug data`, on the config with all its defaults."""
    place = Place(args)
    _check_encoder(args)
    _check_corpus(place, args)
    with tempfile.TemporaryDirectory() as folder:  # corpus/ must stay as it is: train depends on it
        filled = Path(folder, args.config.name)
        spacy_command("init", "fill-config", args.config, filled, log=Path(folder, "log"))
        # `debug data` makes the optimizer before it has put values in place of ${SECTION.NAME}.
        overrides = parse_config_overrides(_overrides(place, args), env_var=None)
        load_config(filled, overrides=overrides, interpolate=True).to_disk(filled)
        for what in ("config", "data"):
            spacy_command("debug", what, filled)


def check_steps(path: Path, settings: dict[str, str]) -> None:
    """Stop where training would end before its first evaluation but that of the untrained model."""
    training = Config().from_disk(path, interpolate=False, overrides=settings).get("training", {})
    steps, every = (str(training.get(name)) for name in ("max_steps", "eval_frequency"))
    if steps.isdigit() and every.isdigit() and 0 < int(steps) < int(every):
        msg.fail(
            f"After {steps} steps nothing is evaluated (training.eval_frequency is {every}): the "
            f"best model would be the untrained one",
            f'Evaluate more often: --vars.set "training.max_steps={steps} '
            f'training.eval_frequency={max(1, int(steps) // 4)}"',
            exits=1,
        )


def _check_encoder(args: argparse.Namespace) -> None:
    Learned(args.config, settings_of(args.set)).check_encoder(args.encoder)


def _check_corpus(place: Place, args: argparse.Namespace) -> None:
    files = [place.corpus_file(split) for split in ("train", "dev")]
    Learned(args.config, settings_of(args.set)).check_corpus(files, place.lang)


def _overrides(place: Place, args: argparse.Namespace) -> list[str]:
    """Overrides of the config, as `spacy train` takes them."""
    settings = {
        "paths.train": str(place.corpus_file("train")),
        "paths.dev": str(place.corpus_file("dev")),
        "nlp.lang": place.lang,
        "system.seed": str(args.seed),
    }
    if args.encoder:
        settings["paths.encoder"] = args.encoder
    settings |= settings_of(args.set)
    return [part for key, value in settings.items() for part in (f"--{key}", value)]
