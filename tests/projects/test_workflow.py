"""Parts of the project: what a config learns, what a folder holds, the commands between them."""

import argparse
import sys
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span

from spacy_biaffine.doc.graphs import Frame, Relation, Role

ROOT = Path(__file__).resolve().parents[2]
TREEBANK = ROOT / "assets" / "treebank"
# The scripts are no package: they are found only after their folder is on the path (E402).
sys.path.insert(0, str(ROOT / "scripts"))

import show_doc  # noqa: E402
from workflow import commands  # noqa: E402
from workflow.commands import check_gpu, settings_of  # noqa: E402
from workflow.evaluate import columns_of  # noqa: E402
from workflow.learned import Learned  # noqa: E402
from workflow.place import Place  # noqa: E402
from workflow.sources import Options, find_source  # noqa: E402
from workflow.train import check_steps  # noqa: E402

OPTIONS = Options([], 5, False, False)


def config(name: str) -> Path:
    return ROOT / "configs" / f"{name}.cfg"


def place_of(folder: Path, name: str, **others: Any) -> Place:
    options = {"form": "", "lang": "", "n_sents": 5, "merge_mwt": False, "skip_bad": False}
    return Place(argparse.Namespace(treebank=folder, config=config(name), **options | others))


def commands_of(folder: Path, name: str, options: Options = OPTIONS) -> list[str]:
    source = find_source(folder, options, Learned(config(name)))
    return [" ".join(map(str, words)) for words in source.commands(Path("corpus"), "en")]


def empty_files(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("name", "golds", "reads_layers"),
    [
        ("parser", ["dependency trees"], False),
        ("parser_transformer", ["dependency trees"], False),
        ("tagger", ["labels of the target 'tag'"], False),
        ("ner", ["entities in doc.ents"], True),
        ("ner_frozen", ["entities in doc.spans['sc']"], True),
        ("graph", ["entities in doc.ents", "relations"], True),
        ("graph_frozen", ["entities in doc.ents", "relations"], True),
        ("graph_enhanced", ["dependency graphs"], True),
        ("srl", ["frames of semantic roles"], True),
        ("srl_frozen", ["frames of semantic roles"], True),
        (
            "family",
            [
                "dependency trees",
                "labels of the target 'tag'",
                "entities in doc.ents",
                "entities in doc.ents",
                "relations",
                "frames of semantic roles",
            ],
            True,
        ),
    ],
)
def test_a_config_says_what_is_learned(name: str, golds: list[str], reads_layers: bool) -> None:
    learned = Learned(config(name))
    assert [gold.name for gold in learned.golds] == golds
    assert learned.reads_layers == reads_layers


def test_a_config_that_leaves_sections_to_spacy(tmp_path: Path) -> None:
    path = tmp_path / "base.cfg"
    path.write_text('[nlp]\nlang = "de"\npipeline = ["tagger"]\n', encoding="utf-8")
    learned = Learned(path)
    assert (learned.lang, learned.golds, learned.given) == ("de", [], [])
    assert not learned.reads_layers


def test_settings_change_what_is_learned() -> None:
    settings = settings_of("components.label_attention_tagger.target=ent")
    learned = Learned(config("tagger"), settings)
    assert [gold.name for gold in learned.golds] == ["entities in doc.ents"]
    assert learned.reads_layers


@pytest.mark.parametrize("name", ["parser", "tagger"])
def test_trees_are_converted_as_they_are(name: str) -> None:
    assert commands_of(TREEBANK, name) == [f"biaffine convert {TREEBANK} corpus --n-sents 5"]


@pytest.mark.parametrize(
    ("name", "further"),
    [("ner", ""), ("ner_frozen", " --spans-key sc"), ("srl", ""), ("family", " --n-sents 5")],
)
def test_layers_beside_trees(name: str, further: str) -> None:
    train, dev, test = commands_of(TREEBANK, name)
    file, layers = TREEBANK / "en_sampler-ud-dev.conllu", TREEBANK / "en_sampler-layers-dev.jsonl"
    assert dev == (
        f"biaffine convert-relations {file} {Path('corpus', 'dev.spacy')} --form conllu "
        f"--layers {layers}{further} --lang en"
    )
    assert "train" in train
    assert "test" in test


