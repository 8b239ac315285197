"""Several processes under the start methods of macOS, Windows and newer Pythons."""

import os
import pickle
import subprocess
import sys
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

import pytest
from factories import Factory
from saved_family import SAVED
from spacy.tokens.underscore import Underscore

from spacy_biaffine import __version__
from spacy_biaffine.doc.scores import register_token_label, register_token_score

CODE = """
import multiprocessing
import sys

import spacy
from saved_family import PARTS

from spacy_biaffine.doc.scores import register_token_label

TEXTS = ["Rain fell on us .", "Nobody slept .", "Ann fell ."] * 2


def main(method, folder):
    multiprocessing.set_start_method(method)
    nlp = spacy.load(folder)
    register_token_label("supertag")
    assert len(nlp.pipe_names) == 5
    docs = nlp.pipe(TEXTS, n_process=2, batch_size=2)
    for ours, theirs in zip(docs, nlp.pipe(TEXTS, batch_size=2), strict=True):
        for part in PARTS.values():
            assert part.read(ours) == part.read(theirs)
    print(method, multiprocessing.get_start_method())


if __name__ == "__main__":
    main(*sys.argv[1:])
"""


METHODS = ["spawn"] if sys.platform == "win32" else ["spawn", "forkserver"]


@pytest.mark.parametrize("method", METHODS)
def test_all_components(method: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"  # what is spawned imports it
    script.write_text(CODE, encoding="utf8")
    run = subprocess.run(
        [sys.executable, script, method, SAVED / f"family-{__version__}"],
        env=with_tests_on_path(),
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [method, method]


def with_tests_on_path() -> dict[str, str]:
    """The environment of a process that can import what lies beside the tests."""
    tests = str(Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": tests, "OMP_NUM_THREADS": "1"}


REGISTERED = [
    entry
    for entry in distribution("spacy-biaffine").entry_points
    if entry.group.startswith(("spacy_", "thinc_")) and entry.group != "spacy_cli"
]


def there_and_back(value: object) -> object:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("entry", REGISTERED, ids=lambda entry: entry.name)
def test_what_is_registered_can_be_sent_to_another_process(entry: EntryPoint) -> None:
    value = entry.load()
    again = there_and_back(value)
    assert again is value if callable(value) else again == value


def test_extensions_can_be_sent() -> None:
    """spaCy gives all of them to its workers, whatever the pipeline."""
    register_token_label("sent_label")
    register_token_score("sent_score")
    ours = [
        (name, functions)
        for extensions in Underscore.get_state()
        for name, functions in extensions.items()
        if any(module_of(function).startswith("spacy_biaffine") for function in functions)
    ]
    assert {"frames", "relations", "sent_label", "sent_score"} <= {name for name, _ in ours}
    for each in ours:
        there_and_back(each)


def module_of(function: object) -> str:
    return getattr(getattr(function, "func", function), "__module__", None) or ""


def test_components_can_be_sent(factory: Factory) -> None:
    nlp = factory.make()
    pipe = nlp.get_pipe(factory.name)
    again = there_and_back(pipe.model)
    assert again.name == pipe.model.name
    there_and_back(pipe.scorer)
