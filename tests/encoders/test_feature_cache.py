"""The folder is shared by processes and survives what a crash leaves behind."""

import os
import subprocess
import sys
import warnings
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from spacy_biaffine.encoders.feature_cache import DiskCache, MemoryCache, text_key

WIDTH = 3


def _features(first: int, last: int) -> dict[bytes, np.ndarray]:
    """Made-up features that can be told from their number; text i has i % 4 words."""
    return {
        text_key([str(i)]): np.full((i % 4, WIDTH), i, dtype="float32") for i in range(first, last)
    }


def _same(found: dict[bytes, np.ndarray], expected: dict[bytes, np.ndarray]) -> bool:
    return found.keys() == expected.keys() and all(
        np.array_equal(found[key], expected[key]) for key in expected
    )


def _files(folder: Path, ending: str) -> list[Path]:
    return sorted(folder.glob(f"*.{ending}"))


def test_keys_know_where_words_begin():
    texts = (["ab"], ["a", "b"], ["a\x00b"], ["a", "", "b"], [])
    assert len({text_key(text) for text in texts}) == len(texts)


def test_disk_keeps_features_for_the_next_process(tmp_path):
    features = _features(0, 9)
    cache = DiskCache(tmp_path / "new" / "folder", WIDTH)
    assert cache.read(features) == {}
    cache.write(features)
    assert _same(cache.read([*features, b"unknown" * 2]), features)
    assert _same(DiskCache(tmp_path / "new" / "folder", WIDTH).read(features), features)


def test_reading_writes_nothing(tmp_path):
    assert DiskCache(tmp_path / "folder", WIDTH).read([b"x" * 16]) == {}
    assert list(tmp_path.iterdir()) == []


def test_other_process_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_biaffine.encoders.feature_cache.REFRESH_SECONDS", 0.0)
    one, other = DiskCache(tmp_path, WIDTH), DiskCache(tmp_path, WIDTH)
    for start in (0, 10, 20):
        one.write(_features(start, start + 10))
        assert _same(other.read(_features(0, start + 10)), _features(0, start + 10))
    assert len(_files(tmp_path, "features")) == 1


def write_in_turns(folder: Path) -> None:
    """What a training does: look a batch up, write what is missing."""
    cache = DiskCache(folder, WIDTH)
    for start in range(0, 400, 8):
        batch = _features(start, start + 8)
        found = cache.read(batch)
        cache.write({key: batch[key] for key in batch if key not in found})
        assert _same(cache.read(batch), batch)


def test_two_processes_write_at_once(tmp_path):
    script = (
        "import sys; from pathlib import Path; from test_feature_cache import write_in_turns; "
        "write_in_turns(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    runs = [subprocess.Popen(command, cwd=Path(__file__).parent) for _ in range(2)]
    assert [run.wait(timeout=60) for run in runs] == [0, 0]
    assert _same(DiskCache(tmp_path, WIDTH).read(_features(0, 400)), _features(0, 400))


@pytest.mark.parametrize("ending", ["features", "index"])
@pytest.mark.parametrize("lost", [1, 4, 31, 32, 33, 1000])
def test_torn_files_lose_records_and_nothing_else(tmp_path, ending, lost):
    features = _features(0, 30)
    DiskCache(tmp_path, WIDTH).write(features)
    (path,) = _files(tmp_path, ending)
    path.write_bytes(path.read_bytes()[:-lost])
    cache = DiskCache(tmp_path, WIDTH)
    with (
        pytest.warns(UserWarning, match=f"{path.name} is damaged")
        if (ending == "features")
        else nullcontext()
    ):
        found = cache.read(features)
    assert _same(found, {key: features[key] for key in found})
    assert len(found) < len(features)
    cache.write({key: features[key] for key in features if key not in found})
    assert _same(cache.read(features), features)


def test_damaged_record_is_not_believed(tmp_path):
    features = _features(1, 3)
    DiskCache(tmp_path, WIDTH).write(features)
    (path,) = _files(tmp_path, "features")
    data = bytearray(path.read_bytes())
    data[5] ^= 1
    path.write_bytes(bytes(data))
    with pytest.warns(UserWarning, match=f"{path.name} is damaged") as warned:
        cache = DiskCache(tmp_path, WIDTH)
        found = cache.read(features)
        assert len(found) == len(cache.read(features)) == 1
    assert len(warned) == 1
    cache.write({key: features[key] for key in features if key not in found})
    assert _same(cache.read(features), features)
    with warnings.catch_warnings():  # it depends on the files' names which one is read first
        warnings.simplefilter("ignore")
        assert _same(DiskCache(tmp_path, WIDTH).read(features), features)


def test_missing_data_file(tmp_path):
    DiskCache(tmp_path, WIDTH).write(_features(1, 3))
    _files(tmp_path, "features")[0].unlink()
    with pytest.warns(UserWarning, match="is damaged"):
        assert DiskCache(tmp_path, WIDTH).read(_features(1, 3)) == {}


@pytest.mark.parametrize("ending", ["features", "index"])
@pytest.mark.parametrize("left", [0, 5, 40])
def test_files_that_shrink_while_they_are_read_are_told(tmp_path, monkeypatch, ending, left):
    """As when the folder is copied back from an older copy while a training runs."""
    monkeypatch.setattr("spacy_biaffine.encoders.feature_cache.REFRESH_SECONDS", 0.0)
    features = _features(0, 30)
    DiskCache(tmp_path, WIDTH).write(features)
    cache = DiskCache(tmp_path, WIDTH)
    assert _same(cache.read(features), features)
    (path,) = _files(tmp_path, ending)
    os.truncate(path, left)
    with pytest.warns(UserWarning, match=f"{path.name} is damaged") as warned:
        found = cache.read([*features, b"unknown" * 2])
    assert len(warned) == 1
    assert _same(found, {key: features[key] for key in found})
    cache.write({key: features[key] for key in features if key not in found})
    assert _same(cache.read(features), features)


def test_a_full_disk_ends_no_training(tmp_path):
    features = _features(0, 30)
    (tmp_path / "file").touch()
    cache = DiskCache(tmp_path / "file" / "folder", WIDTH)
    with pytest.warns(UserWarning, match="can't write to .*Training goes on") as warned:
        cache.write(features)
        cache.write(features)
    assert len(warned) == 1
    assert cache.read(features) == {}


def test_memory_is_bounded_and_keeps_the_first():
    features = {text_key([str(i)]): np.ones((1, WIDTH), dtype="float32") for i in range(5)}
    cache = MemoryCache(limit=3 * WIDTH * 4)
    with pytest.warns(UserWarning, match="of 3 texts fill the .*`cache`") as warned:
        for key, value in features.items():
            cache.write({key: value})
    assert len(warned) == 1
    assert list(cache.read(features)) == list(features)[:3]
