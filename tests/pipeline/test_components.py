"""What holds for every component of the family."""

import gc
import json
import pickle
import subprocess
import sys
import threading
import tracemalloc
import warnings
from configparser import ConfigParser
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
import spacy
import srsly
import torch
from factories import (
    FACTORIES,
    LISTENER,
    TOK2VEC,
    Factory,
    bare,
    examples_of,
    gold_docs,
    link,
    partly_annotated,
    predicate,
    relate,
    set_spans,
    train,
    unannotated,
)
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, fix_random_seed, set_dropout_rate

from spacy_biaffine.decode.finite import NotFiniteError
from spacy_biaffine.models.lazy_shim import LazyShim

TEXTS = [
    "Cold rain fell.",
    "Nobody slept. Yesterday letters came that pleased us all night.",
    "",
    "\t",
    "us",
    "Rain,  rain \n\n and cold letters!",
]
EMPTY_TEXTS = ["", "   ", "x", ".", "\t"]
HOSTILE_TEXTS = [
    "\u200b",
    "a \u200d b",
    "\ufe0f",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 ran off",
    "\x00 x \x00\x00",
    "e\u0301te\u0301 fell.",
    "\u202eevif ruof\u202c .",
    "\u05e9\u05dc\u05d5\u05dd all night \u0645\u0631\u062d\u0628\u0627 .",
    "\ud7ff\uffff \U0010ffff .",
    "rain" * 2500 + " fell.",
    "." * 300,
]


def component(nlp: Language, factory: Factory):
    return nlp.get_pipe(factory.name)


def weights(nlp: Language, factory: Factory) -> bytes:
    # The dropout rate is kept beside the weights.
    model = component(nlp, factory).model
    set_dropout_rate(model, 0.0)
    return model.to_bytes()


def assert_same(factory: Factory, docs: list[Doc], others: list[Doc], atol: float = 0.0) -> None:
    """The same predictions and scores, and no empty comparison."""
    assert len(docs) == len(others) > 0
    for doc, other in zip(docs, others, strict=True):
        assert doc.text == other.text
        assert factory.read(doc) == factory.read(other)
        np.testing.assert_allclose(factory.scores(doc), factory.scores(other), rtol=0, atol=atol)


# Training


def test_overfits_two_docs(factory, trained):
    gold = gold_docs(trained.vocab)
    assert [factory.read(trained(bare(doc))) for doc in gold] == [factory.read(d) for d in gold]


def test_loss_falls(factory):
    nlp = factory.make()
    assert train(nlp, 30) < 0.8 * train(factory.make(), 1)


def test_trains_with_dropout(factory):
    nlp = factory.make()
    first = train(factory.make(), 1, drop=0.4)
    assert 0 < train(nlp, 30, drop=0.4) < first
    texts = [doc.text for doc in gold_docs(nlp.vocab)]
    assert_same(factory, list(nlp.pipe(texts)), list(nlp.pipe(texts)))


def test_dropout_is_applied(factory):
    nlp = factory.make()
    losses = set()
    for _ in range(2):
        examples = examples_of(gold_docs(nlp.vocab))
        losses.add(nlp.update(examples, sgd=False, drop=0.5)[factory.name])
    assert len(losses) == 2


def test_same_seed_same_weights_and_predictions(factory):
    first, second = factory.make(), factory.make()
    for nlp in (first, second):
        fix_random_seed(1)
        train(nlp, 5, drop=0.2)
    assert weights(first, factory) == weights(second, factory)
    assert_same(factory, list(first.pipe(TEXTS)), list(second.pipe(TEXTS)))


def test_accumulated_gradients_add_up(factory):
    """Two half batches before an update move the weights, and leave no gradient behind."""
    nlp = factory.make()
    before = weights(nlp, factory)
    optimizer = Adam(0.01, L2=0.0)
    for example in examples_of(gold_docs(nlp.vocab)):
        component(nlp, factory).update([example])
    assert weights(nlp, factory) == before
    component(nlp, factory).finish_update(optimizer)
    after = weights(nlp, factory)
    assert after != before


