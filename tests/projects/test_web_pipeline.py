"""The scripts that make a pipeline for ordinary English: the join of its two corpora, weights in
half precision, figures."""

import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.language import Language

from spacy_biaffine.gold.roles import TokenFrame

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "pipelines" / "en_biaffine_web_sm"
sys.path.insert(0, str(SCRIPTS))

import propbank  # noqa: E402
from average import average  # noqa: E402
from figures import Counts, compare, figure_of, roles  # noqa: E402
from half import round_weights, weights_of  # noqa: E402
from meta import describe  # noqa: E402
from predictions import everyday, predictions  # noqa: E402

FAMILY = ROOT / "tests" / "fixtures" / "family-0.1.0"

CONLLU = """\
# newdoc id = weblog-rain
# sent_id = weblog-rain-0001
1	Rain	rain	NOUN	NN	_	2	nsubj	_	_
2	fell	fall	VERB	VBD	_	0	root	_	_

# sent_id = weblog-rain-0002
1	Nobody	nobody	PRON	NN	_	2	nsubj	_	_
2	slept	sleep	VERB	VBD	_	0	root	_	_
3	well	well	ADV	RB	_	2	advmod	_	_

# newdoc id = weblog-dry
# sent_id = weblog-dry-0001
1	Dust	dust	NOUN	NN	_	0	root	_	_

"""

FELL = """\
google/ewt/weblog/00/rain.xml 0 0 [WORD] NN (TOP(S(NP*) - - (ARG1*)
google/ewt/weblog/00/rain.xml 0 1 [WORD] VBD (VP*))) fall fall.01 (V*)
"""
SLEPT = """\
google/ewt/weblog/00/rain.xml 1 0 [WORD] NN (TOP(S(NP*) - - (ARG0*)
google/ewt/weblog/00/rain.xml 1 1 [WORD] VBD (VP* sleep sleep.01 (V*)
google/ewt/weblog/00/rain.xml 1 2 [WORD] RB *))) - - (ARGM-MNR*)
"""
FELL_JOINED = """\
# sent_id = weblog-rain-0001
# propbank = google/ewt/weblog/00/rain.xml 0
1	Rain	rain	NOUN	NN	2	nsubj	-	-	(ARG1*)
2	fell	fall	VERB	VBD	0	root	fall	fall.01	(V*)

"""
SLEPT_JOINED = """\
# sent_id = weblog-rain-0002
# propbank = google/ewt/weblog/00/rain.xml 1
1	Nobody	nobody	PRON	NN	2	nsubj	-	-	(ARG0*)
2	slept	sleep	VERB	VBD	0	root	sleep	sleep.01	(V*)
3	well	well	ADV	RB	2	advmod	-	-	(ARGM-MNR*)

"""


@pytest.fixture
def treebank(tmp_path: Path) -> Path:
    for part in propbank.PARTS:
        (tmp_path / f"en_ewt-ud-{part}.conllu").write_text(CONLLU, "utf-8")
    return tmp_path


def release(folder: Path, text: str) -> Path:
    file = folder / "release" / "data" / "google" / "ewt" / "weblog" / "00" / "rain.xml.gold_skel"
    file.parent.mkdir(parents=True)
    file.write_text(text, "utf-8")
    return folder / "release"


