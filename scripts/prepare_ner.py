"""Convert the corpora of the entity experiments to train.spacy, dev.spacy and test.spacy.

python scripts/prepare_ner.py wnut17 SOURCE DIR        # github.com/leondz/emerging_entities_17
python scripts/prepare_ner.py litbank SOURCE DIR       # github.com/dbamman/litbank, entities/tsv
python scripts/prepare_ner.py cluener SOURCE DIR       # github.com/CLUEbenchmark/CLUENER2020
python scripts/prepare_ner.py danplus SOURCE DIR       # github.com/bplank/DaNplus

LitBank has no split of its own: of its 100 files by name, every tenth from the first on is test,
every tenth from the second on is dev, the rest train; DIR/split.json says which is where.
"""

import argparse
import json
from pathlib import Path

from spacy_biaffine.formats.convert.plan import Job
from spacy_biaffine.formats.convert.run import convert
from spacy_biaffine.formats.forms import CLUENER, COLUMNS

SPLITS = ("train", "dev", "test")


def wnut17(source: Path, target: Path) -> None:
    names = ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated")
    for split, name in zip(SPLITS, names, strict=True):
        convert(Job([source / name], target / f"{split}.spacy", COLUMNS, None), {}, lang="en")


def litbank(source: Path, target: Path) -> None:
    files = sorted(source.glob("*.tsv"))
    if not files:
        raise FileNotFoundError(f"no .tsv files in {source}")
    test, dev = files[0::10], files[1::10]
    split = {"train": [f for f in files if f not in test + dev], "dev": dev, "test": test}
    names = {name: [file.name for file in part] for name, part in split.items()}
    (target / "split.json").write_text(json.dumps(names, indent=1), encoding="utf8")
    options = {"levels": 0, "innermost_first": True, "n_sents": 10, "spans_key": "sc"}
    for name, part in split.items():
        convert(Job(part, target / f"{name}.spacy", COLUMNS, None), options, lang="en")


def cluener(source: Path, target: Path) -> None:
    # One text of the training set has entities that overlap: it is left out.
    for split in ("train", "dev"):
        job = Job([source / f"{split}.json"], target / f"{split}.spacy", CLUENER, None)
        convert(job, {"characters": True}, lang="zh", skip_bad=True)


def danplus(source: Path, target: Path) -> None:
    options = {"levels": 2, "innermost_first": False, "n_sents": 10, "spans_key": "sc"}
    for split in SPLITS:
        file, out = source / f"da_news_{split}.tsv", target / f"{split}.spacy"
        convert(Job([file], out, COLUMNS, None), options, lang="da")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    corpora = {"wnut17": wnut17, "litbank": litbank, "cluener": cluener, "danplus": danplus}
    parser.add_argument("corpus", choices=corpora)
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    args.target.mkdir(parents=True, exist_ok=True)
    try:
        corpora[args.corpus](args.source, args.target)
    except FileNotFoundError as error:
        parser.error(f"{error}. SOURCE is the folder of {args.corpus}'s files, as above.")


if __name__ == "__main__":
    main()
