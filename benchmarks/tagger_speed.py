"""Training and decoding time of label_attention_tagger against BiLSTM-softmax and BiLSTM-CRF.

The three take turns on the same sentences; what counts is the median of the ratios of one turn.
Times are CPU seconds of one thread, which other work on the machine disturbs least. Optimizer,
dropout and batches are those of experiments/configs/tagger.cfg.

python benchmarks/tagger_speed.py TRAIN.spacy --target tag
python benchmarks/tagger_speed.py TRAIN.spacy --target morph
"""

import argparse
import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config, load_model_from_config, minibatch, registry
from thinc.api import fix_random_seed

from spacy_biaffine.formats.corpora.corpus import GivenCorpus

CONFIG = Path(__file__).parents[1] / "experiments/configs/tagger.cfg"
TAGGERS = {"LAN": "label_attention_tagger", "softmax": "bilstm_softmax", "CRF": "bilstm_crf"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path, help=".spacy file, one sentence a Doc")
    parser.add_argument("--target", default="tag")
    parser.add_argument("--sentences", type=int, default=1000, help="0 for all")
    parser.add_argument("--batch-size", type=int, help="training sentences; without: 500 words")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    pipelines = {name: make(pipe, args) for name, pipe in TAGGERS.items()}
    examples = read(pipelines["LAN"], args.corpus, args.sentences)
    every = read(pipelines["LAN"], args.corpus, 0)
    for nlp in pipelines.values():
        nlp.initialize(lambda: every)
    labels = len(pipelines["LAN"].get_pipe(TAGGERS["LAN"]).labels)
    print(f"{labels} labels, {len(examples)} sentences, {sum(len(e.x) for e in examples)} words")
    training: dict[str, list[float]] = {name: [] for name in TAGGERS}
    decoding: dict[str, list[float]] = {name: [] for name in TAGGERS}
    for turn in range(args.rounds + 1):
        for name, nlp in pipelines.items():
            batches = list(batched(nlp, examples, args.batch_size))
            epoch, decoded = train(nlp, batches), decode(nlp, examples)
            if turn:  # the first one warms up
                training[name].append(epoch)
                decoding[name].append(decoded)
    for name in TAGGERS:
        seconds, speed = statistics.median(training[name]), statistics.median(decoding[name])
        print(f"{name:8} training {seconds:7.2f} s an epoch   decoding {speed:7.0f} sentences/s")
    for other in ("softmax", "CRF"):
        print(
            f"LAN / {other:8} training {ratio(training['LAN'], training[other]):.2f}   "
            f"decoding {ratio(decoding['LAN'], decoding[other]):.2f}"
        )


def make(pipe: str, args: argparse.Namespace) -> Language:
    """A pipeline of one tagger."""
    fix_random_seed(0)
    overrides = {
        "nlp.pipeline": [pipe],
        "vars.target": args.target,
        "vars.layers": args.layers,
        "vars.hidden": args.hidden,
    }
    return load_model_from_config(load_config(CONFIG, overrides), auto_fill=True)


def read(nlp: Language, corpus: Path, limit: int) -> list[Example]:
    """Gold sentences."""
    return list(GivenCorpus(corpus, given=["sents"], limit=limit)(nlp))


def batched(nlp: Language, examples: list[Example], size: int | None) -> Iterable[list[Example]]:
    """Batches of so many sentences, or those of the config."""
    return minibatch(examples, size) if size else setting(nlp, "batcher")(examples)


def train(nlp: Language, batches: list[list[Example]]) -> float:
    """CPU seconds of an epoch."""
    optimizer = setting(nlp, "optimizer")
    dropout = nlp.config["training"]["dropout"]
    start = time.process_time()
    for batch in batches:
        nlp.update(batch, sgd=optimizer, drop=dropout)
    return time.process_time() - start


def setting(nlp: Language, name: str) -> Any:
    """What a block of the training config stands for."""
    return registry.resolve({name: nlp.config.interpolate()["training"][name]})[name]


def decode(nlp: Language, examples: list[Example]) -> float:
    """Sentences per CPU second."""
    docs = [example.predicted.copy() for example in examples]
    pipe = nlp.get_pipe(nlp.pipe_names[0])
    start = time.process_time()
    for _ in pipe.pipe(docs, batch_size=128):
        pass
    return len(docs) / (time.process_time() - start)


def ratio(first: list[float], second: list[float]) -> float:
    """The median of the ratios of one turn."""
    return statistics.median(a / b for a, b in zip(first, second, strict=True))


if __name__ == "__main__":
    main()