# Labels


def test_no_labels_is_a_clear_error(factory):
    nlp = spacy.blank("en")
    factory.add_to(nlp)
    with pytest.raises(ValueError, match=rf"\[{factory.name}\] found no labels"):
        nlp.initialize(lambda: unannotated(nlp.vocab))


def test_the_model_of_another_component_is_a_clear_error(factory):
    config = {"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": TOK2VEC}}
    model = spacy.blank("en").get_factory_meta(factory.name).default_config["model"]
    with pytest.raises(ValueError, match="write @architectures = ") as caught:
        spacy.blank("en").add_pipe(factory.name, name="mine", config=config)
    assert f'[components.mine.model] write @architectures = "{model["@architectures"]}"' in str(
        caught.value
    )


def test_only_empty_docs_is_a_clear_error(factory):
    nlp = factory.make()
    fresh = spacy.blank("en")
    pipe = factory.add_to(fresh)
    empty = [Example(Doc(fresh.vocab), Doc(fresh.vocab))]
    with pytest.raises(ValueError, match="only empty Docs"):
        pipe.initialize(lambda: empty, labels=component(nlp, factory).label_data)


def test_labels_come_from_all_examples(factory):
    nlp = spacy.blank("en")
    pipe = factory.add_to(nlp)
    docs = [factory.relabel(nlp.vocab, "AAA") for _ in range(49)]
    docs.append(factory.relabel(nlp.vocab, "BBB"))
    nlp.initialize(lambda: examples_of(docs))
    assert {"AAA", "BBB"} <= set(pipe.labels)
    assert list(pipe.labels) == sorted(pipe.labels)
    last = examples_of(docs[49:])
    optimizer = Adam(0.01, L2=0.0)
    losses = [nlp.update(last, sgd=optimizer, losses={})[factory.name] for _ in range(60)]
    assert 0 < losses[-1] < losses[0]
    assert factory.read(nlp(bare(docs[49]))) == factory.read(docs[49])


def test_label_data_round_trip(factory, tmp_path):
    nlp = factory.make()
    path = tmp_path / "labels.json"
    srsly.write_json(path, component(nlp, factory).label_data)
    fresh = spacy.blank("en")
    pipe = factory.add_to(fresh)
    fresh.config["initialize"]["components"][factory.name] = {
        "labels": {"@readers": "spacy.read_labels.v1", "path": str(path), "require": True}
    }
    fix_random_seed(0)
    fresh.initialize(lambda: examples_of(gold_docs(fresh.vocab)))
    assert pipe.labels == component(nlp, factory).labels != ()
    assert pipe.label_data == component(nlp, factory).label_data
    assert weights(fresh, factory) == weights(nlp, factory)


@pytest.mark.parametrize("labels", [["A", "B"], {"lables": ["A"]}, "AB"])
def test_labels_of_another_form_are_a_clear_error(factory, labels):
    nlp = spacy.blank("en")
    pipe = factory.add_to(nlp)
    with pytest.raises(ValueError, match="wants labels as `python -m spacy init labels` writes"):
        pipe.initialize(lambda: examples_of(gold_docs(nlp.vocab)), labels=labels)


def test_add_label_before_initialize(factory):
    nlp = spacy.blank("en")
    pipe = factory.add_to(nlp)
    assert (pipe.add_label("EXTRA"), pipe.add_label("EXTRA")) == (1, 0)
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    assert "EXTRA" in pipe.labels
    assert len(pipe.labels) > 1
    gold = [factory.relabel(nlp.vocab, "EXTRA")]
    optimizer = Adam(0.01, L2=0.0)
    for _ in range(60):
        nlp.update(examples_of(gold), sgd=optimizer)
    assert factory.read(nlp(bare(gold[0]))) == factory.read(gold[0])