def test_layers_count_all_words() -> None:
    with pytest.raises(ValueError, match="merge_mwt and skip_bad are for trees alone"):
        commands_of(TREEBANK, "ner", Options([], 5, True, False))


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ("columns --levels 2", "ner_frozen"),
        ("scierc --related-sentences", "graph_frozen"),
        ("propbank --skip-auxiliaries", "srl"),
        ("conll09", "parser"),
    ],
)
def test_the_form_goes_to_the_converter(form: str, name: str, tmp_path: Path) -> None:
    folder = empty_files(tmp_path / "Corpus", "corpusTrain.x", "a.dev", "README")
    commands = commands_of(folder, name, Options(form.split(), 5, False, True))
    key = " --spans-key sc" if name == "ner_frozen" else ""
    assert commands == [
        f"biaffine convert {folder / file} {Path('corpus', split)}.spacy --form {form}{key} "
        f"--lang en --skip-bad"
        for split, file in (("train", "corpusTrain.x"), ("dev", "a.dev"))
    ]


def test_a_span_group_that_the_user_names(tmp_path: Path) -> None:
    folder = empty_files(tmp_path, "train.json")
    options = Options(["json", "--spans-key", "mine"], 5, False, False)
    (command,) = commands_of(folder, "ner_frozen", options)
    assert command.endswith("--form json --spans-key mine --lang en")


@pytest.mark.parametrize(
    ("files", "form", "message"),
    [
        (
            ["notes.txt"],
            "",
            "no treebank .* train.spacy.* --vars.form, one of conllu, .*cluener",
        ),
        (["notes.txt"], "json", "no file in .* has train, dev or test in its name"),
        (
            ["train.json"],
            "jsonl",
            "unknown form 'jsonl'; there are conllu, .*json, .*columns",
        ),
        (["train.json", "train.txt"], "json", "several files for train .*: train.json, train.txt"),
    ],
)
def test_wrong_folders(files: list[str], form: str, message: str, tmp_path: Path) -> None:
    folder = empty_files(tmp_path, *files)
    with pytest.raises(ValueError, match=message):
        find_source(folder, Options(form.split(), 5, False, False), Learned(config("ner")))
    with pytest.raises(ValueError, match="is no folder"):
        find_source(folder / "absent", OPTIONS, Learned(config("ner")))


def test_places_of_what_is_made() -> None:
    parser = place_of(TREEBANK, "parser")
    assert parser.corpus == Path("corpus/treebank")
    assert parser.package_name("") == "sampler"
    assert parser.package_name("en_news-2") == "news_2"
    assert parser.wheel("", "0.1.0").name == "en_sampler-0.1.0-py3-none-any.whl"
    relations = place_of(TREEBANK, "graph_frozen")
    assert relations.corpus == Path("corpus/treebank/graph_frozen")
    assert relations.package_name("") == "sampler_graph_frozen"
    assert place_of(TREEBANK, "family").package_name("") == "sampler_family"
    assert relations.lang == "en"


def test_names_and_language_of_other_files(tmp_path: Path) -> None:
    folder = empty_files(tmp_path / "WNUT-17", "wnut17train.conll")
    place = place_of(folder, "ner", form="columns", lang="da")
    assert place.package_name("") == "wnut_17_ner"
    assert place.lang == "da"
    assert place_of(folder, "ner", form="columns").lang == "en"


@pytest.fixture
def doc() -> Doc:
    """Entities, a relation and a frame, but no tree."""
    words = ["Ada", "moved", "to", "Oslo"]
    doc = Doc(spacy.blank("en").vocab, words=words, ents=["B-PER", "O", "O", "B-LOC"])
    ada, oslo = doc.ents
    doc._.relations = [Relation(ada, oslo, "lives_in")]
    doc._.frames = [Frame((doc[1:2],), "move.01", (Role("ARG1", (ada,)), Role("ARG2", (oslo,))))]
    return doc


def saved(doc: Doc, path: Path) -> Path:
    DocBin(docs=[doc]).to_disk(path)
    return path


def test_docs_that_are_converted_already(doc: Doc, tmp_path: Path) -> None:
    saved(doc, tmp_path / "train.spacy")
    (tmp_path / "dev").mkdir()
    saved(doc, tmp_path / "dev" / "00000.spacy")
    source = find_source(tmp_path, OPTIONS, Learned(config("ner")))
    assert source.files == {"train": tmp_path / "train.spacy", "dev": tmp_path / "dev"}
    assert source.commands(Path("corpus"), "en") == []


@pytest.mark.parametrize("name", ["ner", "graph_frozen"])
def test_a_corpus_with_the_annotation(name: str, doc: Doc, tmp_path: Path) -> None:
    Learned(config(name)).check_corpus([saved(doc, tmp_path / "train.spacy")], "en")