def join(treebank: Path, propbank_release: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    out = treebank / "out"
    words = ["propbank.py", "--ewt", treebank, "--propbank", propbank_release, out]
    monkeypatch.setattr(sys, "argv", list(map(str, words)))
    propbank.main()
    return (out / "en_ewt-propbank-test.tsv").read_text("utf-8")


def test_words_and_frames_are_joined(treebank, monkeypatch, capsys):
    joined = join(treebank, release(treebank, f"{FELL}\n{SLEPT}"), monkeypatch)
    assert joined == FELL_JOINED + SLEPT_JOINED
    printed = capsys.readouterr().out
    assert "'sentences of documents without PropBank': 1" in printed
    assert f"is not commit {propbank.COMMIT}" in printed


def test_an_archive_is_read_as_a_folder_is(treebank, monkeypatch):
    folder = release(treebank, f"{FELL}\n{SLEPT}")
    archive = treebank / "release.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder, "propbank-release-4abade0b")
    assert join(treebank, archive, monkeypatch) == FELL_JOINED + SLEPT_JOINED


@pytest.mark.parametrize(
    ("skeleton", "joined"),
    [
        (SLEPT, SLEPT_JOINED.replace("xml 1", "xml 0")),
        (f"{FELL}\n{SLEPT.replace('VBD', 'NN')}", FELL_JOINED),  # 2 of 3 tags are equal
        (f"{FELL}\n{FELL}", FELL_JOINED),
    ],
    ids=["one-is-missing", "other-tags", "other-words"],
)
def test_sentences_that_differ_are_counted(skeleton, joined, treebank, monkeypatch, capsys):
    assert join(treebank, release(treebank, skeleton), monkeypatch) == joined
    assert "'sentences with other words': 1" in capsys.readouterr().out


def test_no_release(treebank):
    with pytest.raises(ValueError, match="gold_skel"):
        propbank.read_skeletons(treebank)


@pytest.fixture
def family() -> Iterator[Language]:
    yield spacy.load(FAMILY)


def test_rounded_weights_are_half_precision_and_stay_so(family, tmp_path):
    assert 0 < round_weights(family) < 1e-2
    family.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    n_weights = 0
    for name, pipe in family.pipeline:
        pairs = zip(weights_of(pipe.model), weights_of(loaded.get_pipe(name).model), strict=True)
        for ours, theirs in pairs:
            assert ours.dtype == np.float32
            assert np.array_equal(ours, theirs)
            assert np.array_equal(ours, ours.astype(np.float16).astype(np.float32))
            n_weights += ours.size
    assert n_weights > 1000
    assert predictions(loaded, everyday()) == predictions(family, everyday())


def test_weights_beyond_half_precision(family):
    next(weights_of(family.pipeline[0][1].model))[...] = 1e5
    with pytest.raises(ValueError, match="too large"):
        round_weights(family)


def test_what_the_package_says(family, tmp_path):
    family.config["paths"]["train"] = str(tmp_path / "train.spacy")
    describe(family, "web", "1.2.0", SCRIPTS / "meta.json", None)
    family.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    assert (loaded.meta["name"], loaded.meta["version"]) == ("web", "1.2.0")
    assert loaded.meta["license"] == "CC BY-SA 4.0"
    (plugin,) = loaded.meta["requirements"]
    assert plugin.startswith("spacy-biaffine>=")
    assert loaded.config["paths"]["train"] == "train.spacy"


def test_figure():
    figure = figure_of([Counts(1, 2, 2), Counts(2, 2, 4), Counts(0, 0, 0)])
    assert figure.value == pytest.approx(2 * 3 / (4 + 6))
    assert figure.low < figure.value < figure.high
    assert figure_of([Counts(0, 0, 0)]).value == 0


def test_counts():
    assert compare("aab", "abb") == Counts(2, 3, 3)
    wanted = [
        TokenFrame(2, "fall.01", [("ARG1", [(0, 2)]), ("ARGM-TMP", [(3, 5)])], []),
        TokenFrame(7, "sleep.01", [], []),
    ]
    found = [
        TokenFrame(2, "fall.02", [("C-ARG1", [(0, 2)]), ("ARGM-TMP", [(3, 6)])], []),
        TokenFrame(4, "please.01", [("ARG0", [(6, 7)])], []),
    ]
    assert roles(found, wanted) == {
        "Predicates": Counts(1, 2, 2),
        "Senses of predicates found": Counts(0, 1, 1),
        "Arguments": Counts(1, 3, 2),
    }


def test_the_middle_between_two_pipelines():
    first, second = spacy.load(FAMILY), spacy.load(FAMILY)
    *others, last = second.pipe_names
    before = {name: all_weights(second, name) for name in second.pipe_names}
    for name in first.pipe_names:
        for weight in weights_of(first.get_pipe(name).model):
            weight += 1.0
    assert average(first, second, [last]) == others
    for name in others:
        for new, old in zip(all_weights(second, name), before[name], strict=True):
            np.testing.assert_allclose(new, old + 0.5, atol=1e-6)
    for new, old in zip(all_weights(second, last), before[last], strict=True):
        np.testing.assert_array_equal(new, old)


def all_weights(nlp: Language, name: str) -> list[np.ndarray]:
    return [weight.copy() for weight in weights_of(nlp.get_pipe(name).model)]


def test_pipelines_that_have_no_middle():
    first, second = spacy.load(FAMILY), spacy.blank("xx")
    with pytest.raises(ValueError, match="no component is called x"):
        average(first, second, ["x"])
    second = spacy.load(FAMILY)
    name = first.pipe_names[0]
    first.remove_pipe(name)
    with pytest.raises(ValueError, match=f"the first pipeline has no {name}"):
        average(first, second, [])
    first.add_pipe("sentencizer", name=name)
    with pytest.raises(ValueError, match=f"{name} has other weights .*: --leave-out {name}"):
        average(first, second, [])