@pytest.mark.parametrize("label", [5, None, ["x"]])
def test_a_label_is_a_string(factory, label):
    pipe = factory.add_to(spacy.blank("en"))
    with pytest.raises(ValueError, match="E187"):
        pipe.add_label(label)


def test_add_label_after_initialize_is_refused(factory, tmp_path):
    nlp = factory.make()
    pipe = component(nlp, factory)
    labels, before = pipe.labels, nlp.to_bytes()
    with pytest.raises(ValueError, match=rf"\[{factory.name}\] can't take the new label 'NEW'"):
        pipe.add_label("NEW")
    assert pipe.add_label(labels[0]) == 0
    assert pipe.labels == labels
    assert nlp.to_bytes() == before
    nlp.to_disk(tmp_path)
    assert_same(factory, list(spacy.load(tmp_path).pipe(TEXTS)), list(nlp.pipe(TEXTS)))


def test_initialize_again_draws_new_weights(factory):
    nlp = factory.make()
    train(nlp, 3)
    fix_random_seed(0)
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    assert weights(nlp, factory) == weights(factory.make(), factory)


# Gold annotation that is missing or does not fit


def test_partial_gold_trains(factory):
    nlp = factory.make()
    optimizer = Adam(0.01, L2=0.0)
    examples = examples_of([partly_annotated(nlp.vocab)])
    losses = [nlp.update(examples, sgd=optimizer, losses={})[factory.name] for _ in range(20)]
    assert 0 < losses[-1] < losses[0]


def test_batch_without_gold_changes_nothing(factory):
    nlp = factory.make()
    before = weights(nlp, factory)
    optimizer = Adam(0.01, L2=0.0)
    losses = nlp.update(unannotated(nlp.vocab), sgd=optimizer, losses={})
    assert losses == {factory.name: 0.0}
    assert weights(nlp, factory) == before
    loss = nlp.update(examples_of(gold_docs(nlp.vocab)), sgd=optimizer, losses={})[factory.name]
    assert loss > 0
    assert np.isfinite(loss)
    assert weights(nlp, factory) != before


def test_batch_of_empty_docs(factory):
    nlp = factory.make()
    before = weights(nlp, factory)
    empty = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in ("", " ", "")]
    assert nlp.update(empty, sgd=Adam(0.01, L2=0.0), losses={}) == {factory.name: 0.0}
    assert nlp.update(empty[:1], sgd=Adam(0.01, L2=0.0), losses={}) == {factory.name: 0.0}
    assert component(nlp, factory).update([]) == {factory.name: 0.0}
    assert weights(nlp, factory) == before


MISALIGNED = {
    "merged": (["cannot", "swim"], ["can", "not", "swim"], [2, 2, 2], "aux advmod ROOT", "1 of 2"),
    "split": (["can", "not", "swim"], ["cannot", "swim"], [1, 1], "aux ROOT", "2 of 3"),
    "head": (["so", "cantswim"], ["so", "cant", "swim"], [2, 2, 2], "a b ROOT", "1 of 2"),
}


@pytest.mark.parametrize("kind", MISALIGNED)
def test_misaligned_gold(factory, kind):
    predicted, words, heads, deps, share = MISALIGNED[kind]
    nlp = spacy.blank("en")
    factory.add_to(nlp)
    n = len(words)
    gold = Doc(nlp.vocab, words, heads=heads, deps=deps.split(), tags=["T"] * n, ents=["B-X"] * n)
    set_spans(gold, (0, n, "X"), (0, 1, "X"))
    relate(gold, (0, n - 1, "R"))
    link(gold, (n - 1, 0, "R"))
    predicate(gold, n - 1, "swim.01", ("R", (0, 1)), ("ALL", (0, n)))
    examples = [Example(Doc(nlp.vocab, words=predicted), gold)]
    warning = rf"\[{factory.name}\] {share} tokens \(\d+\.\d%\).* does not fit them is left out"
    with pytest.warns(UserWarning, match=warning):
        nlp.initialize(lambda: examples)
    losses = [nlp.update(examples, losses={})[factory.name] for _ in range(3)]
    assert np.isfinite(losses).all()
    assert nlp.evaluate(examples)


