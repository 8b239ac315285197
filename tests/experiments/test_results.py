from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spacy_biaffine.experiments.results import Results


def test_lines_come_back(tmp_path: Path) -> None:
    results = Results(tmp_path / "new" / "r.jsonl")
    assert results.read() == {}
    results.append({"key": "a", "x": 1})
    results.append({"key": "b", "x": "ü"})
    assert results.read() == {"a": {"key": "a", "x": 1}, "b": {"key": "b", "x": "ü"}}


@pytest.mark.parametrize("torn", ['{"key": "b", "x"', '{"key": "b"}', "\0\0"])
def test_torn_last_line_is_left_out_and_cut_away(tmp_path: Path, torn: str) -> None:
    results = Results(tmp_path / "r.jsonl")
    results.append({"key": "a"})
    with results.path.open("a", encoding="utf-8") as file:
        file.write(torn)
    assert list(results.read()) == ["a"]
    results.append({"key": "c"})
    assert results.path.read_text(encoding="utf-8") == '{"key": "a"}\n{"key": "c"}\n'


@pytest.mark.parametrize("bad", ["no json", "[1]", '{"axes": {}}'])
def test_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(f'{{"key": "a"}}\n{bad}\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"r\.jsonl:2 is no result line. Delete it"):
        Results(path).read()


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    def write(number: int) -> None:
        Results(tmp_path / "r.jsonl").append({"key": str(number), "long": "x" * 5000})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(write, range(40)))
    assert len(Results(tmp_path / "r.jsonl").read()) == 40


def test_a_cell_is_claimed_once(tmp_path: Path) -> None:
    mine, other = Results(tmp_path / "r.jsonl"), Results(tmp_path / "r.jsonl")
    claim = mine.claim("a")
    assert claim is not None
    assert other.claim("a") is None
    assert other.claim("b") is not None
    claim.release()
    assert other.claim("a") is not None
