"""Components on a transformer of spacy-transformers, by its listener."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from factories import Factory, bare, examples_of, gold_docs
from spacy.language import Language
from thinc.api import fix_random_seed

from spacy_biaffine.models.optimizers import Adam

pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")
tiny_bert = pytest.importorskip("tiny_bert", reason="transformers is not installed")

LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "pooling": {"@layers": "reduce_mean.v1"},
}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    tiny_bert.save_bert(folder)
    return folder


def pipeline(factory: Factory, bert: Path) -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    model = {"@architectures": "spacy-transformers.TransformerModel.v3", "name": str(bert)}
    nlp.add_pipe("transformer", config={"model": model})
    factory.add_to(nlp, tok2vec=LISTENER)
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    return nlp


def test_tuned_saved_and_loaded(factory: Factory, bert: Path, tmp_path: Path) -> None:
    nlp = pipeline(factory, bert)
    weights = nlp.get_pipe("transformer").model.transformer.state_dict()
    before = {name: weight.clone() for name, weight in weights.items()}
    optimizer = Adam(0.005)
    losses = []
    for _ in range(12):
        losses.append(nlp.update(examples_of(gold_docs(nlp.vocab)), sgd=optimizer)[factory.name])
        optimizer.step_schedules()
    assert losses[-1] < losses[0]
    after = nlp.get_pipe("transformer").model.transformer.state_dict()
    moved = {name for name in before if not before[name].equal(after[name])}
    assert "embeddings.word_embeddings.weight" in moved
    assert "encoder.layer.0.attention.self.query.weight" in moved

    nlp.to_disk(tmp_path / "pipeline")
    loaded = spacy.load(tmp_path / "pipeline")
    for doc in gold_docs(nlp.vocab):
        mine, other = nlp(bare(doc)), loaded(bare(doc))
        assert factory.read(mine) == factory.read(other)
        np.testing.assert_array_equal(factory.scores(mine), factory.scores(other))