def test_blank_tokens_alone_are_no_misalignment(factory):
    nlp = spacy.blank("en")
    factory.add_to(nlp)
    gold = gold_docs(nlp.vocab)[0]
    predicted = nlp.make_doc("Cold rain  fell\nall night. Nobody slept.")
    assert len(predicted) == len(gold) + 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: [Example(predicted, gold)])


# Docs in, the same Docs out


def test_before_initialize_the_error_says_what_to_do(factory):
    nlp = spacy.blank("en")
    pipe = factory.add_to(nlp)
    message = rf"\[{factory.name}\] has no weights yet: call nlp.initialize\(\)"
    with pytest.raises(ValueError, match=message):
        nlp("Rain fell.")
    with pytest.raises(ValueError, match=message):
        list(nlp.pipe(["Rain fell."]))
    with pytest.raises(ValueError, match=message):
        pipe.update(examples_of(gold_docs(nlp.vocab)))


@pytest.mark.parametrize("text", EMPTY_TEXTS)
def test_empty_and_tiny_docs(factory, trained, text):
    doc = trained(text)
    assert doc.text == text
    assert len(factory.read(doc)) == len(doc)


def test_list_of_empty_and_tiny_docs(factory, trained):
    docs = list(trained.pipe(EMPTY_TEXTS))
    assert [doc.text for doc in docs] == EMPTY_TEXTS
    assert_same(factory, docs, [trained(text) for text in EMPTY_TEXTS], atol=1e-5)
    pipe = component(trained, factory)
    assert list(pipe.pipe([])) == []
    assert len(pipe.predict([])) == 0
    assert [doc.text for doc in trained.pipe(["", ""])] == ["", ""]


def test_number_and_order_of_docs(factory, trained):
    texts = [f"{word} fell." for word in ("Rain", "Letters", "Nobody", "Night", "All")] * 5
    docs = list(trained.pipe(((t, n) for n, t in enumerate(texts)), as_tuples=True, batch_size=7))
    assert [n for _, n in docs] == list(range(25))
    assert [doc.text for doc, _ in docs] == texts


def test_pipe_equals_call(factory, trained):
    for size in (1, 2, 100):
        docs = list(trained.pipe(TEXTS, batch_size=size))
        assert_same(factory, docs, [trained(text) for text in TEXTS], atol=1e-5)


def test_batch_equals_single_beside_a_long_doc(factory, trained):
    words = [token.text for doc in gold_docs(trained.vocab) for token in doc]
    long = [words[n * n % len(words)] for n in range(300)]
    all_words = [["Rain", "fell", "."], long, ["Nobody"], *([["us", "all", "slept"]] * 3)]

    def docs():
        # One sentence each, so that the lengths within a batch differ most.
        return [
            Doc(trained.vocab, words=w, sent_starts=[True] + [False] * (len(w) - 1))
            for w in all_words
        ]

    batched = list(trained.pipe(docs()))
    assert_same(factory, batched, [trained(doc) for doc in docs()], atol=1e-5)


def test_running_twice_is_running_once(factory, trained):
    once = list(trained.pipe(TEXTS))
    twice = list(trained.pipe(list(trained.pipe(TEXTS))))
    assert_same(factory, once, twice, atol=1e-5)


@pytest.mark.parametrize("text", HOSTILE_TEXTS, ids=range(len(HOSTILE_TEXTS)))
def test_hostile_text(factory, trained, text):
    doc = trained(text)
    assert doc.text == text
    assert np.isfinite(factory.scores(doc)).all()
    assert len(factory.read(doc)) == len(doc) > 0
    (batched, _) = trained.pipe([text, "Rain fell."])
    assert_same(factory, [doc], [batched], atol=1e-5)


