"""global_pointer_ner: what it reads, learns and writes."""

import subprocess
import sys

import numpy as np
import pytest
import spacy
from factories import POINTER, TOK2VEC, bare, examples_of, set_spans
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.doc.segments import windows_of
from spacy_biaffine.gold.spans import place_spans, span_targets
from spacy_biaffine.pipeline.ner import known_spans
from spacy_biaffine.scoring.entities import make_entity_scorer, score_entities
from spacy_biaffine.types import LabelledSpans

LABELS = {"A": 0, "B": 1}


def pipe_of(nlp: Language, model: dict | None = None, **config):
    model = {**POINTER, "tok2vec": TOK2VEC, **(model or {})}
    return nlp.add_pipe("global_pointer_ner", config={"model": model, **config})


@pytest.fixture
def nlp() -> Language:
    return spacy.blank("xx")


def found(*spans: tuple[int, int, int, float]) -> LabelledSpans:
    """As predicted: start, end, label and score."""
    *places, scores = np.array(sorted(spans), dtype=np.float64).reshape(-1, 4).T
    return LabelledSpans(*(p.astype(np.int64) for p in places), scores.astype(np.float32))


def write(nlp: Language, doc: Doc, *spans: tuple[int, int, int, float], **config) -> Doc:
    pipe = pipe_of(nlp, **config)
    pipe.add_label("A")
    pipe.add_label("B")
    pipe.set_annotations([doc], [found(*spans)])
    return doc


def triples(spans) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label_) for span in spans]


# Writing


def test_nested_spans_go_to_the_group_and_the_best_to_ents(nlp):
    doc = Doc(nlp.vocab, words=["Bank", "of", "Ghana"])
    write(nlp, doc, (0, 3, 0, 1.0), (2, 3, 1, 2.0), (2, 3, 0, 0.5), spans_key="sc")
    assert triples(doc.spans["sc"]) == [(0, 3, "A"), (2, 3, "A"), (2, 3, "B")]
    assert doc.spans["sc"].attrs["scores"] == [1.0, 0.5, 2.0]
    assert triples(doc.ents) == [(2, 3, "B")]


def test_ents_are_left_alone_where_only_the_group_is_wanted(nlp):
    doc = Doc(nlp.vocab, words=["Bank", "of", "Ghana"], ents=["B-X", "O", ""])
    write(nlp, doc, (0, 3, 0, 1.0), spans_key="mine", set_ents=False)
    assert triples(doc.ents) == [(0, 1, "X")]
    assert [token.ent_iob for token in doc] == [3, 2, 0]
    assert triples(doc.spans["mine"]) == [(0, 3, "A")]


def test_earlier_entities_are_kept(nlp):
    doc = Doc(nlp.vocab, words=["Oslo", "fjord", "is", "deep"], ents=["B-CITY", "O", "O", "O"])
    doc.ents[0].kb_id_ = "Q585"
    doc.ents = [Span(doc, 0, 1, "CITY", kb_id="Q585")]
    doc.spans["sc"] = [Span(doc, 1, 2, "X")]
    set_spans(doc, (0, 1, "CITY"))
    doc.spans["other"] = [Span(doc, 0, 1, "CITY")]
    write(nlp, doc, (0, 2, 0, 9.0), (3, 4, 1, 1.0), spans_key="new")
    assert triples(doc.ents) == [(0, 1, "CITY"), (3, 4, "B")]
    assert doc.ents[0].kb_id_ == "Q585"
    loaded = next(DocBin(docs=[doc]).get_docs(nlp.vocab))
    assert {key: triples(group) for key, group in loaded.spans.items()} == {
        "sc": [(0, 1, "CITY")],
        "other": [(0, 1, "CITY")],
        "new": [(0, 2, "A"), (3, 4, "B")],
    }
    assert loaded.spans["new"].attrs == {"scores": [9.0, 1.0]}


def test_earlier_entities_are_replaced(nlp):
    doc = Doc(nlp.vocab, words=["Oslo", "fjord", "sea"], ents=["B-CITY", "O", "B-X"])
    write(nlp, doc, (0, 2, 0, 9.0), keep_ents=False)
    assert triples(doc.ents) == [(0, 2, "A")]


