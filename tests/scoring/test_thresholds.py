"""Choosing a threshold, against trying all of them, and the command."""

import numpy as np
import pytest
import spacy
from factories import POINTER, TOK2VEC, examples_of, gold_docs
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from thinc.api import Adam, fix_random_seed
from typer.testing import CliRunner

from spacy_biaffine.cli import app
from spacy_biaffine.doc.scores import set_scored_spans
from spacy_biaffine.scoring.thresholds import Judged, best_threshold, f1_above, judge

COMPONENT = "global_pointer_ner"


@given(
    st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=1, max_size=12),
    st.integers(0, 5),
)
def test_equals_trying_all(spans, missed):
    spans = sorted(spans, reverse=True)
    right = np.array([is_right for _, is_right in spans])
    judged = Judged(np.array([float(s) for s, _ in spans]), right, int(right.sum()) + missed)
    if not right.any():
        with pytest.raises(ValueError, match="nothing to choose by"):
            best_threshold(judged, -9.0)
        return
    every = [f1_above(judged, threshold) for threshold in np.arange(-4.5, 4, 0.5)]
    assert f1_above(judged, best_threshold(judged, -9.0)) == pytest.approx(max(every))


@pytest.mark.parametrize("key", [None, "sc"])
def test_what_is_right(key):
    nlp = spacy.blank("xx")
    gold = Doc(nlp.vocab, words=["New", "York", "fell"], ents=["B-A", "I-A", "O"])
    gold.spans["sc"] = list(gold.ents)
    predicted = Doc(nlp.vocab, words=["New York", "fell"])
    spans = [predicted.char_span(0, 8, "A"), predicted.char_span(0, 13, "A")]
    set_scored_spans(predicted, "mine", spans, np.array([1.0, 2.0], dtype=np.float32))
    judged = judge([Example(predicted, gold)], "mine", key)
    assert (judged.scores.tolist(), judged.right.tolist(), judged.gold) == (
        [2, 1],
        [False, True],
        1,
    )
    assert best_threshold(judged, -9.0) == 0.5


def test_no_threshold_is_below_the_lowest_that_was_looked_at():
    judged = Judged(np.array([1.0, -5.8]), np.array([True, True]), 2)
    assert best_threshold(judged, -6.0) == pytest.approx(-5.9)
    assert best_threshold(judged, -9.0) == pytest.approx(-6.3)


def test_a_gold_span_that_stands_twice_is_one():
    nlp = spacy.blank("xx")
    gold = Doc(nlp.vocab, words=["a"])
    gold.spans["sc"] = [Span(gold, 0, 1, "A"), Span(gold, 0, 1, "A"), Span(gold, 0, 1, "B")]
    predicted = Doc(nlp.vocab, words=["a"])
    set_scored_spans(predicted, "mine", [], np.zeros(0, dtype=np.float32))
    assert judge([Example(predicted, gold)], "mine", "sc").gold == 2


def test_entities_of_others_are_there_at_any_threshold():
    nlp = spacy.blank("xx")
    gold = Doc(nlp.vocab, words=["a", "b", "c"], ents=["B-A", "B-A", "B-A"])
    predicted = Doc(nlp.vocab, words=["a", "b", "c"], ents=["B-A", "B-A", "B-B"])
    for spans, scores, right in (
        ([Span(predicted, 1, 2, "A")], [1.0], [True, False, True]),
        ([Span(predicted, 2, 3, "B"), Span(predicted, 1, 2, "A")], [2.0, 1.0], [True, False, True]),
    ):
        set_scored_spans(predicted, "mine", spans, scores)
        judged = judge([Example(predicted, gold)], "mine", None)
        assert judged.right.tolist() == right
        assert judged.scores[-len(scores) :].tolist() == scores
        assert f1_above(judged, 0.0) == pytest.approx(4 / 6)
        assert best_threshold(judged, -6.0) == 0.5


def test_threshold_above_all_where_others_do_better():
    scores = np.array([np.inf, 3.0, 2.5, 2.0, 1.0])
    judged = Judged(scores, np.array([True, False, False, False, True]), 2)
    assert best_threshold(judged, -6.0) == 3.5
    with pytest.raises(ValueError, match="none of the 1 spans"):
        best_threshold(Judged(scores[:2], np.array([True, False]), 2), -6.0)