def test_prediction_from_a_second_thread(factory, trained):
    found: list[Doc] = []
    thread = threading.Thread(target=lambda: found.extend(trained.pipe(TEXTS)))
    thread.start()
    thread.join()
    assert_same(factory, found, list(trained.pipe(TEXTS)))


def test_training_in_a_second_thread(factory):
    nlp = factory.make()
    losses: list[float] = []
    thread = threading.Thread(target=lambda: losses.append(train(nlp, 2)))
    thread.start()
    thread.join()
    assert losses == [train(factory.make(), 2)]


def test_two_processes_predict_the_same(factory, trained):
    docs = list(trained.pipe(TEXTS, n_process=2, batch_size=2))
    assert_same(factory, docs, list(trained.pipe(TEXTS, batch_size=2)))


def test_labels_that_were_not_there_at_first_are_named_once(factory):
    nlp = factory.make()
    examples = examples_of([factory.relabel(nlp.vocab, "UNSEEN")])
    with pytest.warns(UserWarning, match=r"UNSEEN.*python -m spacy init labels") as warned:
        nlp.update(examples)
        nlp.update(examples)
    assert len([each for each in warned if "init labels" in str(each.message)]) == 1


@pytest.mark.parametrize(
    "name", ["norm_biaffine_parser", "norm_biaffine_graph_parser", "syntax_srl"]
)
def test_scores_that_are_not_finite_name_component_and_doc(name, monkeypatch):
    factory = next(each for each in FACTORIES if each.name == name)
    nlp = factory.make()
    pipe = component(nlp, factory)
    predict = pipe.model._func

    def broken(model, inputs, is_train):
        if any("Nobody" in doc.text for doc in inputs.docs):
            raise NotFiniteError("Scores contain NaN")
        return predict(model, inputs, is_train)

    monkeypatch.setattr(pipe.model, "_func", broken)
    with pytest.raises(ValueError, match=rf"\[{name}\] Scores contain NaN.*'Nobody slept'"):
        pipe.predict([nlp.make_doc("Rain fell"), nlp.make_doc("Nobody slept")])


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_predict_nothing(factory, value):
    """No annotation at all, rather than none of what is there."""
    nlp = factory.make()
    texts = ["Rain fell", "Nobody slept"]
    list(nlp.pipe(texts))  # the weights are looked at after each change
    nlp.update(examples_of(gold_docs(nlp.vocab)), sgd=Adam(0.0))
    pipe = component(nlp, factory)
    modules = [
        shim.module
        for node in pipe.model.walk()
        for shim in node.shims
        if isinstance(shim, LazyShim)
    ]
    with torch.no_grad():
        list(modules[-1].parameters())[-1].fill_(value)
    with pytest.raises(ValueError, match=rf"\[{factory.name}\] .* contain NaN or infinity"):
        list(nlp.pipe(texts))


def test_vectors_that_are_not_finite_name_component_and_doc(factory):
    nlp = factory.make()
    pipe = component(nlp, factory)
    encoder = pipe.model.get_ref("tok2vec")
    predict = encoder._func

    def broken(model, docs, is_train):
        vectors, backprop = predict(model, docs, is_train)
        return [
            each * (float("nan") if "Nobody" in doc.text else 1.0)
            for each, doc in zip(vectors, docs, strict=True)
        ], backprop

    encoder._func = broken
    with pytest.raises(ValueError, match=rf"\[{factory.name}\] Word vectors.*'Nobody slept'"):
        pipe.predict([nlp.make_doc("Rain fell"), nlp.make_doc("Nobody slept")])


# Saving


