"""Make the wheel of a trained pipeline.

python package.py training/model-best packages --about . --metrics metrics.json --version 0.1.0

Weights are rounded to half precision, so that they compress to little more than half; they are
used as they are then, in single precision. The wheel has to be smaller than 45 MB. It is installed
in a folder of its own, and has to find in everyday.txt what the rounded pipeline finds, with the
same scores to the bit. Writes the wheel's SHA-256 and those predictions beside it.

The folder --about holds meta.json with description, licence and sources, card.md and LICENSE.
Without it the wheel states no licence; that of the treebank says what it can be.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import spacy
import srsly
from half import round_weights
from meta import describe
from predictions import without_scores

PREDICT = Path(__file__).with_name("predictions.py")
LIMIT = 45_000_000


def main() -> None:
    args = arguments()
    nlp = spacy.load(args.pipeline)
    lost = round_weights(nlp)
    print(f"weights rounded to half precision, at most {lost:.1e} away")
    about = args.about and args.about / "meta.json"
    describe(nlp, args.name, args.version, about, args.metrics)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "pipeline")
        nlp.to_disk(folder)
        if args.about:
            shutil.copy(args.about / "card.md", folder / "README.md")
            shutil.copy(args.about / "LICENSE", folder / "LICENSE")
        built = build(folder, Path(scratch, "packages"))
        expected = report(folder, Path(scratch, "expected.json"))
        if report(f"{nlp.lang}_{args.name}", Path(scratch, "found.json"), built) != expected:
            raise SystemExit(f"{built.name} finds something else than the pipeline in it")
        args.out.mkdir(parents=True, exist_ok=True)
        wheel = Path(shutil.copy(built, args.out))
    srsly.write_jsonl(wheel.with_suffix(".jsonl"), without_scores(srsly.json_loads(expected)))
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    wheel.with_suffix(".whl.sha256").write_text(f"{digest}  {wheel.name}\n", "utf-8")
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, SHA-256 {digest}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--metrics", type=Path, help="what evaluate.py has written")
    parser.add_argument("--about", type=Path, help="folder")
    parser.add_argument("--name", default="biaffine_web_sm", help="without the language")
    parser.add_argument("--version", required=True)
    return parser.parse_args()


def build(folder: Path, packages: Path) -> Path:
    """Run `spacy package`. Raises SystemExit where it fails, or where the wheel is too large."""
    packages.mkdir()
    command = [sys.executable, "-m", "spacy", "package", folder, packages, "--build", "wheel"]
    packed = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    if packed.returncode:
        raise SystemExit(f"spacy package failed:\n{packed.stdout}{packed.stderr}")
    (built,) = packages.glob("*/dist/*.whl")
    size = built.stat().st_size
    if size > LIMIT:
        raise SystemExit(f"{built.name} has {size:,} bytes, more than {LIMIT:,}")
    return built


def report(name: object, out: Path, wheel: Path | None = None) -> str:
    """What a pipeline finds, in a process of its own that has the wheel installed."""
    environment = {**os.environ, "PYTHONPATH": str(out.parent / "installed")}
    if wheel:
        target = ["--target", environment["PYTHONPATH"]]
        command = ["pip", "install", "--quiet", "--no-deps", "--no-index", *target, wheel]
        subprocess.run([sys.executable, "-m", *command], check=True)
    subprocess.run([sys.executable, PREDICT, str(name), out], check=True, env=environment)
    return out.read_text("utf-8")


if __name__ == "__main__":
    main()
