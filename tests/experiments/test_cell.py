import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.cli.train import train as spacy_train
from thinc.api import Model
from thinc.shims import Shim
from tiny_grid import load, tiny_grid
from torch import nn

import spacy_biaffine
from spacy_biaffine.experiments.cell import corpus_of_test, run
from spacy_biaffine.experiments.drive import filled
from spacy_biaffine.experiments.grid import Cell
from spacy_biaffine.experiments.loggers import numbers
from spacy_biaffine.experiments.measure import count_parameters, versions


def make_cell(folder: Path) -> tuple[Cell, Path]:
    """A cell, and a folder with its config."""
    cell = load(folder, tiny_grid()).cells[-1]
    home = folder / "home"
    home.mkdir()
    filled(cell, folder / "work").to_disk(home / "config.cfg", interpolate=False)
    return cell, home


def test_result_of_a_run(tmp_path: Path) -> None:
    _, home = make_cell(tmp_path)
    result = run(home)
    assert json.loads(json.dumps(result)) == result
    assert result["seed"] == 0
    assert result["steps"] == 4
    assert [entry["step"] for entry in result["history"]] == [0, 2, 4]
    scores = {entry["step"]: entry["score"] for entry in result["history"]}
    assert scores[result["best_step"]] == max(scores.values())
    assert result["dev"]["dep_las"] == max(scores.values())
    assert 0 <= result["test"]["dep_las"] <= result["test"]["dep_uas"] <= 1
    assert set(result["test_last"]) == set(result["test"])
    times = {"initialize", "train", "test", "user", "words_per_second"}
    assert set(result["times"]) == times
    assert result["peak_memory_mb"] is None or result["peak_memory_mb"] > 10
    assert "watch" in result["history"][0]


def test_it_trains_what_spacy_train_trains(tmp_path: Path) -> None:
    _, home = make_cell(tmp_path)
    result = run(home)
    spacy_train(home / "config.cfg", tmp_path / "theirs")
    ours = spacy.load(home / "model" / "model-last")
    theirs = spacy.load(tmp_path / "theirs" / "model-last")
    pipes: list[Any] = [nlp.get_pipe("parser") for nlp in (ours, theirs)]
    assert pipes[0].model.to_bytes() == pipes[1].model.to_bytes()
    last = theirs.meta["performance"]["dep_las"]
    assert last == pytest.approx(result["history"][-1]["scores"]["dep_las"])


def test_best_model_is_tested_with_the_dev_reader(tmp_path: Path) -> None:
    _, home = make_cell(tmp_path)
    result = run(home)
    nlp = spacy.load(home / "model" / "model-best")
    corpus = corpus_of_test(nlp.config.interpolate())
    assert corpus.path == tmp_path / "data" / "test.spacy"
    assert corpus.given == ["sents"]
    assert nlp.evaluate(corpus(nlp))["dep_las"] == result["test"]["dep_las"]
    assert result["times"]["words_per_second"] > 0


def test_best_model_is_tested_otherwise_too(tmp_path: Path) -> None:
    content = tiny_grid()
    content["tests"] = {
        "as it is": {"corpora.dev.given": ["sents"]},
        "few": {"components.parser.store_scores": True, "corpora.dev.limit": 3},
    }
    cell = load(tmp_path, content).cells[-1]
    home = tmp_path / "home"
    home.mkdir()
    filled(cell, tmp_path / "work").to_disk(home / "config.cfg", interpolate=False)
    result = run(home)
    assert result["tests"]["as it is"] == {"dev": result["dev"], "test": result["test"]}
    nlp = spacy.load(home / "model" / "model-best")
    examples = list(corpus_of_test(nlp.config.interpolate())(nlp))[:3]
    assert result["tests"]["few"]["test"] == numbers(nlp.evaluate(examples))


def test_without_a_test_set_there_are_no_test_scores(tmp_path: Path) -> None:
    cell, home = make_cell(tmp_path)
    config = filled(cell, tmp_path)
    del config["paths"]["test"]
    config.to_disk(home / "config.cfg", interpolate=False)
    assert not {"test", "test_last"} & set(run(home))


def test_parameters_by_hand(tmp_path: Path) -> None:
    _, home = make_cell(tmp_path)
    counts = run(home)["parameters"]
    # Width 8; LSTM 8 there and back; root 16; projections to 8, 8, 4, 4 from 16; arc 8 x 8 + 8;
    # labels 4 x 3 x 4 + 4 x 3.
    lstm = 2 * (4 * 8 * 8 + 4 * 8 * 8 + 2 * 4 * 8)
    projections = 17 * (8 + 8 + 4 + 4)
    assert counts["parts"]["biaffine_parser"] == lstm + 16 + projections + 72 + 60
    assert counts["trained"] == sum(counts["parts"].values()) == counts["all"]
    modules = counts["modules"]
    assert modules["biaffine_parser.lstm"] == lstm
    assert modules["biaffine_parser.projections"] == projections
    ours = [size for name, size in modules.items() if name.startswith("biaffine_parser.")]
    assert sum(ours) == counts["parts"]["biaffine_parser"]


class HeldShim(Shim):
    """A shim that holds a torch module one object further, as encoders are held."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__(None)
        self.encoder = type("Held", (), {})()
        self.encoder.model = module


def test_frozen_weights_count_under_all_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    module = nn.Linear(3, 2).requires_grad_(False)
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe("tagger")
    layer: Model = Model("frozen", lambda *args: args, shims=[HeldShim(module)])
    monkeypatch.setattr(pipe, "model", layer)
    nothing_trained = {"trained": 0, "all": 8, "parts": {}, "modules": {}}
    assert count_parameters(nlp, []) == nothing_trained
    module.requires_grad_(True)
    assert count_parameters(nlp, [])["parts"] == {"frozen": 8}
    assert count_parameters(nlp, ["tagger"]) == nothing_trained


def test_versions() -> None:
    found = versions()
    assert found["spacy-biaffine"] == spacy_biaffine.__version__
    assert found["spacy"] == spacy.__version__
    assert len(found["source"]) == 12


def test_cell_ends_with_its_parent(tmp_path: Path) -> None:
    _, home = make_cell(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-m", "spacy_biaffine.experiments.cell", str(home)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(60) == 1
    assert not (home / "result.json").exists()
