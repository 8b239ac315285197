"""Going on with a trained pipeline, as the documents say: `source` in the config."""

from io import StringIO

import spacy
from factories import bare, examples_of, gold_docs, train
from spacy.training.initialize import init_nlp
from spacy.training.loop import train as train_loop
from thinc.api import Config

from spacy_biaffine.formats.common.docbin import write_docbin

CONFIG = """
[nlp]
lang = "en"
pipeline = ["NAME"]

[components]

[components.NAME]
source = "FOLDER/before"

[corpora]

[corpora.train]
@readers = "spacy-biaffine.GivenCorpus.v1"
path = "FOLDER/gold.spacy"

[corpora.dev]
@readers = "spacy-biaffine.GivenCorpus.v1"
path = "FOLDER/gold.spacy"

[training]
train_corpus = "corpora.train"
dev_corpus = "corpora.dev"
seed = 0
gpu_allocator = null
max_steps = 2
eval_frequency = 1

[training.optimizer]
@optimizers = "spacy-biaffine.Adam.v1"
learn_rate = 1e-5

[training.batcher]
@batchers = "spacy.batch_by_words.v1"
size = 100
tolerance = 0.2
discard_oversize = false
"""


def test_nothing_learned_is_lost(factory, tmp_path):
    nlp = factory.make()
    first = train(nlp, 1)
    train(nlp, 60)
    nlp.to_disk(tmp_path / "before")
    write_docbin(gold_docs(nlp.vocab), tmp_path / "gold.spacy")
    config = CONFIG.replace("NAME", factory.name).replace("FOLDER", tmp_path.as_posix())
    goes_on = init_nlp(Config().from_str(config, interpolate=False))
    loss = goes_on.update(examples_of(gold_docs(goes_on.vocab)), sgd=False)[factory.name]
    assert loss < first / 2

    (tmp_path / "after").mkdir()
    train_loop(goes_on, tmp_path / "after", stdout=StringIO(), stderr=StringIO())
    after = spacy.load(tmp_path / "after" / "model-last")
    docs = gold_docs(nlp.vocab)
    assert [factory.read(after(bare(doc))) for doc in docs] == [factory.read(doc) for doc in docs]