def test_blocked_tokens_stay_so(nlp):
    doc = Doc(nlp.vocab, words=["Oslo", "fjord", "sea"])
    doc.set_ents([], blocked=[doc[0:1]], default="missing")
    write(nlp, doc, (0, 2, 0, 9.0), (2, 3, 1, 1.0))
    assert triples(doc.ents) == [(2, 3, "B")]
    assert (doc[0].ent_iob, doc[1].ent_iob) == (3, 2)


def test_scores_of_entities(nlp):
    doc = Doc(nlp.vocab, words=["a", "b", "c"], ents=["O", "O", "B-X"])
    write(nlp, doc, (0, 2, 0, 2.0), (1, 2, 0, 1.0), store_scores=True)
    assert [ent._.ent_score for ent in doc.ents] == [2.0, None]
    assert doc[1:2]._.ent_score is None
    loaded = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [ent._.ent_score for ent in loaded.ents] == [2.0, None]


def test_earlier_entities_keep_their_scores_or_have_none(nlp):
    doc = Doc(nlp.vocab, words=["a", "b", "c"], ents=["O", "O", "B-A"])
    write(nlp, doc, (0, 1, 0, 1.0), (2, 3, 0, 5.0), store_scores=True)
    assert [ent._.ent_score for ent in doc.ents] == [1.0, None]
    nlp.get_pipe("global_pointer_ner").set_annotations(
        [doc], [found((0, 1, 0, 7.0), (1, 2, 1, 2.0))]
    )
    assert [ent._.ent_score for ent in doc.ents] == [1.0, 2.0, None]


def test_joined_docs_have_no_scores_of_entities(nlp):
    doc = write(nlp, Doc(nlp.vocab, words=["a"]), (0, 1, 0, 1.0), store_scores=True)
    joined = Doc.from_docs([doc, doc])
    assert [ent._.ent_score for ent in joined.ents] == [None, None]


def test_writing_nothing_is_refused(nlp):
    with pytest.raises(ValueError, match="would write nothing"):
        pipe_of(nlp, set_ents=False)


@pytest.mark.parametrize(
    "bad",
    [
        {"head_size": 7},
        {"head_size": 0},
        {"max_length": 0},
        {"max_span_length": 0},
        {"lstm_layers": -1},
    ],
)
def test_bad_sizes_are_refused(nlp, bad):
    with pytest.raises(ValueError, match="must be"):
        pipe_of(nlp, model=bad)


# Windows


def windows(docs: list[Doc], length: int = 100, **settings) -> list[list[int]]:
    settings = {"cross_sentences": False, **settings}
    return [window.tolist() for window in windows_of(docs, length, **settings)]


def test_windows_are_sentences_without_blanks(nlp):
    words = ["a", " ", "b", "\n", "c"]
    doc = Doc(nlp.vocab, words=words, sent_starts=[True, False, False, True, False])
    other = Doc(nlp.vocab, words=["d", "e"])
    docs = [doc, Doc(nlp.vocab), other]
    assert windows(docs) == [[0, 2], [4], [5, 6]]
    assert windows(docs, cross_sentences=True) == [[0, 2, 4], [5, 6]]
    assert windows([]) == windows([Doc(nlp.vocab), Doc(nlp.vocab, words=[" "])]) == []


def test_windows_overlap_by_half(nlp):
    doc = Doc(nlp.vocab, words=["w"] * 10)
    assert windows([doc], 4) == [[0, 1, 2, 3], [2, 3, 4, 5], [4, 5, 6, 7], [6, 7, 8, 9]]
    assert windows([doc], 9) == [[*range(9)], [*range(4, 10)]]
    assert windows([doc], 10) == [[*range(10)]]
    assert windows([doc], 1) == [[n] for n in range(10)]


# Targets


def targets_of(example: Example, spans_key: str | None = None):
    targets = span_targets([example], LABELS, spans_key)
    return targets.spans.tolist(), targets.known.tolist()


def test_targets_of_entities_with_missing_ones(nlp):
    gold = Doc(nlp.vocab, words=["a", "b", "c", "d"], ents=["B-A", "I-A", "", "O"])
    assert targets_of(Example(bare(gold), gold)) == ([[0, 1, 0]], [True, True, False, True])


