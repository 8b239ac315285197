"""``python -m spacy biaffine annotate``."""

import json
from pathlib import Path

import pytest
import spacy
from thinc.compat import has_gpu
from typer.testing import CliRunner

from spacy_biaffine.cli import app


@pytest.fixture
def model(tmp_path: Path) -> Path:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text('{"text": "Rain fell."}\n{"text": \n', encoding="utf-8")
    return path


def run(*arguments: object) -> tuple[int, str]:
    """Exit code and output on one line (messages are wrapped)."""
    result = CliRunner().invoke(app, ["annotate", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def test_what_was_written_and_what_was_left_out(model, source, tmp_path):
    code, output = run(model, source, source, tmp_path / "out.conllu")
    assert code == 1
    assert "2 texts were left out" in output and "--skip-bad" in output
    assert "2 inputs" in output and "docs 2" in output and "words 6" in output
    assert "texts left out 2" in output
    assert f"left out {source}:2: this is no JSON" in output
    assert (tmp_path / "out.conllu").read_text(encoding="utf-8").count("# text = Rain fell.\n") == 2
    code, output = run(model, source, source, tmp_path / "out.conllu", "--skip-bad")
    assert code == 0
    assert "is there already" in output and "texts left out 2" in output
    assert run(model, source, source, tmp_path / "out.conllu")[0] == 1


def test_where_everything_was_left_out_it_has_failed(model, tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": \n[]\n', encoding="utf-8")
    for _ in range(2):
        code, output = run(model, source, tmp_path / "out.jsonl", "--skip-bad")
        assert code == 1
        assert "No text is in" in output and "2 were left out" in output
    assert len((tmp_path / "out.jsonl.bad.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_layers_that_the_form_has_no_place_for_are_counted(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "PLACE", "pattern": "Oslo"}])
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "in.txt").write_text("Oslo slept .\nNobody\nOslo\n", encoding="utf-8")
    code, output = run(tmp_path / "model", tmp_path / "in.txt", tmp_path / "out.conllu")
    assert code == 0
    assert "not in this form: entities 2" in output


def test_form_when_the_name_does_not_tell_it(model, source, tmp_path):
    code, output = run(model, source, tmp_path / "out.dat")
    assert code == 1
    assert "say --form, one of spacy, conllu" in output
    assert run(model, source, tmp_path / "out.dat", "--form", "entities", "--skip-bad")[0] == 0
    assert json.loads((tmp_path / "out.dat").read_text(encoding="utf-8"))["text"] == "Rain fell."


def test_there_is_no_such_pipeline(source, tmp_path):
    code, output = run(tmp_path / "nowhere", source, tmp_path / "out.spacy")
    assert code == 1
    assert "there is no pipeline" in output


def test_a_folder_that_is_no_pipeline(source, tmp_path):
    code, output = run(tmp_path, source, tmp_path / "out.spacy")
    assert code == 1
    assert "it has no config.cfg" in output


def test_a_pipeline_of_unknown_parts(model, source, tmp_path):
    config = model / "config.cfg"
    config.write_text(
        config.read_text(encoding="utf-8").replace('["sentencizer"]', '["nothing"]'),
        encoding="utf-8",
    )
    code, output = run(model, source, tmp_path / "out.spacy")
    assert code == 1
    assert f"{model} can't be loaded" in output and "nothing" in output


@pytest.mark.skipif(has_gpu, reason="there is a GPU")
def test_without_a_gpu(model, source, tmp_path):
    code, output = run(model, source, tmp_path / "out.spacy", "--gpu-id", 0)
    assert code == 1
    assert "--gpu-id 0 can't be used" in output
    assert "leave --gpu-id out for the CPU" in output
    assert run(model, source, tmp_path / "out.spacy", "--skip-bad")[0] == 0


def test_ray_takes_no_number_of_processes(model, source, tmp_path):
    code, output = run(model, source, tmp_path / "o.spacy", "--ray", "auto", "--n-process", 2)
    assert code == 1
    assert "--ray uses all CPUs" in output


def test_it_is_stopped(model, source, tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("spacy_biaffine.annotate.run.annotate", stop)
    code, output = run(model, source, tmp_path / "out.spacy")
    assert code == 130
    assert "The same command goes on from here" in output
