"""A grid of runs of a second each, on data made here."""

import random
from pathlib import Path
from typing import Any

import srsly
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.experiments.grid import Grid, read_grid

CONFIG = """
[paths]
train = "train.spacy"
dev = "dev.spacy"

[system]
seed = 0

[nlp]
lang = "xx"
pipeline = ["parser"]

[components]

[components.parser]
factory = "norm_biaffine_parser"

[components.parser.model]
@architectures = "spacy-biaffine.NormBiaffineParser.v1"
lstm_layers = 1
lstm_hidden = 8
arc_size = 8
label_size = 4
splitter_size = 4

[components.parser.model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 8
depth = 1
embed_size = 50
window_size = 1
maxout_pieces = 2
subword_features = false

[corpora]

[corpora.train]
@readers = "spacy-biaffine.GivenCorpus.v1"
path = ${paths.train}
given = ["sents"]

[corpora.dev]
@readers = "spacy-biaffine.GivenCorpus.v1"
path = ${paths.dev}
given = ["sents"]

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = ${system.seed}
gpu_allocator = null
dropout = 0.1
max_steps = 4
eval_frequency = 2

[training.batcher]
@batchers = "spacy.batch_by_sequence.v1"
size = 4

[training.optimizer]
@optimizers = "Adam.v1"
learn_rate = 0.01
"""


def tiny_grid() -> dict[str, Any]:
    """The content of a grid file with four cells."""
    return {
        "name": "tiny",
        "config": "tiny.cfg",
        "vars": {"data": None, "steps": 4},
        "overrides": {
            "paths.train": "${vars.data}/train.spacy",
            "paths.dev": "${vars.data}/dev.spacy",
            "paths.test": "${vars.data}/test.spacy",
            "training.max_steps": "${vars.steps}",
        },
        "axes": {
            "N": {"path": "components.parser.model.lstm_layers", "values": [0, 1]},
            "scores": {
                "raw": {"components.parser.model.normalize": False},
                "normalized": {"components.parser.model.normalize": True},
            },
        },
        "metrics": ["test.dep_las"],
    }


def write_grid(folder: Path, content: dict[str, Any]) -> Path:
    """The grid file, with its config and its data in `data`."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    (folder / "tiny.cfg").write_text(CONFIG, encoding="utf-8")
    for number, part in enumerate(("train", "dev", "test")):
        DocBin(docs=random_docs(12, seed=number)).to_disk(folder / "data" / f"{part}.spacy")
    srsly.write_yaml(folder / "tiny.yml", content)
    return folder / "tiny.yml"


def load(folder: Path, content: dict[str, Any], **given: Any) -> Grid:
    """The grid, its data variable given."""
    return read_grid(write_grid(folder, content), {"data": str(folder / "data"), **given})


def random_docs(count: int, seed: int) -> list[Doc]:
    """Sentences of random words; each word hangs on the one before it."""
    rng = random.Random(seed)
    vocab = Vocab()
    docs = []
    for _ in range(count):
        words = [rng.choice("abcdefgh") for _ in range(rng.randint(3, 6))]
        heads = [max(0, i - 1) for i in range(len(words))]
        deps = ["ROOT" if i == 0 else f"dep_{word < 'e'}" for i, word in enumerate(words)]
        docs.append(Doc(vocab, words=words, heads=heads, deps=deps))
    return docs


def without_times(line: dict[str, Any]) -> dict[str, Any]:
    """A result line without what differs from run to run, or as the source is edited."""
    history = [{k: v for k, v in entry.items() if k != "seconds"} for entry in line["history"]]
    kept = {k: v for k, v in line.items() if k not in ("times", "peak_memory_mb", "versions")}
    return {**kept, "history": history}