def test_targets_of_several_docs(nlp):
    gold = Doc(nlp.vocab, words=["a", "b"], ents=["O", "B-B"])
    docs = [gold, Doc(nlp.vocab), gold, Doc(nlp.vocab, words=["x"])]
    targets = span_targets(examples_of(docs), LABELS, None)
    assert targets.spans.tolist() == [[1, 1, 1], [3, 3, 1]]
    assert targets.known.tolist() == [True, True, True, True, False]


def test_targets_of_nested_spans_are_not_flattened(nlp):
    gold = Doc(nlp.vocab, words=["a", "b", "c"], ents=["B-A", "O", "O"])
    set_spans(gold, (0, 3, "A"), (1, 2, "B"), (1, 2, "A"), (0, 2, "X"))
    assert targets_of(Example(bare(gold), gold), "sc") == (
        [[0, 2, 0], [1, 1, 0], [1, 1, 1]],
        [True] * 3,
    )
    assert targets_of(Example(bare(gold), gold), "other") == ([], [False] * 3)
    gold.spans["other"] = []
    assert targets_of(Example(bare(gold), gold), "other") == ([], [True] * 3)


@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_misaligned_spans_are_unknown(nlp, spans_key):
    """One span that the predicted tokens have in other pieces, one that they cut."""
    ents = ["B-A", "I-A", "O", "B-B", "O"]
    gold = Doc(nlp.vocab, words=["New", "York", "has", "Wall", "street"], ents=ents)
    set_spans(gold, (0, 2, "A"), (3, 4, "B"))
    predicted = Doc(nlp.vocab, words=["Ne", "w", "York", "has", "Wallstreet"])
    predicted = Doc(
        nlp.vocab, words=["Ne", "w", "York", "has", "Wall street"], spaces=[0, 1, 1, 1, 0]
    )
    spans, known = targets_of(Example(predicted, gold), spans_key)
    assert spans == [[0, 2, 0]]
    assert known == [True, True, True, True, False]


@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_blanks_that_only_the_prediction_has_cut_nothing(nlp, spans_key):
    gold = Doc(nlp.vocab, words=["in", "New", "York"], ents=["O", "B-A", "I-A"])
    set_spans(gold, (1, 3, "A"))
    predicted = Doc(nlp.vocab, words=["in", "\n", "New", "\n", "York", "\n"])
    spans, known = targets_of(Example(predicted, gold), spans_key)
    assert spans == [[2, 4, 0]]
    assert [known[word] for word in (0, 2, 4)] == [True] * 3


def test_edges_of_gold_spans_are_no_blanks(nlp):
    gold = Doc(nlp.vocab, words=["\n", "a", " ", "b", "  "])
    set_spans(gold, (0, 5, "A"), (1, 3, "A"), (2, 3, "B"))
    assert targets_of(Example(bare(gold), gold), "sc")[0] == [[1, 1, 0], [1, 3, 0]]


def test_places_in_windows_that_overlap():
    tokens = np.array([[4, 5, 7, 8], [7, 8, 9, -1]])
    spans = np.array([[4, 4, 1], [5, 9, 0], [7, 8, 0], [7, 9, 2]])
    assert place_spans(tokens, spans).tolist() == [
        [0, 1, 0, 0],
        [0, 0, 2, 3],
        [1, 0, 0, 1],
        [1, 2, 0, 2],
    ]
    assert place_spans(tokens, spans[:0]).shape == (0, 4)


