"""Where a library of an extra is not installed, the message says which extra to install."""

import sys
from pathlib import Path

import pytest
import spacy
from cli.cli_cases import call

from spacy_biaffine.encoders.checkpoints import read_tokenizer
from spacy_biaffine.encoders.frozen_encoder import FrozenEncoder


def hide(monkeypatch: pytest.MonkeyPatch, library: str, *ours: str) -> None:
    """Let a library be missing, and modules of ours that import it be new."""
    parts = [name for name in sys.modules if name.startswith(f"{library}.")]
    for name in (library, *parts):
        monkeypatch.setitem(sys.modules, name, None)
    for name in ours:
        monkeypatch.delitem(sys.modules, f"spacy_biaffine.{name}", raising=False)


@pytest.mark.parametrize("library", ["transformers", "safetensors"])
def test_frozen_transformer(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    """It is loaded with its pipeline."""
    hide(monkeypatch, library)
    with pytest.raises(ImportError, match=r"FrozenTransformer needs .*pip install -e '\.\[transf"):
        FrozenEncoder.from_bytes(b"")


def test_tokenizer_of_a_transformer(monkeypatch: pytest.MonkeyPatch) -> None:
    hide(monkeypatch, "tokenizers")
    with pytest.raises(ImportError, match=r"SynG2G needs .*pip install -e '\.\[transformers\]'"):
        read_tokenizer("{}", user="SynG2G")


def test_commands(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    model = tmp_path / "model"
    spacy.blank("xx").to_disk(model)
    (tmp_path / "in.txt").write_text("Rain\n", encoding="utf-8")
    (tmp_path / "grid.yml").write_text("name: grid\n", encoding="utf-8")
    hide(monkeypatch, "starlette", "serve.app")
    assert "pip install -e '.[serve]' in a clone" in call("serve", model)[1]
    hide(monkeypatch, "ray", "annotate.on_ray")
    on_ray = ["annotate", model, tmp_path / "in.txt", tmp_path / "out.jsonl", "--ray", "auto"]
    assert "pip install -e '.[ray]' in a clone" in call(*on_ray)[1]
    hide(monkeypatch, "filelock", "experiments.drive", "experiments.results")
    assert (
        "pip install -e '.[experiments]' in a clone" in call("experiment", tmp_path / "grid.yml")[1]
    )
