"""A job knows its inputs, shards know whether they are whole, and one process writes."""

import json
import os
import shutil
import socket
from pathlib import Path

import pytest
from test_annotate import TEXTS, bad_in, bytes_in, lines, model, start, stopping_after  # noqa: F401

from spacy_biaffine.annotate.local import run_here
from spacy_biaffine.annotate.run import Summary, annotate
from spacy_biaffine.annotate.worker import Job
from spacy_biaffine.formats.common.locks import only_writer


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    return [lines(tmp_path / "a.txt", *TEXTS[:5]), lines(tmp_path / "b.txt", *TEXTS[5:])]


def run(model, sources: list[Path], target: Path, **given) -> Summary:  # noqa: F811
    job = Job(str(model), "layers", None, None, -1)
    return annotate(job, sources, target, given.pop("by", run_here), shard_size=3, **given)


def stopped(model, source: Path, target: Path, form: str, shards: int = 2) -> Path:  # noqa: F811
    """The folder of the parts of a run that was stopped."""
    with pytest.raises(KeyboardInterrupt):
        start(model, source, target, form, stopping_after(shards))
    return target.with_name(target.name + ".parts")


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        ((1, 0), "the same files in another order"),
        ((0, 0, 1), "a file is given more or less often"),
        ((0,), "another inputs"),
    ],
)
def test_other_lists_of_inputs_are_other_jobs(model, two, tmp_path, order, reason):  # noqa: F811
    target = tmp_path / "out.jsonl"
    with pytest.raises(KeyboardInterrupt):
        run(model, two, target, by=stopping_after(2))
    with pytest.raises(ValueError, match=reason):
        run(model, [two[n] for n in order], target)
    assert run(model, two, target).earlier == 6
    assert [json.loads(line)["text"] for line in target.open(encoding="utf-8")] == TEXTS
    with pytest.raises(ValueError, match=reason):
        run(model, [two[n] for n in order], target)


def test_a_job_of_other_versions_is_refused(model, two, tmp_path):  # noqa: F811
    target = tmp_path / "out.jsonl"
    run(model, two, target)
    path = tmp_path / "out.jsonl.job.json"
    job = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps({**job, "versions": {**job["versions"], "spacy": "3.0"}}), encoding="utf-8"
    )
    with pytest.raises(ValueError, match=r"another versions \(spacy 3.0, now 3.8"):
        run(model, two, target)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"model": ["m", "x"], "inputs": {"a.txt": "x"}}', "of another version .* remove"),
        ('{"model": ["m", ', "torn .* remove"),
        ("[]", "of another version"),
    ],
)
def test_job_files_of_an_older_form_or_torn_are_refused(model, two, tmp_path, text, reason):  # noqa: F811
    (tmp_path / "out.jsonl.job.json").write_text(text, encoding="utf-8")
    (tmp_path / "out.jsonl.parts").mkdir()
    with pytest.raises(ValueError, match=reason) as error:
        run(model, two, tmp_path / "out.jsonl")
    assert "out.jsonl.parts" in str(error.value)


@pytest.mark.parametrize("kind", ["shards", "bad", "done"])
@pytest.mark.parametrize("damage", ["emptied", "cut", "changed", "removed", "of another"])
def test_torn_shards_are_made_again(model, tmp_path, kind, damage):  # noqa: F811
    name, form = "out.spacy", "spacy"
    source = lines(tmp_path / "in.txt", "broken", *TEXTS[:5], "broken", *TEXTS[5:])
    whole = start(model, source, tmp_path / f"whole-{name}", form).target
    parts = stopped(model, source, tmp_path / name, form)
    damaged = next((parts / kind).glob("00000.*"))
    data = damaged.read_bytes()
    if damage == "removed":
        damaged.unlink()
    elif damage == "of another":
        shutil.copy(next((parts / kind).glob("00001.*"), parts / "done" / "00001.json"), damaged)
    else:
        torn = {"emptied": b"", "cut": data[:-1], "changed": b"#" + data[1:]}[damage]
        damaged.write_bytes(torn)
    summary = start(model, source, tmp_path / name, form)
    assert bytes_in(summary.target) == bytes_in(whole)
    assert bad_in(tmp_path / name) == bad_in(tmp_path / f"whole-{name}")
    assert (summary.earlier, summary.total.docs, summary.total.left_out) == (3, 10, 2)
    gone = (kind, damage) == ("shards", "removed")
    assert [Path(each).stem for each in summary.again] == ([] if gone else ["00000"])