@pytest.mark.parametrize(
    ("name", "missing", "remedy"),
    [
        ("parser", "dependency trees", "treebank"),
        ("tagger", "labels of the target 'tag'", "target=pos"),
        ("ner_frozen", "entities in doc.spans['sc']", "--spans-key sc"),
        ("graph_enhanced", "dependency graphs", "DEPS"),
        ("srl", "dependency trees", "treebank"),  # it has frames, but they are read with trees
    ],
)
def test_a_corpus_without_the_annotation(
    name: str,
    missing: str,
    remedy: str,
    doc: Doc,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = saved(doc, tmp_path / "train.spacy")
    with pytest.raises(SystemExit):
        Learned(config(name)).check_corpus([path], "en")
    said = " ".join(capsys.readouterr().out.split())
    assert f"needs {missing}" in said
    assert remedy in said


def test_an_encoder_that_is_not_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = config("ner_frozen").read_text(encoding="utf-8")
    path = tmp_path / "x.cfg"
    path.write_text(text.replace("package:gt_all", "package:no_such"), encoding="utf-8")
    with pytest.raises(SystemExit):
        Learned(path).check_encoder("")
    assert "spacy project run encoder" in " ".join(capsys.readouterr().out.split())
    Learned(path).check_encoder(str(tmp_path))
    Learned(config("ner")).check_encoder("")


@pytest.mark.parametrize(
    ("has_cupy", "reason"), [(False, "CuPy is not installed"), (True, "Thinc finds none")]
)
def test_a_gpu_that_is_not_there(
    has_cupy: bool,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(commands, "has_gpu", False)
    monkeypatch.setattr(commands, "has_cupy", has_cupy)
    check_gpu(-1)
    with pytest.raises(SystemExit):
        check_gpu(0)
    assert reason in " ".join(capsys.readouterr().out.split())
    monkeypatch.setattr(commands, "has_gpu", True)
    check_gpu(0)


def test_too_few_steps_for_an_evaluation(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        check_steps(config("parser"), {"training.max_steps": "100"})
    said = " ".join(capsys.readouterr().out.split())
    assert '--vars.set "training.max_steps=100 training.eval_frequency=25"' in said
    check_steps(config("parser"), {})
    for settings in ({"training.eval_frequency": "100"}, {"training.max_steps": "0"}):
        check_steps(config("parser"), {"training.max_steps": "100"} | settings)


def test_a_setting_without_section(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        settings_of("max_steps=3")
    assert "SECTION.NAME=VALUE" in capsys.readouterr().out


def test_scores_that_are_shown() -> None:
    scores = dict.fromkeys(
        ["token_acc", "tag_acc", "_.x_acc", "senses_acc", "ents_f", "ents_per_type", "speed"], 1.0
    )
    scores |= {"spans_sc_f": 1.0, "spans_sc_macro_f": 1.0, "spans_sc_per_type": 1.0}
    assert columns_of(scores) == {
        "entities F": "ents_f",
        "senses": "senses_acc",
        "tag_acc": "tag_acc",
        "_.x_acc": "_.x_acc",
        "spans_sc_f": "spans_sc_f",
    }


def test_what_is_printed(doc: Doc, capsys: pytest.CaptureFixture[str]) -> None:
    show_doc.print_doc(doc, [], [])
    assert capsys.readouterr().out.split("\n\n") == [
        "\nAda moved to Oslo",
        "entities:\n  [Ada]   PER\n  [Oslo]  LOC",
        "relations:\n  [Ada]  lives_in  [Oslo]",
        "frames:\n  moved   move.01\n    ARG1  [Ada]\n    ARG2  [Oslo]\n",
    ]


def test_trees_and_tags_are_printed_side_by_side() -> None:
    vocab = spacy.blank("en").vocab
    doc = Doc(vocab, words=["Birds", "sing"], tags=["NNS", "VBP"], heads=[1, 1], deps=["a", "ROOT"])
    assert show_doc.word_rows(doc[:], []) == [["┌─ Birds", "a", "NNS"], ["sing", "ROOT", "VBP"]]
    tagged = Doc(vocab, words=["Birds", "sing"], tags=["NNS", "VBP"])
    assert show_doc.word_rows(tagged[:], []) == [["Birds", "NNS"], ["sing", "VBP"]]
    assert show_doc.word_rows(Doc(vocab, words=["Birds"])[:], []) == []


def test_nothing_found_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    doc = Doc(spacy.blank("en").vocab, words=["Birds"], ents=["O"])
    doc.spans["sc"] = []
    show_doc.print_doc(doc, [], ["sc"])
    assert "entities: none" in capsys.readouterr().out
    doc.spans["sc"] = [Span(doc, 0, 1, label="X")]
    show_doc.print_doc(doc, [], ["sc"])
    assert "[Birds]  X" in capsys.readouterr().out
