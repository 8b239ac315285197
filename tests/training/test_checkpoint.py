"""A checkpoint is whole at any moment."""

from pathlib import Path

from spacy_biaffine.training.checkpoint import find_checkpoint, put_in_place


def checkpoint(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "state.pt").write_text(text)
    return folder


def test_a_folder_takes_the_place_of_another(tmp_path: Path) -> None:
    for text in ("one", "two"):
        put_in_place(checkpoint(tmp_path / "checkpoint.new", text), tmp_path / "checkpoint")
        assert (tmp_path / "checkpoint" / "state.pt").read_text() == text
        assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]


def test_the_only_whole_one_is_not_removed_before_there_is_another(tmp_path, monkeypatch) -> None:
    """A process was killed between two renames, and the next one in the same place."""
    checkpoint(tmp_path / "checkpoint.old", "one")
    new = checkpoint(tmp_path / "checkpoint.new", "two")
    seen = []

    def looking(source: Path, target: Path) -> None:
        seen.append(find_checkpoint(tmp_path))

    monkeypatch.setattr(Path, "replace", looking)
    put_in_place(new, tmp_path / "checkpoint")
    assert seen == [tmp_path / "checkpoint.old"]
