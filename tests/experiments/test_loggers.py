import io
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config_from_str, registry
from tiny_grid import CONFIG, random_docs

from spacy_biaffine.experiments import loggers

LOGGER = "spacy-biaffine.JsonlLogger.v1"


def trained_with_logger(folder: Path, **options: Any) -> tuple[str, list[dict[str, Any]]]:
    """What a training of 5 steps prints and logs."""
    for number, part in enumerate(("train", "dev")):
        DocBin(docs=random_docs(8, seed=number)).to_disk(folder / f"{part}.spacy")
    paths = {f"paths.{part}": str(folder / f"{part}.spacy") for part in ("train", "dev")}
    config = load_config_from_str(CONFIG, paths)
    logger = {"@loggers": LOGGER, "path": str(folder / "log" / "log.jsonl"), **options}
    config["training"] |= {"logger": logger, "max_steps": 5}
    nlp: Language = init_nlp(config)
    printed = io.StringIO()
    train(nlp, stdout=printed)
    lines = (folder / "log" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return printed.getvalue(), [json.loads(line) for line in lines]


def test_registered() -> None:
    assert registry.loggers.get(LOGGER) is loggers.JsonlLogger


def test_an_object_an_evaluation_and_the_end(tmp_path: Path) -> None:
    printed, entries = trained_with_logger(tmp_path)
    *evaluations, last = entries
    assert "DEP_LAS" in printed
    assert [entry["step"] for entry in evaluations] == [0, 2, 4]
    assert last["end"]["step"] == 5
    first = evaluations[0]
    assert set(first) == {"epoch", "step", "seconds", "losses", "score", "scores"}
    assert first["score"] == pytest.approx(first["scores"]["dep_las"])
    assert "dep_las_per_type" not in first["scores"]
    assert "speed" not in first["scores"]
    assert first["losses"]["parser"] > 0
    seconds = [entry["seconds"] for entry in evaluations]
    assert seconds == sorted(seconds)


def test_memory_is_given_back_after_each_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    monkeypatch.setattr(loggers, "give_back", lambda: given.append("back"))
    _, (*evaluations, _end) = trained_with_logger(tmp_path)
    assert len(given) == len(evaluations) == 3


def test_watch_is_written_beside_the_scores(tmp_path: Path) -> None:
    _, entries = trained_with_logger(tmp_path, watch=True)
    for entry in entries[:-1]:
        assert set(entry["watch"]["parser"]) == {
            "arc_score_std",
            "arc_score_std_heads",
            "gradient_norm",
            "effective_rank",
            "rank_share",
        }


def test_tensorboard_where_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[str, float, int]] = []

    class SummaryWriter:
        def __init__(self, folder: str) -> None:
            assert folder == str(tmp_path / "log")

        def add_scalar(self, tag: str, value: float, step: int) -> None:
            written.append((tag, value, step))

        def close(self) -> None:
            written.append(("closed", 0, 0))

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]  # a stand-in
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    monkeypatch.setattr(loggers.importlib.util, "find_spec", lambda name: object())
    _, entries = trained_with_logger(tmp_path)
    assert ("scores/dep_las", entries[1]["scores"]["dep_las"], 2) in written
    assert ("losses/parser", entries[1]["losses"]["parser"], 2) in written
    assert written[-1][0] == "closed"