def test_spans_over_unknown_words_are_unknown():
    known = known_spans(
        np.array([[0, 1, 2], [3, 4, -1]]), np.array([True, False, True, True, True])
    )
    assert known[0].astype(int).tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert known[1].astype(int).tolist() == [[1, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert not known_spans(np.array([[0, 1, 2]]), np.zeros(3, dtype=bool)).any()


# Training and prediction


def overfitted(nlp: Language, gold: list[Doc], steps: int = 60, **config):
    fix_random_seed(0)
    pipe = pipe_of(nlp, **config)
    nlp.initialize(lambda: examples_of(gold))
    optimizer = Adam(0.01, L2=0.0)
    for _ in range(steps):
        nlp.update(examples_of(gold), sgd=optimizer)
    return pipe


def test_longer_than_anything_in_training(nlp):
    gold = Doc(nlp.vocab, words=["ja"] * 19 + ["Oslo"], ents=["O"] * 19 + ["B-A"])
    overfitted(nlp, [gold], steps=30)
    words = (["ja"] * 19 + ["Oslo"]) * 35
    for length in (1000, 64):
        nlp.get_pipe("global_pointer_ner").model.attrs["max_length"] = length
        doc = nlp(Doc(nlp.vocab, words=words))
        assert len(doc) == 700
        assert len(doc.ents) > 0


def test_windows_find_a_span_once(nlp):
    gold = Doc(nlp.vocab, words=["x", "Oslo", "fjord", "y"], ents=["O", "B-A", "I-A", "O"])
    pipe = overfitted(nlp, [gold], spans_key=None, store_scores=True)
    pipe.model.attrs["max_length"] = 4
    doc = nlp(Doc(nlp.vocab, words=["x", "Oslo", "fjord", "y"] * 3))
    (spans,) = pipe.predict([doc])
    keys = list(zip(spans.starts.tolist(), spans.ends.tolist(), spans.labels.tolist(), strict=True))
    assert len(keys) == len(set(keys)) > 0
    order = [(start, -end, label) for start, end, label in keys]
    assert order == sorted(order)


def test_no_entity_begins_or_ends_with_a_blank(nlp):
    gold = Doc(nlp.vocab, words=["\n", "Oslo", " ", "fjord", "\n"])
    set_spans(gold, (0, 5, "A"))
    overfitted(nlp, [gold], spans_key="sc")
    doc = nlp(bare(gold))
    assert triples(doc.spans["sc"]) == triples(doc.ents) == [(1, 4, "A")]
    for text in ("\n  Oslo \n", "  ", ""):
        doc = nlp(text)
        assert "sc" in doc.spans
        assert not any(s[0].is_space or s[-1].is_space for s in (*doc.spans["sc"], *doc.ents))
    assert len(nlp("  ").spans["sc"]) == 0


@pytest.mark.parametrize("cross_sentences", [True, False])
def test_sentence_boundaries(nlp, cross_sentences):
    gold = Doc(nlp.vocab, words=["St", ".", "Gallen", "lies"], ents=["B-A", "I-A", "I-A", "O"])
    pipe = overfitted(nlp, [gold], cross_sentences=cross_sentences)
    doc = Doc(nlp.vocab, words=[t.text for t in gold], sent_starts=[True, False, True, False])
    pipe.threshold = -1000.0
    (spans,) = pipe.predict([doc])
    crossing = (spans.starts < 2) & (spans.ends > 2)
    assert crossing.any() == cross_sentences


def test_threshold(nlp):
    gold = Doc(nlp.vocab, words=["St", ".", "Gallen"], ents=["B-A", "I-A", "I-A"])
    pipe = overfitted(nlp, [gold])
    (before,) = pipe.predict([bare(gold)])
    assert len(before.scores) == 1
    pipe.threshold = float(before.scores[0])
    assert len(pipe.predict([bare(gold)])[0].scores) == 0
    pipe.threshold = -1000.0
    assert len(pipe.predict([bare(gold)])[0].scores) == 6


def test_the_threshold_of_the_config_counts_and_not_one_in_the_weights(nlp):
    gold = Doc(nlp.vocab, words=["St", ".", "Gallen"], ents=["B-A", "I-A", "I-A"])
    overfitted(nlp, [gold], steps=5)(bare(gold))
    config = nlp.config
    config["components"]["global_pointer_ner"]["threshold"] = 1000.0
    loaded = spacy.util.load_model_from_config(config).from_bytes(nlp.to_bytes())
    assert loaded(bare(gold)).ents == ()


# Scores


def scored(nlp: Language, gold: Doc, predicted: Doc, **settings):
    return score_entities([Example(predicted, gold)], **settings)


def test_scores_by_hand(nlp):
    words = ["a", "b", "c", "d"]
    gold = Doc(nlp.vocab, words=words, ents=["B-A", "I-A", "B-B", "B-B"])
    predicted = Doc(nlp.vocab, words=words, ents=["B-A", "I-A", "B-A", "B-B"])
    scores = scored(nlp, gold, predicted)
    assert scores["ents_p"] == scores["ents_r"] == scores["ents_f"] == pytest.approx(2 / 3)
    assert scores["ents_per_type"]["A"]["p"] == pytest.approx(1 / 2)
    assert scores["ents_macro_p"] == pytest.approx((1 / 2 + 1) / 2)
    assert scores["ents_macro_r"] == pytest.approx((1 + 1 / 2) / 2)
    assert scores["ents_macro_f"] == scores["ner_f"] == pytest.approx(2 / 3)


def test_scores_of_nested_spans_by_hand(nlp):
    gold = Doc(nlp.vocab, words=["a", "b", "c"])
    predicted = bare(gold)
    set_spans(gold, (0, 3, "A"), (1, 2, "B"), (1, 2, "A"))
    set_spans(predicted, (0, 3, "A"), (1, 2, "B"), (0, 1, "B"), (0, 2, "C"))
    scores = scored(nlp, gold, predicted, spans_key="sc")
    assert (scores["spans_sc_p"], scores["spans_sc_r"]) == pytest.approx((2 / 4, 2 / 3))
    assert scores["ner_f"] == scores["spans_sc_f"] == pytest.approx(4 / 7)
    assert scores["spans_sc_macro_f"] == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    assert scores["ents_f"] is None


@pytest.mark.parametrize("spans_key", [None, "sc"])
def test_zero_on_nothing_and_none_without_annotation(nlp, spans_key):
    words = ["a", "b"]
    gold = Doc(nlp.vocab, words=words, ents=["O", "O"])
    set_spans(gold)
    scorer = make_entity_scorer()
    examples = [Example(bare(gold), gold)]
    scores = scorer(examples, spans_key=spans_key, set_ents=spans_key is None)
    assert scores["ner_f"] == 0.0
    assert not any(isinstance(value, float) and np.isnan(value) for value in scores.values())
    empty = Example(Doc(nlp.vocab), Doc(nlp.vocab))
    for examples in ([], [empty], [Example(bare(gold), bare(gold))]):
        assert set(scorer(examples, spans_key=spans_key).values()) == {None}


def test_scores_of_another_component_that_writes_ents_stay(nlp):
    ner = nlp.add_pipe("ner")
    pipe_of(nlp, spans_key="sc", set_ents=False)
    gold = Doc(nlp.vocab, words=["a", "b"], ents=["B-A", "O"])
    set_spans(gold, (0, 2, "B"))
    nlp.initialize(lambda: examples_of([gold]))
    assert ner.labels == ("A",)
    assert nlp.evaluate(examples_of([gold]))["ents_f"] is not None


def test_missing_annotation_does_not_count(nlp):
    gold = Doc(nlp.vocab, words=["a", "b"], ents=["B-A", ""])
    predicted = Doc(nlp.vocab, words=["a", "b"], ents=["B-A", "B-A"])
    assert scored(nlp, gold, predicted)["ents_f"] == 1.0


# Memory

PEAK = """
import resource, sys
import spacy, torch
from spacy.tokens import Doc

torch.set_num_threads(1)
words, types = map(int, sys.argv[1:])
nlp = spacy.blank("xx")
pipe = nlp.add_pipe("global_pointer_ner", config={"model": {"max_length": words}})
for number in range(types):
    pipe.add_label(f"T{number}")
pipe.model.set_dim("nO", types)
pipe.model.initialize(X=[Doc(nlp.vocab, words=["a"])])
nlp(Doc(nlp.vocab, words=["a", "b"]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
nlp(Doc(nlp.vocab, words=["w"] * words))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peak memory in other units")
@pytest.mark.parametrize(("words", "types"), [(2000, 10), (200, 1000)])
def test_peak_memory_of_long_docs_and_many_types(words, types):
    command = [sys.executable, "-W", "ignore", "-c", PEAK, str(words), str(types)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    assert int(run.stdout) < 400