def test_shards_of_another_job_are_not_taken(model, tmp_path):  # noqa: F811
    source = lines(tmp_path / "in.txt", *TEXTS)
    parts = stopped(
        model, lines(tmp_path / "other.txt", *TEXTS[::-1]), tmp_path / "o.spacy", "spacy"
    )
    shutil.copy(parts / "shards" / "00000.spacy", parts / "shards" / "00017.spacy")
    (tmp_path / "o.spacy.job.json").unlink()
    summary = start(model, source, tmp_path / "o.spacy", "spacy")
    assert (summary.earlier, len(summary.again)) == (0, 3)
    assert [each.name for each in sorted(summary.target.iterdir())] == [
        f"0000{number}.spacy" for number in range(4)
    ]
    assert bytes_in(summary.target) == bytes_in(
        start(model, source, tmp_path / "whole.spacy", "spacy").target
    )


@pytest.mark.parametrize(("name", "form"), [("out.jsonl", "layers"), ("out.spacy", "spacy")])
def test_a_result_that_was_torn_is_not_taken_for_whole(model, tmp_path, name, form):  # noqa: F811
    source = lines(tmp_path / "in.txt", *TEXTS)
    result = start(model, source, tmp_path / name, form).target
    file = result / "00001.spacy" if result.is_dir() else result
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r"is not what this command has written.* remove"):
        start(model, source, tmp_path / name, form)


def test_a_run_killed_after_its_result_was_described_goes_on(model, tmp_path, monkeypatch):  # noqa: F811
    source = lines(tmp_path / "in.txt", *TEXTS)

    def killed(*paths: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("spacy_biaffine.annotate.output.replace_on_disk", killed)
        start(model, source, tmp_path / "out.jsonl", "layers")
    assert not (tmp_path / "out.jsonl").exists()
    assert start(model, source, tmp_path / "out.jsonl", "layers").earlier == 10
    assert start(model, source, tmp_path / "out.jsonl", "layers").total.docs == 10


def test_the_second_writer_is_told_who_the_first_is(model, two, tmp_path):  # noqa: F811
    target = tmp_path / "out.jsonl"
    with only_writer(target):
        with pytest.raises(ValueError, match="is being written by process") as error:
            run(model, two, target)
        found = str(error.value)
        assert f"process {os.getpid()} on {socket.gethostname()}, since 2" in found
    assert run(model, two, target).total.docs == 10
    assert {each.name for each in tmp_path.iterdir()} == {
        "a.txt",
        "b.txt",
        "out.jsonl",
        "out.jsonl.job.json",
    }


def test_an_input_that_grows_meanwhile_is_told(model, two, tmp_path):  # noqa: F811
    def growing(job, shards):
        yield from run_here(job, shards)
        with two[1].open("a", encoding="utf-8") as file:
            file.write("More.\n")

    with pytest.raises(ValueError, match=r"b.txt has changed while it was read"):
        run(model, two, tmp_path / "out.jsonl", by=growing)
    assert not (tmp_path / "out.jsonl").exists()


def test_a_folder_is_no_output(model, two, tmp_path):  # noqa: F811
    (tmp_path / "out.jsonl").mkdir()
    with pytest.raises(ValueError, match=r"out.jsonl is a folder; OUT is the name of a file"):
        run(model, two, tmp_path / "out.jsonl")
