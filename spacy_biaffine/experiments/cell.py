"""One training run in a process of its own: ``python -m spacy_biaffine.experiments.cell FOLDER``.

Reads FOLDER/config.cfg and does what ``python -m spacy train`` does, the same three calls. Then
it evaluates the best model on the test set, and writes FOLDER/result.json.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import torch
from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, load_model, registry
from thinc.api import Config

from ..memory import keep_few_primitives
from .loggers import numbers
from .measure import count_parameters, peak_memory_mb, versions

LOGGER = "spacy-biaffine.JsonlLogger.v1"


def run(folder: Path) -> dict[str, Any]:
    """Train and evaluate. Everything that differs between two runs of a cell is under `times`,
    `history[...].seconds` and `peak_memory_mb`."""
    torch.set_num_threads(1)
    keep_few_primitives()
    log = folder / "log.jsonl"
    config = load_config(folder / "config.cfg", interpolate=False)
    config["training"]["logger"] = {"@loggers": LOGGER, "path": str(log), "watch": True}
    models = folder / "model"
    models.mkdir()
    times = {"initialize": time.perf_counter()}
    nlp = init_nlp(config)
    times["train"] = time.perf_counter()
    train(nlp, models)
    times["test"] = time.perf_counter()
    memory = peak_memory_mb()
    *history, last = map(json.loads, log.read_text(encoding="utf8").splitlines())
    best = max(history, key=lambda entry: (entry["score"], -entry["step"]))
    scores, speed = evaluate_models(nlp, models / "model-best")
    otherwise = test_otherwise(models / "model-best", nlp.config.get("tests", {}))
    end = time.perf_counter()
    training = nlp.config.interpolate()["training"]
    return {
        "seed": training["seed"],
        "steps": last["end"]["step"],
        "best_step": best["step"],
        "parameters": count_parameters(nlp, training["frozen_components"]),
        "dev": best["scores"],
        **scores,
        **otherwise,
        "history": history,
        "versions": versions(),
        "peak_memory_mb": memory,
        "times": {
            "initialize": times["train"] - times["initialize"],
            "train": times["test"] - times["train"],
            "test": end - times["test"],
            "user": os.times().user,
            **speed,
        },
    }


def evaluate_models(
    trained: Language, best: Path
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Scores of the last and the best model on the test set, where the config has one, and the
    words that the best one reads in a second."""
    corpus = corpus_of_test(trained.config.interpolate())
    if corpus is None:
        return {}, {}
    # The last model first: it is still in training, and so writes the features of the test set
    # into the cache that the runs share.
    last = numbers(trained.evaluate(corpus(trained)))
    nlp = load_model(best)
    scores = nlp.evaluate(corpus(nlp))
    return {"test": numbers(scores), "test_last": last}, {"words_per_second": scores["speed"]}


def test_otherwise(
    best: Path, tests: dict[str, dict[str, Any]]
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Scores of the best model with other settings, on the dev and the test set.

    tests: name to settings, by dotted path in the config.
    """
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for name, settings in tests.items():
        nlp = load_model(best, config=settings)
        config = nlp.config.interpolate()
        corpora = {"dev": dev_corpus(config), "test": corpus_of_test(config)}
        scores[name] = {
            part: numbers(nlp.evaluate(corpus(nlp))) for part, corpus in corpora.items() if corpus
        }
    return {"tests": scores} if scores else {}


def corpus_of_test(config: Config) -> Any:
    """The reader of the dev corpus, on the file that `paths.test` names; None without it."""
    path = config["paths"].get("test")
    return None if path is None else dev_corpus(config, path)


def dev_corpus(config: Config, path: str | Path | None = None) -> Any:
    """The reader of the dev corpus, on another file where there is a path."""
    section: Any = config
    for name in config["training"]["dev_corpus"].split("."):
        section = section[name]
    file = {} if path is None else {"path": str(path)}
    return registry.resolve({"corpus": {**section, **file}})["corpus"]


def _exit_with_parent() -> None:
    """Exit as soon as the process that started this one is gone: its end of the pipe closes."""

    def wait() -> None:
        sys.stdin.read()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Run the cell in the folder that is the argument."""
    folder = Path(sys.argv[1])
    _exit_with_parent()
    result = run(folder)
    unfinished = folder / "result.json.part"
    unfinished.write_text(json.dumps(result), encoding="utf8")
    unfinished.replace(folder / "result.json")


if __name__ == "__main__":
    main()
