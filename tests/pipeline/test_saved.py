"""Pipelines that earlier versions have saved, and this one reads."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
import srsly
from factories import gold_docs
from packaging.requirements import Requirement
from saved_family import EXPECTED, PARTS, SAVED, predictions

from spacy_biaffine import __version__
from spacy_biaffine.doc.graphs import set_relations

FOLDERS = sorted(SAVED.glob("family-*"))

LARGEST = 300_000


@pytest.fixture(scope="module", params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    """Each of them."""
    return request.param


@pytest.fixture(scope="module")
def predicted(folder: Path) -> dict[str, Any]:
    """What this version predicts with it."""
    return predictions(spacy.load(folder))


def test_this_version_has_saved_one() -> None:
    assert SAVED / f"family-{__version__}" in FOLDERS


@pytest.mark.parametrize("kind", PARTS)
def test_predictions_are_those_of_the_version_that_saved_it(
    folder: Path, predicted: dict[str, Any], kind: str
) -> None:
    expected = srsly.read_json(folder / EXPECTED)[kind]
    assert len(expected) == len(predicted[kind])
    for ours, theirs in zip(predicted[kind], expected, strict=True):
        assert ours["found"] == theirs["found"]
        assert _flat(ours["scores"]) == pytest.approx(_flat(theirs["scores"]), abs=1e-5)


@pytest.mark.parametrize("kind", PARTS)
def test_it_had_learned(folder: Path, kind: str) -> None:
    """So that no component is said to agree in finding nothing."""
    docs = gold_docs(spacy.blank("xx").vocab)
    for doc in docs:  # relations are found within the sentences of the parser
        set_relations(doc, [r for r in doc._.relations if r.head.sent == r.tail.sent])
    gold = [PARTS[kind].read(doc) for doc in docs]
    found = [each["found"] for each in srsly.read_json(folder / EXPECTED)[kind]]
    assert found == srsly.json_loads(srsly.json_dumps(gold))


def test_a_package_of_it_names_the_plugin(folder: Path, tmp_path: Path) -> None:
    command = ["-m", "spacy", "package", folder, tmp_path, "--build", "none"]
    subprocess.run([sys.executable, *command], check=True, capture_output=True)
    (meta,) = tmp_path.glob("*/meta.json")
    required = {each.name: each for each in map(Requirement, srsly.read_json(meta)["requirements"])}
    assert __version__ in required["spacy-biaffine"].specifier
    assert "99.0" not in required["spacy-biaffine"].specifier


def test_it_is_small(folder: Path) -> None:
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < LARGEST


def _flat(scores: list[Any]) -> list[float]:
    return [number for row in scores for number in (row if isinstance(row, list) else [row])]