def test_blanks_that_only_the_prediction_has_cut_nothing():
    nlp = spacy.blank("xx")
    gold = Doc(nlp.vocab, words=["New", "York", "fell"], ents=["B-A", "I-A", "O"])
    predicted = Doc(nlp.vocab, words=["New", "\n", "York", "fell"])
    span = Span(predicted, 0, 3, "A")
    set_scored_spans(predicted, "mine", [span], np.array([1.0], dtype=np.float32))
    assert judge([Example(predicted, gold)], "mine", None).right.tolist() == [True]


@pytest.mark.parametrize(
    ("ents", "scores"), [(["B-A", "", "O"], [0.5, 3.0]), (["O", "O", ""], [2.0, 3.0])]
)
def test_missing_annotation_does_not_count(ents, scores):
    """Neither tokens that are marked so, nor Docs without any."""
    nlp = spacy.blank("xx")
    predicted = Doc(nlp.vocab, words=["a", "b", "c"])
    spans = [Span(predicted, n, n + 1, "A") for n in range(3)]
    set_scored_spans(predicted, "mine", spans, np.array([3.0, 2.0, 0.5], dtype=np.float32))
    gold = Doc(nlp.vocab, words=["a", "b", "c"], ents=ents)
    bare = Doc(nlp.vocab, words=["a", "b", "c"])
    judged = judge([Example(predicted, gold), Example(predicted, bare)], "mine", None)
    assert sorted(judged.scores.tolist()) == scores
    assert judge([Example(predicted, bare)], "mine", "sc").scores.tolist() == []


@pytest.mark.parametrize(("spans_key", "old"), [(None, 50.0), ("sc", 50.0), (None, -1000.0)])
def test_command(tmp_path, spans_key, old):
    fix_random_seed(0)
    nlp = spacy.blank("en")
    config = {"model": {**POINTER, "tok2vec": TOK2VEC}, "spans_key": spans_key, "threshold": old}
    nlp.add_pipe(COMPONENT, config=config)
    gold = gold_docs(nlp.vocab)
    nlp.initialize(lambda: examples_of(gold))
    for _ in range(60):
        nlp.update(examples_of(gold), sgd=Adam(0.01, L2=0.0))
    nlp.config["corpora"] = {"dev": {"@readers": "spacy-biaffine.GivenCorpus.v1", "path": "x"}}
    nlp.config["training"] = {"dev_corpus": "corpora.dev"}
    nlp.to_disk(tmp_path / "model")
    DocBin(docs=gold, store_user_data=True).to_disk(tmp_path / "dev.spacy")
    before = nlp.evaluate(examples_of(gold))["ner_f"]

    def run(*arguments: str) -> str:
        paths = [str(tmp_path / "model"), str(tmp_path / "dev.spacy")]
        result = CliRunner().invoke(app, ["tune-threshold", *paths, *arguments])
        assert result.exit_code == 0, result.output
        return result.output

    assert f"before {old:.3f}: F1 {before:.4f}" in run("--output", str(tmp_path / "tuned"))
    assert spacy.load(tmp_path / "model").get_pipe(COMPONENT).threshold == old
    run()
    for folder in ("tuned", "model"):
        tuned = spacy.load(tmp_path / folder)
        assert -6 < tuned.get_pipe(COMPONENT).threshold < 50
        assert not tuned.get_pipe(COMPONENT).store_scores
        assert tuned.evaluate(examples_of(gold_docs(tuned.vocab)))["ner_f"] == 1.0


def test_command_on_nonsense(tmp_path):
    paths = [str(tmp_path / "none"), str(tmp_path / "dev.spacy")]
    result = CliRunner().invoke(app, ["tune-threshold", *paths])
    assert result.exit_code == 1
    assert "none" in result.output


@pytest.mark.parametrize("name", ["other", "sentencizer"])
def test_command_on_another_component(tmp_path, name):
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "model")
    paths = [str(tmp_path / "model"), str(tmp_path / "dev.spacy")]
    result = CliRunner().invoke(app, ["tune-threshold", *paths, "--component", name])
    assert result.exit_code == 1
    message = " ".join(result.output.split())
    assert f"has no global_pointer_ner called '{name}': it has sentencizer" in message
