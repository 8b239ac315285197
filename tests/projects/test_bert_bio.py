"""The plain labeller of roles that syntax_srl is compared with."""

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

pytest.importorskip("transformers")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import bert_bio  # noqa: E402
from tiny_bert import save_bert  # noqa: E402

SENTENCE = """\
# sent_id = {number}
1	The	the	DET	DT	2	det	-	-	(ARG1*
2	rain	rain	NOUN	NN	3	nsubj	-	-	*)
3	fell	fall	VERB	VBD	0	root	fall	fall.01	(V*)

"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for part in ("train", "dev", "test"):
        text = "".join(SENTENCE.format(number=number) for number in range(5))
        (tmp_path / f"en_ewt-propbank-{part}.tsv").write_text(text, "utf-8")
    (tmp_path / "bert").mkdir()
    torch.manual_seed(0)
    save_bert(tmp_path / "bert")
    return tmp_path


def run(corpus: Path, name: str, monkeypatch: pytest.MonkeyPatch, *options: str) -> Path:
    words = ["bert_bio.py", str(corpus), str(corpus / name), "--encoder", str(corpus / "bert")]
    fixed = ["--layers", "1", "--batch", "2", "--rate", "0.01", "--steps", "30"]
    monkeypatch.setattr(sys, "argv", [*words, *fixed, *options])
    bert_bio.main()
    return corpus / name / "checkpoint.pt"


def test_it_learns(corpus, monkeypatch, capsys):
    run(corpus, "run", monkeypatch)
    dev, test = capsys.readouterr().out.splitlines()
    assert "'f': 1.0" in dev
    assert "'f': 1.0" in test


def test_it_goes_on_where_it_was(corpus, monkeypatch):
    whole = torch.load(run(corpus, "whole", monkeypatch))
    batches = bert_bio.batches

    def stopping(*args: Any) -> Iterator[list[bert_bio.Task]]:
        yield from islice(batches(*args), 12)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(bert_bio, "batches", stopping)
        run(corpus, "resumed", patch, "--save-every", "10")
    resumed = torch.load(run(corpus, "resumed", monkeypatch, "--save-every", "10"))
    for name, weight in whole["labeller"].items():
        assert torch.equal(weight, resumed["labeller"][name]), name


def test_spans_of_tags():
    tags = ["I-A", "I-A", "B-A", "I-B", "O", "B-B", "I-B"]
    spans = [("A", (0, 2)), ("A", (2, 3)), ("B", (3, 4)), ("B", (5, 7))]
    assert list(bert_bio.spans_of(tags)) == spans
