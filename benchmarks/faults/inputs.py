"""Small inputs, made once: a treebank, texts, a pipeline, an encoder, a grid."""

import atexit
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path

from thinc.api import Config

from .process import FORK

SAMPLER = Path("assets", "treebank").resolve()
TESTS = Path("tests").resolve()

COPIES = 4
"""How often the sampler stands in the treebank that is converted."""

CONFIG = """
[paths]
train = "train.spacy"
dev = "dev.spacy"

[system]
seed = 0
gpu_allocator = null

[nlp]
lang = "en"
pipeline = ["tok2vec","norm_biaffine_parser"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
{encoder}

[components.norm_biaffine_parser]
factory = "norm_biaffine_parser"

[components.norm_biaffine_parser.model]
@architectures = "spacy-biaffine.NormBiaffineParser.v1"
lstm_layers = 1
lstm_hidden = 16
arc_size = 16
label_size = 8

[components.norm_biaffine_parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 16
upstream = "tok2vec"

[corpora]

[corpora.train]
@readers = "spacy-biaffine.GivenCorpus.v1"
path = ${{paths.train}}
given = ["sents"]

[corpora.dev]
@readers = "spacy-biaffine.GivenCorpus.v1"
path = ${{paths.dev}}
given = ["sents"]

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = ${{system.seed}}
gpu_allocator = null
dropout = 0.1
max_steps = 12
eval_frequency = 2

[training.batcher]
@batchers = "spacy.batch_by_words.v1"
size = 200
tolerance = 0.2
discard_oversize = false

[training.optimizer]
@optimizers = "spacy-biaffine.Adam.v1"
learn_rate = 0.01
"""

WORDS = """@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 16
depth = 1
embed_size = 200
window_size = 1
maxout_pieces = 2
subword_features = true"""

FROZEN = """@architectures = "spacy-biaffine.FrozenTransformer.v1"
name = "bert"
layers = [1, 2]
cache = "cache\""""


@cache
def inputs() -> Path:
    """A folder of all inputs, which is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    process = FORK.Process(target=_make, args=(folder,))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError("the inputs can't be made")
    return folder


def _make(folder: Path) -> None:
    import spacy

    from spacy_biaffine.formats.common.docbin import write_docbin
    from spacy_biaffine.formats.conllu.api import read_conllu
    from spacy_biaffine.training.loop import train

    sys.path.insert(0, str(TESTS))
    sys.path.insert(0, str(TESTS / "experiments"))
    from tiny_bert import SAVE
    from tiny_grid import tiny_grid, write_grid

    vocab = spacy.blank("en").vocab
    text = (SAMPLER / "en_sampler-ud-train.conllu").read_text(encoding="utf-8")
    (folder / "big.conllu").write_text(text * COPIES, encoding="utf-8", newline="\n")
    write_docbin(read_conllu(folder / "big.conllu", vocab), folder / "big.spacy")
    for part in ("train", "dev"):
        docs = list(read_conllu(SAMPLER / f"en_sampler-ud-{part}.conllu", vocab))[:60]
        write_docbin(docs, folder / f"{part}.spacy")
    docs = list(read_conllu(SAMPLER / "en_sampler-ud-train.conllu", vocab))
    lines = [doc.text.strip() for doc in docs]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    (folder / "train.cfg").write_text(CONFIG.format(encoder=WORDS), encoding="utf-8")
    (folder / "cached.cfg").write_text(CONFIG.format(encoder=FROZEN), encoding="utf-8")
    (folder / "bert").mkdir()
    SAVE["bert"](folder / "bert")
    write_grid(folder, tiny_grid())
    paths = {f"paths.{part}": str(folder / f"{part}.spacy") for part in ("train", "dev")}
    config = Config().from_disk(folder / "train.cfg", overrides=paths)
    train(config, folder / "trained")
    (folder / "trained" / "model-last").rename(folder / "model")
    shutil.rmtree(folder / "trained")
