"""Annotating on a Ray cluster of two nodes of this machine, one of which dies in the middle."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy

pytest.importorskip("ray")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(folder)
    return folder


# In a process of its own: Ray reads the environment of the fixture when it is imported.
DRIVER = """
import json, sys
from pathlib import Path
from spacy_biaffine.annotate.on_ray import run_on_ray
from spacy_biaffine.annotate.run import annotate
from spacy_biaffine.annotate.worker import Job

model, source, target, address = sys.argv[1:]
counts = []

def told(records):
    counts.append(records)
    if len(counts) == 5:
        print("five shards", flush=True)
        sys.stdin.readline()

job = Job(model, "entities", None, None, -1)
annotate(job, [Path(source)], Path(target), run_on_ray(address), shard_size=20, told=told)
Path(target + ".counts").write_text(json.dumps(counts))
"""


@pytest.mark.slow
def test_each_shard_counts_once_when_a_node_dies(model: Path, tmp_path: Path, cluster: Any) -> None:
    node = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    texts = [f"Letter {number} came. Nobody slept." for number in range(600)]
    source.write_text(
        "".join(json.dumps({"id": n, "text": t}) + "\n" for n, t in enumerate(texts)),
        encoding="utf-8",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(model), str(source), str(target), cluster.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "five shards\n"
    cluster.remove_node(node, allow_graceful=False)
    process.communicate("go on\n", timeout=600)
    assert process.returncode == 0
    assert json.loads((tmp_path / "out.jsonl.counts").read_text(encoding="utf-8")) == [20] * 30
    found = [json.loads(line) for line in target.open(encoding="utf-8")]
    assert [(each["id"], each["text"]) for each in found] == list(enumerate(texts))


@pytest.mark.slow
def test_what_fails_on_a_node_is_told(tmp_path: Path, cluster: Any) -> None:
    (tmp_path / "config.cfg").write_text("[nothing]", encoding="utf-8")
    (tmp_path / "in.txt").write_text("One.\n", encoding="utf-8")
    command = [sys.executable, "-m", "spacy", "biaffine", "annotate"]
    command += [str(tmp_path), str(tmp_path / "in.txt"), str(tmp_path / "out.jsonl")]
    command += ["--ray", cluster.address]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=600)
    assert done.returncode == 1
    output = " ".join(done.stdout.split())
    assert "on a node" in output and "can't be loaded" in output
