"""The project workflow on a treebank of a few sentences, as a user runs it."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from spacy_biaffine import __version__

ROOT = Path(__file__).resolve().parents[2]
SENTENCES = [
    ("Birds sing.", ["nsubj", "root", "punct"]),
    ("They fly.", ["nsubj", "root", "punct"]),
    ("Sing well.", ["root", "advmod", "punct"]),
]
SHORT = (
    "training.max_steps=4 training.eval_frequency=2 training.logger.progress_bar=null "
    "components.norm_biaffine_parser.model.lstm_hidden=8"
)


def write_treebank(folder: Path, splits: list[str]) -> None:
    folder.mkdir(parents=True)
    for split in splits:
        blocks = []
        for number in range(30):
            text, deps = SENTENCES[number % len(SENTENCES)]
            words = [*text[:-1].split(), "."]
            root = deps.index("root") + 1
            rows = [f"# sent_id = {split}-{number}", f"# text = {text}"]
            for i, (word, dep) in enumerate(zip(words, deps, strict=True), 1):
                head = 0 if i == root else root
                misc = "SpaceAfter=No" if i == 2 else "_"
                rows.append(f"{i}\t{word}\t_\tX\t_\t_\t{head}\t{dep}\t_\t{misc}")
            blocks.append("\n".join(rows) + "\n\n")
        (folder / f"en_tiny-ud-{split}.conllu").write_text("".join(blocks), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the project needs, so that the repository stays as it is."""
    folder = tmp_path_factory.mktemp("project")
    files = "project.yml setup.cfg pyproject.toml README.md CHANGELOG.md LICENSE MANIFEST.in"
    for name in files.split():
        shutil.copy(ROOT / name, folder)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("scripts", "configs", "spacy_biaffine"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    write_treebank(folder / "UD_Tiny", ["train", "dev", "test"])
    write_treebank(folder / "UD_Train", ["train"])
    write_treebank(folder / "UD_Test", ["test"])
    return folder


def run(project: Path, step: str, treebank: str = "UD_Tiny", expected: int = 0) -> str:
    command = [sys.executable, "-m", "spacy", "project", "run", step, "."]
    variables = {"treebank": treebank, "set": SHORT, "text": "Birds don't sing."}
    for name, value in variables.items():
        command += [f"--vars.{name}", value]
    environment = {**os.environ, "PYTHONUTF8": "1", "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=project, env=environment, capture_output=True, encoding="utf-8"
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return " ".join(done.stdout.split())  # messages are wrapped


def required(wheel: Path) -> list[str]:
    """The packages that a wheel asks for."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(file.read(name)).get_all("Requires-Dist", [])


@pytest.mark.slow
def test_from_treebank_to_installed_wheel(project: Path) -> None:
    output = run(project, "all")
    assert 'spacy.load("en_tiny")' in output
    assert "root" in output.rpartition("spacy.load")[2]
    assert "Birds" in output.rpartition("spacy.load")[2]
    scores = json.loads((project / "metrics/UD_Tiny/parser.json").read_text(encoding="utf-8"))
    assert set(scores) == {"gold_tokens", "plain_text"}
    assert 0 <= scores["gold_tokens"]["dep_las"] <= 1

    (wheel,) = (project / "packages").rglob("*.whl")
    needed = {each.name: each for each in map(Requirement, required(wheel))}
    assert __version__ in needed["spacy-biaffine"].specifier
    assert "99.0" not in needed["spacy-biaffine"].specifier

    assert "nothing changed" in run(project, "train")
    assert "nothing changed" in run(project, "package")


def test_no_dev_split(project: Path) -> None:
    output = run(project, "convert", "UD_Train")
    assert "no dev split" in output
    assert "no test split" in output
    splits = {file.name for file in (project / "corpus/UD_Train").iterdir()}
    assert splits == {"train.spacy", "dev.spacy"}


def test_no_train_split(project: Path) -> None:
    output = run(project, "convert", "UD_Test", expected=1)
    assert "nothing to learn from" in output
