"""`spacy project run pipeline`: which treebank it means, what it is called, what it needs."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest
import srsly

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from workflow import recipe  # noqa: E402

SOURCES = ("propbank", "btc", "wnut", "uner", "pud")


def arguments(treebank: Path, **others: Any) -> argparse.Namespace:
    options = {"lang": "", "encoder": "", "name": "", **dict.fromkeys(SOURCES, "")}
    return argparse.Namespace(treebank=treebank, **{**options, **others})


def treebank(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True)
    (folder / f"{name}-ud-train.conllu").touch()
    return folder


def test_the_sampler_stands_for_ewt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    treebank(tmp_path / recipe.SAMPLER, "en_sampler")
    with pytest.raises(ValueError, match="spacy project run sources"):
        recipe.Recipe(arguments(recipe.SAMPLER))
    treebank(tmp_path / recipe.EWT, "en_ewt")
    found = recipe.Recipe(arguments(recipe.SAMPLER))
    assert found.treebank == recipe.EWT
    assert (found.lang, found.name, found.encoder) == ("en", "biaffine_web_sm", recipe.MINILM)
    assert found.run == Path("training", "UD_English-EWT", "pipeline")


def test_any_other_treebank(tmp_path):
    folder = treebank(tmp_path / "UD_French-Sequoia", "fr_sequoia")
    found = recipe.Recipe(arguments(folder, propbank="not there"))
    assert (found.lang, found.name, found.encoder) == ("fr", "sequoia", "")
    assert not found.is_ewt
    named = recipe.Recipe(arguments(folder, name="web", encoder="camembert"))
    assert (named.name, named.encoder) == ("web", "camembert")


def test_without_train(tmp_path):
    folder = treebank(tmp_path / "UD_English-PUD", "en_pud")
    (folder / "en_pud-ud-train.conllu").rename(folder / "en_pud-ud-test.conllu")
    with pytest.raises(ValueError, match="nothing to learn from"):
        recipe.Recipe(arguments(folder))


def test_a_source_that_was_not_fetched(tmp_path):
    folder = treebank(tmp_path / "UD_English-EWT", "en_ewt")
    with pytest.raises(ValueError, match=r"btc is not there.*--vars\.propbank"):
        recipe.corpora(arguments(folder, btc=str(tmp_path / "btc")))


def test_the_project_runs_steps_that_there_are():
    project = srsly.read_yaml(ROOT / "project.yml")
    names = {command["name"] for command in project["commands"]}
    assert set(project["workflows"]["pipeline"]) <= names
    for source in SOURCES:
        assert any(project["vars"][source] in asset["dest"] for asset in project["assets"])