@pytest.fixture(scope="module")
def saved(factory: Factory, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The component in different sizes, trained a little and saved."""
    folders = []
    for settings in ({}, *factory.variants):
        nlp = factory.make(**settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            train(nlp, 3)
        folders.append(tmp_path_factory.mktemp(factory.name) / "model")
        nlp.to_disk(folders[-1])
        docs = list(nlp.pipe(TEXTS))
        srsly.write_json(folders[-1] / "read.json", [factory.read(doc) for doc in docs])
        srsly.write_json(folders[-1] / "hex.json", [hexes(factory, doc) for doc in docs])
    return folders


def hexes(factory: Factory, doc: Doc) -> list[str]:
    """Scores to the bit."""
    return [float(score).hex() for score in factory.scores(doc).ravel()]


LOAD = """
import json, sys, spacy, torch
torch.set_num_threads(1)  # as here: sums are rounded otherwise in another order
sys.path.insert(0, sys.argv[1])
texts, folders = json.load(sys.stdin)
answers = []
for folder in folders:
    nlp = spacy.load(folder)
    assert not [name for name in sys.modules if name == "factories"]
    answers.append([doc.to_bytes().hex() for doc in nlp.pipe(texts)])
print(json.dumps(answers))
"""


def test_load_in_a_new_process(factory, saved):
    """The plugin is found without being imported, and predicts the same to the bit."""
    answer = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LOAD, str(Path(__file__).parents[1])],
        input=json.dumps([TEXTS, list(map(str, saved))]),
        capture_output=True,
        encoding="utf-8",
        check=True,
        cwd=saved[0],
    )
    for folder, docs in zip(saved, json.loads(answer.stdout), strict=True):
        vocab = spacy.load(folder).vocab
        loaded = [Doc(vocab).from_bytes(bytes.fromhex(doc)) for doc in docs]
        assert [hexes(factory, doc) for doc in loaded] == srsly.read_json(folder / "hex.json")
        read = json.loads(json.dumps([factory.read(doc) for doc in loaded]))
        assert read == srsly.read_json(folder / "read.json")


def test_bytes_and_pickle(factory, saved):
    for folder in saved:
        nlp = spacy.load(folder)
        data = nlp.to_bytes()
        built = spacy.util.load_model_from_config(nlp.config).from_bytes(data)
        for other in (built, pickle.loads(pickle.dumps(nlp))):
            assert_same(factory, list(other.pipe(TEXTS)), list(nlp.pipe(TEXTS)))
            assert component(other, factory).label_data == component(nlp, factory).label_data


def test_loaded_pipeline_goes_on_training(factory, saved):
    nlp = spacy.load(saved[0])
    nlp.resume_training()
    before = weights(nlp, factory)
    assert np.isfinite(train(nlp, 2))
    assert weights(nlp, factory) != before


def test_from_bytes_over_a_trained_model(factory, trained):
    """Other weights are replaced."""
    nlp = factory.make()
    train(nlp, 2)
    assert weights(nlp, factory) != weights(trained, factory)
    nlp.from_bytes(trained.to_bytes())
    assert weights(nlp, factory) == weights(trained, factory)
    assert_same(factory, list(nlp.pipe(TEXTS)), list(trained.pipe(TEXTS)))


def test_saved_before_initialize(factory, tmp_path):
    nlp = spacy.blank("en")
    factory.add_to(nlp)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    with pytest.raises(ValueError, match="has no weights yet"):
        loaded("Rain fell.")
    loaded.initialize(lambda: examples_of(gold_docs(loaded.vocab)))
    assert len(loaded("Rain fell.")) == 3


def test_saved_state_is_tensors_and_plain_data(factory, saved, monkeypatch):
    """Every torch state in a saved model loads with weights_only=True."""
    seen = []
    load = torch.load

    def strict(file, **kwargs):
        assert kwargs.get("weights_only") is True
        state = load(file, **kwargs)
        seen.extend(state.values())
        return state

    monkeypatch.setattr(torch, "load", strict)
    for folder in saved:
        spacy.load(folder)
    assert len(seen) > len(saved)
    assert all(isinstance(value, torch.Tensor) for value in seen)


def test_changed_sizes_do_not_load(factory, saved, tmp_path):
    """Weights of another size are an error, not a silent mix."""
    nlp = spacy.load(saved[0])
    other = factory.make(**factory.variants[0])
    with pytest.raises(Exception, match=r"(?i)size mismatch|mismatched|unexpected key"):
        other.from_bytes(nlp.to_bytes())


# A shared encoder


def with_listener(factory: Factory) -> Language:
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    factory.add_to(nlp, tok2vec=LISTENER)
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    return nlp


def encoder_gradients(nlp: Language) -> list[np.ndarray]:
    nodes = nlp.get_pipe("tok2vec").model.walk()
    return [node.get_grad(name) for node in nodes for name in node.grad_names]


def test_listener_receives_the_gradient(factory):
    nlp = with_listener(factory)
    mixed = [*unannotated(nlp.vocab), *examples_of(gold_docs(nlp.vocab))]
    for batch in (mixed[3:], mixed):
        nlp = with_listener(factory)
        nlp.update(batch, sgd=False)
        gradients = encoder_gradients(nlp)
        assert gradients
        assert sum(np.abs(g).sum() for g in gradients) > 0
        assert all(np.isfinite(g).all() for g in gradients)


def test_listener_receives_zeros_without_gold(factory):
    nlp = with_listener(factory)
    nlp.update(unannotated(nlp.vocab), sgd=False)
    gradients = encoder_gradients(nlp)
    assert gradients
    assert all((g == 0).all() for g in gradients)


def test_listener_learns_and_predicts(factory, tmp_path):
    nlp = with_listener(factory)
    train(nlp, 80)
    gold = gold_docs(nlp.vocab)
    assert [factory.read(nlp(bare(doc))) for doc in gold] == [factory.read(doc) for doc in gold]
    nlp.to_disk(tmp_path)
    assert_same(factory, list(spacy.load(tmp_path).pipe(TEXTS)), list(nlp.pipe(TEXTS)))


def test_listener_and_own_encoder_compute_the_same(factory):
    """Both get the same loss from the same weights."""
    nlp, own = with_listener(factory), factory.make()
    listening, alone = component(nlp, factory), component(own, factory)
    alone.model.get_ref("tok2vec").from_bytes(nlp.get_pipe("tok2vec").model.to_bytes())
    for mine, other in zip(alone.model.layers[1:], listening.model.layers[1:], strict=True):
        mine.from_bytes(other.to_bytes())
    gold = examples_of(gold_docs(nlp.vocab))
    assert nlp.update(gold, sgd=False)[factory.name] == pytest.approx(
        own.update(examples_of(gold_docs(own.vocab)), sgd=False)[factory.name], rel=1e-6
    )


def test_listener_and_empty_docs(factory):
    nlp = with_listener(factory)
    empty = [Example(nlp.make_doc(""), nlp.make_doc("")) for _ in range(2)]
    assert nlp.update(empty, sgd=Adam(0.01), losses={})[factory.name] == 0.0
    assert train(nlp, 1) > 0


def test_frozen_encoder(factory):
    nlp = with_listener(factory)
    frozen = nlp.get_pipe("tok2vec").model.to_bytes()
    first = train(with_listener(factory), 1, exclude=["tok2vec"], annotates=["tok2vec"])
    last = train(nlp, 20, exclude=["tok2vec"], annotates=["tok2vec"])
    assert 0 < last < first
    assert nlp.get_pipe("tok2vec").model.to_bytes() == frozen


def test_frozen_encoder_that_does_not_annotate_is_spacys_own_error(factory):
    with pytest.raises(ValueError, match=r"\[E(203|953|954)\]"):
        train(with_listener(factory), 1, exclude=["tok2vec"])


def test_replace_listeners(factory, tmp_path):
    nlp = with_listener(factory)
    train(nlp, 5)
    before = list(nlp.pipe(TEXTS))
    nlp.replace_listeners("tok2vec", factory.name, ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    assert_same(factory, list(nlp.pipe(TEXTS)), before)
    assert np.isfinite(train(nlp, 2))
    nlp.to_disk(tmp_path)
    assert_same(factory, list(spacy.load(tmp_path).pipe(TEXTS)), list(nlp.pipe(TEXTS)))


# Evaluation


def plain(value) -> bool:
    if isinstance(value, dict):
        return all(map(plain, value)) and all(map(plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(plain, value))
    return isinstance(value, str | int | float | bool | None)


def test_docs_hold_no_tensors(factory, trained):
    examples = examples_of(gold_docs(trained.vocab))
    scores = trained.evaluate(examples)
    assert scores
    for doc in [eg.predicted for eg in examples] + list(trained.pipe(TEXTS)):
        assert type(doc.tensor) is np.ndarray
        assert plain(doc.user_data)
        assert all(plain(group.attrs) for group in doc.spans.values())
        assert not doc.user_hooks


def test_evaluation_does_not_eat_memory(factory, trained):
    def evaluate():
        trained.evaluate(examples_of(gold_docs(trained.vocab) * 4))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    evaluate()
    tracemalloc.start()
    try:
        sizes = [evaluate() for _ in range(10)]
    finally:
        tracemalloc.stop()
    assert sizes[-1] - sizes[1] < 50_000


def test_perfect_scores_on_what_is_known_by_heart(factory, trained):
    scores = trained.evaluate(examples_of(gold_docs(trained.vocab)))
    names = [
        name
        for name, weight in trained.get_pipe_meta(factory.name).default_score_weights.items()
        if weight
    ]
    assert names
    assert [scores[name] for name in names] == [1.0] * len(names)


def score_names(factory, trained) -> set[str]:
    """The scores that the config names, but for those of entities that are not written."""
    names = set(trained.get_pipe_meta(factory.name).default_score_weights)
    writes_ents = factory.scored.get("set_ents", True)
    return {name for name in names if writes_ents or not name.startswith("ents_")}


def test_scores_that_the_config_names_exist(factory, trained):
    assert score_names(factory, trained) <= set(
        trained.evaluate(examples_of(gold_docs(trained.vocab)))
    )


def test_without_a_scorer_there_are_no_scores(factory):
    nlp = spacy.blank("en")
    pipe = nlp.add_pipe(factory.name, config={"scorer": None})
    assert not any(pipe.score(unannotated(nlp.vocab)).values())


def test_evaluating_docs_without_gold(factory, trained):
    scores = trained.evaluate(unannotated(trained.vocab))
    assert {scores[name] for name in score_names(factory, trained)} == {None}


# Registration

SETUP = Path(__file__).parents[2] / "setup.cfg"


def entry_points() -> list[EntryPoint]:
    if not SETUP.exists():
        return []
    parser = ConfigParser(delimiters=["="])
    parser.optionxform = str
    parser.read(SETUP)
    return [
        EntryPoint(name.strip(), target.strip(), group)
        for group, lines in parser["options.entry_points"].items()
        for name, target in (line.split("=") for line in lines.strip().splitlines())
    ]


@pytest.mark.parametrize("entry", entry_points(), ids=lambda entry: entry.name)
def test_registered_name_resolves(entry):
    assert callable(entry.load())
    kind = entry.group.removeprefix("spacy_").removeprefix("thinc_")
    if kind in {"factories", "architectures", "scorers", "readers", "optimizers"}:
        assert spacy.registry.has(kind, entry.name)


def test_factory_is_registered(factory):
    factories = [entry.name for entry in entry_points() if entry.group == "spacy_factories"]
    assert factory.name in factories or not SETUP.exists()
    assert spacy.blank("xx").has_factory(factory.name)
