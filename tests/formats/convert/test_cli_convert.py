"""``python -m spacy biaffine convert``."""

import re
import subprocess
import sys

import pytest
from conllu_samples import CONTRACTED, GRAPH, SHORT, block, row
from spacy.cli._util import app
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

import spacy_biaffine.cli  # noqa: F401  adds the command to spaCy's
from spacy_biaffine.cli.convert import COMMANDS
from spacy_biaffine.formats.common.language import language_of, vocab_for
from spacy_biaffine.formats.convert.treebank import find_splits

TEXT = CONTRACTED + GRAPH + SHORT


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "de_walk-ud-train.conllu"
    path.write_text(TEXT, encoding="utf-8")
    return path


def convert(*arguments):
    """Exit code and output on one line (messages are wrapped)."""
    result = CliRunner().invoke(app, ["biaffine", "convert", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def words(path):
    return [[t.text for t in d] for d in DocBin().from_disk(path).get_docs(Vocab())]


def test_there_and_back(source, tmp_path):
    code, output = convert(source, tmp_path / "train.spacy", "--n-sents", 2)
    assert code == 0
    for line in ("sentences 3", "words 13", "multiword tokens 1", "empty nodes 1", "docs 2"):
        assert line in output
    assert [len(doc) for doc in words(tmp_path / "train.spacy")] == [11, 2]
    assert convert(tmp_path / "train.spacy", tmp_path / "back.conllu")[0] == 0
    assert (tmp_path / "back.conllu").read_text(encoding="utf-8") == TEXT


def test_output_folder(source, tmp_path):
    assert convert(source, tmp_path / "new" / "corpus")[0] == 0
    made = tmp_path / "new" / "corpus" / "de_walk-ud-train.spacy"
    assert made.exists()
    assert convert(made, tmp_path / "back")[0] == 0
    assert (tmp_path / "back" / "de_walk-ud-train.conllu").read_text(encoding="utf-8") == TEXT


@pytest.mark.parametrize("name", ["corpus", "UD_German-Walk-r1.4"])
def test_treebank_folder(source, tmp_path, name):
    (tmp_path / "de_walk-ud-test.conllu").write_text(SHORT, encoding="utf-8")
    assert convert(tmp_path, tmp_path / name)[0] == 0
    assert sorted(p.name for p in (tmp_path / name).iterdir()) == ["test.spacy", "train.spacy"]


def test_file_into_a_folder_with_a_dot_in_its_name(source, tmp_path):
    (tmp_path / "out-r1.4").mkdir()
    assert convert(source, tmp_path / "out-r1.4")[0] == 0
    assert [p.name for p in (tmp_path / "out-r1.4").iterdir()] == [f"{source.stem}.spacy"]


def test_corpus_folder_back(source, tmp_path):
    (tmp_path / "de_walk-ud-test.conllu").write_text(SHORT, encoding="utf-8")
    assert convert(tmp_path, tmp_path / "corpus")[0] == 0
    assert convert(tmp_path / "corpus", tmp_path / "back")[0] == 0
    assert (tmp_path / "back" / "train.conllu").read_text(encoding="utf-8") == TEXT
    assert (tmp_path / "back" / "test.conllu").read_text(encoding="utf-8") == SHORT
    # One file would mix training and test data.
    code, output = convert(tmp_path / "corpus", tmp_path / "all.conllu")
    assert (code, "must be a folder too" in output) == (1, True)


def test_options_reach_the_reader(source, tmp_path):
    out = tmp_path / "a.spacy"
    assert convert(source, out, "--merge-mwt")[0] == 0
    assert words(out)[0] == ["Wir", "gehen", "zum", "See", "."]
    assert convert(source, out, "--by-doc", "--lang", "de")[0] == 0
    assert len(words(out)) == 1


def test_shards_and_back(source, tmp_path):
    code, output = convert(source, tmp_path / "train.spacy", "--max-docs", 2)
    assert code == 0
    assert "files 2" in output
    assert convert(tmp_path / "train", tmp_path / "back.conllu")[0] == 0
    assert (tmp_path / "back.conllu").read_text(encoding="utf-8") == TEXT


def test_skip_bad_counts_and_lists(source, tmp_path):
    source.write_text(
        SHORT + block("# sent_id = oops", row(1, "x", 1, "dep")) + SHORT, encoding="utf-8"
    )
    out = tmp_path / "a.spacy"
    code, output = convert(source, out)
    assert code == 1
    assert "train.conllu:5: sentence oops: HEAD 1 of word 1 is the word itself" in output
    assert not out.exists()
    code, output = convert(source, out, "--skip-bad")
    assert code == 0
    assert "left out: self-head 1" in output
    assert "sentence oops" in output
    assert len(words(out)) == 2


def test_a_bad_file_leaves_earlier_output_whole(source, tmp_path):
    out = tmp_path / "a.spacy"
    convert(source, out)
    before = out.read_bytes()
    source.write_text(SHORT + "1 x\n", encoding="utf-8")
    assert convert(source, out)[0] == 1
    assert out.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.spacy", source.name]


@pytest.mark.parametrize("text", ["", "# a note\n"])
def test_no_sentences(source, tmp_path, text):
    source.write_text(text, encoding="utf-8")
    code, output = convert(source, tmp_path / "a.spacy")
    assert code == 1
    assert "no sentences found in" in output
    assert not (tmp_path / "a.spacy").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.conllu", "a.spacy"], "does not exist"),
        (["IN", "a.txt"], "must end in .spacy"),
        (["IN", "a.spacy", "--lang", "zz"], "no language 'zz'"),
        (["IN", "a.spacy", "--n-sents", 2, "--by-doc"], "exclude each other"),
        (["IN", "a.conllu"], "is .conllu already"),
        (["FOLDER", "out"], "looked for *-ud-train.conllu, *-ud-dev.conllu, *-ud-test.conllu"),
        (["FOLDER", "out.spacy"], "and no .spacy file: looked for *-ud-train.conllu"),
        (["IN", "a.conllu", "--to", "spacy"], "must end in .spacy"),
    ],
)
def test_plain_errors(source, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    places = {"IN": source, "FOLDER": tmp_path / "empty"}
    names = [places.get(a, a) for a in arguments]
    names[1] = tmp_path / names[1]
    code, output = convert(*names)
    assert code == 1
    assert message in output


def test_not_a_docbin(tmp_path):
    bad = tmp_path / "bad.spacy"
    bad.write_bytes(b"nonsense")
    assert convert(bad, tmp_path / "a.conllu")[0] == 1


def test_runs_under_spacy(source, tmp_path):
    command = [sys.executable, "-m", "spacy", "biaffine", "convert"]
    run = subprocess.run(
        [*command, source, tmp_path / "a.spacy"], capture_output=True, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    assert "sentences" in run.stdout
    run = subprocess.run(
        [*command, tmp_path / "no", "b.spacy"], capture_output=True, encoding="utf-8"
    )
    assert run.returncode == 1
    assert "Traceback" not in run.stdout + run.stderr
    run = subprocess.run([*command, "--help"], capture_output=True, encoding="utf-8")
    assert "Example: python -m spacy biaffine convert" in " ".join(run.stdout.split())


def test_the_command_line_loads_no_more_than_spacy_does():
    def loaded(module):
        code = (
            f"import sys, {module}; print(sorted({{'torch', 'transformers'}} & set(sys.modules)))"
        )
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, encoding="utf-8"
        ).stdout

    assert loaded("spacy_biaffine.cli") == loaded("spacy.cli") != ""


@pytest.mark.parametrize(
    ("name", "lang"),
    [
        ("en_ewt-ud-train.conllu", "en"),
        ("zh-ud-dev.conllu", "zh"),
        ("no_bokmaal-ud-dev.conllu", "nb"),
        ("wo_wtb-ud-test.conllu", "xx"),
        ("en_notes.conllu", "xx"),
        ("sample.txt", "xx"),
    ],
)
def test_language_by_file_name(tmp_path, name, lang):
    assert language_of(tmp_path / name) == lang


def test_vocab_has_the_language():
    assert vocab_for("ja").lang == "ja"


def test_find_splits(tmp_path):
    for name in ("en_a-ud-train.conllu", "en_a-ud-dev.conllu", "README.txt"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert list(find_splits(tmp_path)) == ["train", "dev"]
    (tmp_path / "en_b-ud-dev.conllu").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="several dev files"):
        find_splits(tmp_path)


@pytest.mark.parametrize(
    "command", [each for each in COMMANDS if each.name.startswith("convert-")], ids=lambda c: c.name
)
def test_help_has_an_example_of_every_form(command):
    result = CliRunner().invoke(app, ["biaffine", command.name, "--help"])
    shown = " ".join(result.output.split())
    examples = re.findall(r"python -m spacy biaffine [^.]*?\.\S+ [^:]*?--form (\w+)", shown)
    assert len(command.forms) == 1 or set(command.forms) <= set(examples)
