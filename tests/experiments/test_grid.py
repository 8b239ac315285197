from pathlib import Path
from typing import Any

import pytest
from thinc.api import Config
from tiny_grid import load, tiny_grid, write_grid

from spacy_biaffine.experiments.drive import filled
from spacy_biaffine.experiments.grid import GridError, override, read_grid


def test_axes_expand_in_the_order_of_the_file(tmp_path: Path) -> None:
    grid = load(tmp_path, tiny_grid())
    assert [cell.axes for cell in grid.cells] == [
        {"N": 0, "scores": "raw"},
        {"N": 0, "scores": "normalized"},
        {"N": 1, "scores": "raw"},
        {"N": 1, "scores": "normalized"},
    ]
    models = [cell.config["components"]["parser"]["model"] for cell in grid.cells]
    assert [model["lstm_layers"] for model in models] == [0, 0, 1, 1]
    assert [model["normalize"] for model in models] == [False, True, False, True]
    assert grid.axes == {"N": [0, 1], "scores": ["raw", "normalized"]}
    assert grid.results == tmp_path / "results" / "tiny.jsonl"


def test_variables_are_filled_by_the_config(tmp_path: Path) -> None:
    cell = load(tmp_path, tiny_grid(), steps=7).cells[0]
    text = filled(cell, tmp_path / "work").to_str(interpolate=False)
    config = Config().from_str(text)
    assert config["paths"]["train"] == f"{tmp_path}/data/train.spacy"
    assert config["corpora"]["dev"]["path"] == f"{tmp_path}/data/dev.spacy"
    assert config["training"]["max_steps"] == 7
    assert config["vars"]["work"] == str(tmp_path / "work")


def test_key_knows_settings_but_no_places(tmp_path: Path) -> None:
    file = write_grid(tmp_path, tiny_grid())
    key = read_grid(file, {"data": "here"}).cells[0].key
    assert read_grid(file, {"data": "there"}).cells[0].key == key
    assert read_grid(file, {}).cells[0].key == key
    assert read_grid(file, {"data": "here", "steps": 5}).cells[0].key != key


def test_further_tests_are_in_the_config(tmp_path: Path) -> None:
    content = tiny_grid()
    keys = {cell.key for cell in load(tmp_path, content).cells}
    content["tests"] = {"all given": {"corpora.dev.given": ["sents", "tag"]}}
    cells = load(tmp_path, content).cells
    assert not keys & {cell.key for cell in cells}
    text = filled(cells[0], tmp_path / "work").to_str(interpolate=False)
    assert Config().from_str(text)["tests"] == content["tests"]
    assert cells[0].config["corpora"]["dev"]["given"] == ["sents"]
    content["tests"] = {"wrong": {"corpora.test.given": []}}
    with pytest.raises(GridError, match=r"can't override 'corpora\.test\.given'"):
        load(tmp_path, content)


def test_missing_places_are_named(tmp_path: Path) -> None:
    assert read_grid(write_grid(tmp_path, tiny_grid()), {}).missing == ["data"]
    assert load(tmp_path, tiny_grid()).missing == []


def test_key_stays_when_axes_are_named_otherwise(tmp_path: Path) -> None:
    content = tiny_grid()
    keys = {cell.key for cell in load(tmp_path, content).cells}
    content["axes"]["layers"] = content["axes"].pop("N")
    assert {cell.key for cell in load(tmp_path, content).cells} == keys


def test_key_stays_when_defaults_are_spelled_out(tmp_path: Path) -> None:
    content = tiny_grid()
    keys = {cell.key for cell in load(tmp_path, content).cells}
    content["overrides"] |= {"training.max_epochs": 0, "nlp.disabled": []}
    assert {cell.key for cell in load(tmp_path, content).cells} == keys
    content["overrides"]["training.max_epochs"] = 1
    assert {cell.key for cell in load(tmp_path, content).cells}.isdisjoint(keys)


def test_bundles_replace_whole_sections(tmp_path: Path) -> None:
    content = tiny_grid()
    encoder = {"@architectures": "spacy.Tok2VecListener.v1", "width": 8}
    content["axes"]["encoder"] = {"shared": {"components.parser.model.tok2vec": encoder}}
    cell = load(tmp_path, content).cells[0]
    assert cell.axes["encoder"] == "shared"
    assert cell.config["components"]["parser"]["model"]["tok2vec"] == encoder


def test_lists_as_values_become_labels(tmp_path: Path) -> None:
    content = tiny_grid()
    path = "training.score_weights"
    content["axes"]["N"] = {"path": path, "values": [[1, 2], [3]]}
    grid = load(tmp_path, content)
    assert grid.axes["N"] == ["[1, 2]", "[3]"]
    assert grid.cells[-1].overrides[path] == [3]


def test_override_sets_dotted_paths() -> None:
    config: dict[str, Any] = {"training": {"optimizer": {"learn_rate": 1}}}
    override(config, "training.optimizer.learn_rate", 2)
    override(config, "training.new", True)
    assert config == {"training": {"optimizer": {"learn_rate": 2}, "new": True}}
    with pytest.raises(KeyError, match=r"training has no section 'optimiser'.*optimizer"):
        override(config, "training.optimiser.learn_rate", 2)
    with pytest.raises(KeyError, match="needs a section"):
        override(config, "training", {})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"axis": {}}, "unknown key 'axis'. Known keys: .*axes"),
        ({"name": None}, "'name' is missing. Add it"),
        ({"metrics": []}, "'metrics' is missing"),
        ({"metrics": "test.dep_las"}, "'metrics' must be a list of names, not 'test.dep_las'"),
        ({"shares": "other"}, "'shares' must be a list of names, not 'other'"),
        ({"config": "no.cfg"}, "'config' names no.cfg, but there is no"),
        ({"overrides": {"no.where": 1}}, "can't override 'no.where': .*no section 'no'"),
        ({"overrides": [1]}, "'overrides' must be a mapping"),
        ({"axes": {"N": [0, 1]}}, "'axes.N' must be a mapping"),
        ({"axes": {"N": {"values": [0, 1]}}}, "'axes.N' must have 'path'"),
        ({"axes": {"N": {"path": "a.b", "values": 3}}}, "'axes.N' must have 'path'.*a list"),
        ({"axes": {"N": {"one": 1}}}, "'axes.N.one' must be a mapping"),
        ({"axes": {"N": {"path": "no.x", "values": [0]}}}, "can't override 'no.x'"),
        (
            {"axes": {n: {"path": "system.seed", "values": [0, 1]} for n in "ab"}},
            "are the same run",
        ),
    ],
)
def test_errors_name_the_key_and_the_remedy(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(GridError, match=message):
        load(tmp_path, {**tiny_grid(), **change})


def test_unknown_variable(tmp_path: Path) -> None:
    with pytest.raises(GridError, match=r"--vars\.step is given.*It has: data, steps"):
        load(tmp_path, tiny_grid(), step=3)


def test_no_yaml(tmp_path: Path) -> None:
    (tmp_path / "bad.yml").write_text("a: [", encoding="utf-8")
    with pytest.raises(GridError, match="no valid YAML"):
        read_grid(tmp_path / "bad.yml", {})
    (tmp_path / "bad.yml").write_text("just text", encoding="utf-8")
    with pytest.raises(GridError, match="must be a mapping"):
        read_grid(tmp_path / "bad.yml", {})
