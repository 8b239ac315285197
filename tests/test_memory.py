"""Memory of long runs."""

import os
import re
from pathlib import Path

import numpy as np
import pytest
from factories import FACTORIES, gold_docs

from spacy_biaffine import memory
from spacy_biaffine.annotate import worker
from spacy_biaffine.annotate.records import PlainText
from spacy_biaffine.annotate.shards import cut

STATUS = Path("/proc/self/status")


def resident_mib() -> float:
    found = re.search(r"VmRSS:\s+(\d+)", STATUS.read_text(encoding="utf-8"))
    return int(found[1]) / 1024 if found else 0.0


@pytest.mark.skipif(memory._trim is None or not STATUS.exists(), reason="needs glibc and /proc")
def test_free_memory_is_given_back() -> None:
    blocks = [np.ones(2000) for _ in range(8000)]  # 128 MB; too small to be mapped one by one
    above = blocks.pop()  # without it glibc would return all by itself
    blocks.clear()
    before = resident_mib()
    memory.give_back()
    assert above.all()
    assert resident_mib() < before - 64


def test_other_c_libraries_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    assert memory._find_trim() is None
    monkeypatch.setattr(memory, "_trim", None)
    memory.give_back()


def test_what_the_user_has_set_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "7")
    memory.keep_few_primitives()
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "7"


def test_shards_give_memory_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nlp = FACTORIES[0].make()
    nlp.to_disk(tmp_path)
    given = []
    monkeypatch.setattr(worker, "give_back", lambda: given.append("back"))
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    annotate = worker.Worker(worker.Job(str(tmp_path), "spacy", None, None, -1))
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == str(memory.FEW)
    records = (PlainText("here:1", doc.text) for doc in gold_docs(nlp.vocab))
    assert [annotate(shard).docs for shard in cut(records, 1)] == [1, 1]
    assert given == ["back", "back"]
