"""Runs that are stopped and go on where they were."""

import json

import pytest
import spacy
import torch
from factories import gold_docs
from thinc.api import Config

from spacy_biaffine.formats.common.docbin import write_docbin
from spacy_biaffine.training import loop
from spacy_biaffine.training.checkpoint import find_checkpoint

CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec","norm_biaffine_parser","label_attention_tagger","trainable_lemmatizer"]

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 32
depth = 1
embed_size = 100
window_size = 1
maxout_pieces = 2
subword_features = false

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
width = 32
upstream = "tok2vec"

[components.label_attention_tagger]
factory = "label_attention_tagger"

[components.label_attention_tagger.model]
@architectures = "spacy-biaffine.LabelAttentionTagger.v1"
lstm_layers = 1
lstm_hidden = 10
heads = 1

[components.label_attention_tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 32
upstream = "tok2vec"

[components.trainable_lemmatizer]
factory = "trainable_lemmatizer"
min_tree_freq = 1

[components.trainable_lemmatizer.model]
@architectures = "spacy.Tagger.v2"

[components.trainable_lemmatizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 32
upstream = "tok2vec"

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
seed = 1
gpu_allocator = null
dropout = 0.3
max_steps = 7
patience = 0
eval_frequency = 3

[training.optimizer]
@optimizers = "spacy-biaffine.Adam.v1"

[training.optimizer.learn_rate]
@schedules = "warmup_linear.v1"
warmup_steps = 2
total_steps = 7
initial_rate = 0.01

[training.batcher]
@batchers = "spacy.batch_by_words.v1"
size = 12
tolerance = 0.2
discard_oversize = false
"""


@pytest.fixture()
def config(tmp_path):
    docs = gold_docs(spacy.blank("en").vocab)
    for doc in docs:
        for token in doc:
            token.lemma_ = token.text.removesuffix("s")
    write_docbin(docs, tmp_path / "gold.spacy")
    text = CONFIG.replace("FOLDER", tmp_path.as_posix())
    return Config().from_str(text, interpolate=False)


def weights(folder):
    nlp = spacy.load(folder)
    return nlp.to_bytes(exclude=["vocab", "tokenizer", "meta.json"])


class Stopped(Exception):  # noqa: N818 (no error)
    pass


def stop_after(monkeypatch, step, calls):
    """Let a run save at each step, and die in the next one after `step`."""
    original = loop.Run._step

    def take(self, batch):
        if self.done.step == step:
            raise Stopped
        calls.append(self.done.step)
        original(self, batch)

    monkeypatch.setattr(loop.Run, "_step", take)
    return original


def test_a_run_that_was_stopped_ends_as_one_that_was_not(config, tmp_path, monkeypatch):
    loop.train(config, tmp_path / "whole", say=lambda line: None)
    steps: list[int] = []
    for stop in (1, 4, 5):
        with monkeypatch.context() as patch:
            stop_after(patch, stop, steps)
            with pytest.raises(Stopped):
                loop.train(config, tmp_path / "stopped", every=0, say=lambda line: None)
    said: list[str] = []
    loop.train(config, tmp_path / "stopped", every=0, say=said.append)
    assert steps == [0, 1, 2, 3, 4]
    assert said[0] == "Going on after step 5"
    for model in ("model-best", "model-last"):
        assert weights(tmp_path / "whole" / model) == weights(tmp_path / "stopped" / model)
    histories = [
        [
            {key: value for key, value in json.loads(line).items() if key != "seconds"}
            for line in (tmp_path / run / "history.jsonl").read_text("utf8").splitlines()
        ]
        for run in ("whole", "stopped")
    ]
    assert [entry["step"] for entry in histories[0]] == [3, 6, 7]
    without_speed = [
        [{**entry, "scores": {**entry["scores"], "speed": 0}} for entry in history]
        for history in histories
    ]
    assert without_speed[0] == without_speed[1]


def test_a_finished_run_is_left_as_it_is(config, tmp_path):
    loop.train(config, tmp_path / "run", say=lambda line: None)
    before = weights(tmp_path / "run" / "model-last")
    said: list[str] = []
    loop.train(config, tmp_path / "run", say=said.append)
    assert weights(tmp_path / "run" / "model-last") == before
    assert not [line for line in said if line.startswith("step")]


def test_a_torn_checkpoint_is_not_taken(config, tmp_path, monkeypatch):
    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_after(patch, 2, [])
        with pytest.raises(Stopped):
            loop.train(config, run, every=0, say=lambda line: None)
    checkpoint = find_checkpoint(run)
    assert checkpoint is not None
    # What a process leaves that dies while it saves: one half new, the old one set aside.
    checkpoint.replace(run / "checkpoint.old")
    (run / "checkpoint.new").mkdir()
    assert find_checkpoint(run) == run / "checkpoint.old"
    said: list[str] = []
    loop.train(config, run, say=said.append)
    assert said[0] == "Going on after step 2"


def test_another_config_is_refused(config, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        stop_after(patch, 1, [])
        with pytest.raises(Stopped):
            loop.train(config, tmp_path / "run", every=0, say=lambda line: None)
    config["training"]["dropout"] = 0.1
    with pytest.raises(ValueError, match="another config"):
        loop.train(config, tmp_path / "run", say=lambda line: None)


def test_patience_ends_a_run(config, tmp_path, monkeypatch):
    config["training"] |= {"max_steps": 0, "patience": 4, "eval_frequency": 2}
    monkeypatch.setattr(loop, "create_evaluation_callback", lambda *_: lambda: (0.5, {}))
    loop.train(config, tmp_path / "run", say=lambda line: None)
    lines = (tmp_path / "run" / "history.jsonl").read_text("utf8").splitlines()
    assert json.loads(lines[-1])["step"] == 6


def test_a_lemmatizer_that_is_trained_on_keeps_its_labels(config, tmp_path, monkeypatch):
    """Gold lemmas stand for the same labels in a pipeline that goes on from another one."""
    loop.train(config, tmp_path / "first", say=lambda line: None)
    name = "trainable_lemmatizer"
    for each in config["components"]:
        config["components"][each] = {"source": str(tmp_path / "first" / "model-last")}
    known = []
    original = loop.Run.to_end

    def to_end(self):
        known.append(dict(self.nlp.get_pipe(name).tree2label))
        original(self)

    monkeypatch.setattr(loop.Run, "to_end", to_end)
    loop.train(config, tmp_path / "second", say=lambda line: None)
    labels = spacy.load(tmp_path / "first" / "model-last").get_pipe(name).cfg["labels"]
    assert len(labels) > 1
    assert known == [{tree: label for label, tree in enumerate(labels)}]


def test_random_numbers_go_on(tmp_path):
    from spacy_biaffine.training import checkpoint

    state = checkpoint._random_state()
    first = torch.rand(3), __import__("random").random(), __import__("numpy").random.rand()
    checkpoint._set_random_state(state)
    again = torch.rand(3), __import__("random").random(), __import__("numpy").random.rand()
    assert torch.equal(first[0], again[0]) and first[1:] == again[1:]


def test_an_optimizer_without_state_is_refused(config, tmp_path):
    config["training"]["optimizer"] = {"@optimizers": "Adam.v1", "learn_rate": 0.001}
    with pytest.raises(ValueError, match=r"spacy-biaffine\.Adam\.v1"):
        loop.train(config, tmp_path / "run", say=lambda line: None)
