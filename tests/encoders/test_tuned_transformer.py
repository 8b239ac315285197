"""The encoder that is tuned: equal to its checkpoint at first, trained but for its wordpieces."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from numpy.testing import assert_allclose, assert_array_equal
from spacy.tokens import Doc
from thinc.api import Adam, fix_random_seed, set_dropout_rate

from spacy_biaffine.encoders.tuned_transformer import CASES, TunedTransformer, case_of
from spacy_biaffine.models.torch_layer import module_of

transformers = pytest.importorskip("transformers", reason="transformers is not installed")

from tiny_bert import DEPTH, HIDDEN, SAVE  # noqa: E402 (needs transformers)

VOCAB = spacy.blank("en").vocab


def docs_of(*texts: str) -> list[Doc]:
    return [Doc(VOCAB, words=text.split(" ")) for text in texts]


DOCS = docs_of("the man fell .", "rain", "a b c d", "x " * 70 + "y")


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    torch.manual_seed(0)
    found = {}
    for kind, save in SAVE.items():
        found[kind] = tmp_path_factory.mktemp(kind)
        save(found[kind])
    return found


def encoder(folder: Path, **settings):
    fix_random_seed(0)
    model = TunedTransformer(str(folder), window=16, stride=10, **settings)
    model.initialize(X=DOCS[:1])
    return model


@pytest.mark.parametrize("kind", sorted(SAVE))
@pytest.mark.parametrize("layers", [1, None])
def test_it_starts_as_its_checkpoint(folders, kind, layers):
    model = encoder(folders[kind], layers=layers, reads_case=False)
    reference = transformers.AutoModel.from_pretrained(folders[kind]).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders[kind], add_prefix_space=True)
    (found,) = model.predict(DOCS[:1])
    inputs = tokenizer(
        [token.text for token in DOCS[0]], is_split_into_words=True, return_tensors="pt"
    )
    with torch.no_grad():
        states = reference(**inputs, output_hidden_states=True).hidden_states
    words = inputs.word_ids()
    first = [words.index(word) for word in range(len(DOCS[0]))]
    assert_allclose(found, states[layers or DEPTH][0][first].numpy(), rtol=1e-4, atol=1e-5)


def test_one_doc_is_as_many(folders):
    model = encoder(folders["bert"])
    together = model.predict(DOCS)
    assert [vectors.shape for vectors in together] == [(len(doc), HIDDEN) for doc in DOCS]
    for doc, vectors in zip(DOCS, together, strict=True):
        assert_allclose(model.predict([doc])[0], vectors, rtol=1e-4, atol=1e-5)


def test_sentences_on_a_doc_change_nothing(folders):
    model = encoder(folders["bert"])
    words = ["the", "man", "fell", "rain", "fell"]
    marked = Doc(VOCAB, words=words, sent_starts=[True, False, False, True, False])
    assert_array_equal(model.predict([marked])[0], model.predict([Doc(VOCAB, words=words)])[0])


def test_nothing_to_read(folders):
    model = encoder(folders["bert"])
    docs = [Doc(VOCAB), Doc(VOCAB, words=["\u200d", " "])]
    empty, blank = model.predict(docs)
    assert empty.shape == (0, HIDDEN)
    assert_array_equal(blank, np.zeros((2, HIDDEN)))
    vectors, backprop = model.begin_update(docs)
    assert backprop(vectors) == []


def test_case_is_read_where_asked(folders):
    model = encoder(folders["bert"], reads_case=True)
    lower, upper = docs_of("the man", "THE Man")
    assert not np.allclose(model.predict([lower])[0], model.predict([upper])[0])
    model = encoder(folders["bert"], reads_case=False)
    assert_array_equal(model.predict([lower])[0], model.predict([upper])[0])


@pytest.mark.parametrize(
    ("word", "case"),
    [
        ("rain", "lower"),
        ("été", "lower"),
        ("Rain", "Capitalized"),
        ("A", "Capitalized"),
        ("USA", "UPPER"),
        ("iPod", "miXed"),
        ("1,000", "digits"),
        ("B2B", "w1th digits"),
        ("...", "other"),
        ("don't", "other"),
        ("雨", "miXed"),
    ],
)
def test_cases(word, case):
    assert CASES[case_of(word) - 1] == case


def test_all_but_the_wordpieces_are_trained(folders):
    model = encoder(folders["bert"])
    module = module_of(model.get_ref("network"))
    before = {name: weights.clone() for name, weights in module.state_dict().items()}
    pieces = model.shims[0].table.clone()
    set_dropout_rate(model, 0.1)
    vectors, backprop = model.begin_update(DOCS)
    backprop([np.ones_like(each) for each in vectors])
    model.finish_update(Adam(0.01))
    moved = {name for name, w in module.state_dict().items() if not torch.equal(w, before[name])}
    # Positions beyond the window, and the key's bias, which changes all scores of a row alike,
    # have no gradient.
    still = set(before) - moved
    assert all(name.endswith("attention.key.bias") for name in still)
    assert "cases.embedding.weight" in moved
    assert torch.equal(model.shims[0].table, pieces)


def test_gradient_of_a_vector(folders):
    """Against finite differences, at some weights."""
    model = encoder(folders["bert"])
    weight = module_of(model.get_ref("network")).pretrained.transformer.layers[0].feed_in.weight
    vectors, backprop = model.begin_update(DOCS[:2])
    factors = [np.random.default_rng(0).normal(size=v.shape).astype("f") for v in vectors]
    backprop(factors)

    def value() -> float:
        found = model.predict(DOCS[:2])
        return sum(float((v * f).sum()) for v, f in zip(found, factors, strict=True))

    step = 1e-2
    for place in [(0, 0), (5, 3)]:
        slope = weight.grad[place].item()
        with torch.no_grad():
            weight[place] += step
            above = value()
            weight[place] -= 2 * step
            below = value()
            weight[place] += step
        assert slope == pytest.approx((above - below) / (2 * step), rel=0.05, abs=1e-3)


def test_saved_with_its_wordpieces(folders, tmp_path):
    folder = tmp_path / "moved"
    folder.mkdir()
    SAVE["bert"](folder)
    model = encoder(folder)
    expected = model.predict(DOCS)
    data = model.to_bytes()
    for file in folder.iterdir():
        file.unlink()
    loaded = TunedTransformer(str(folder), window=16, stride=10).from_bytes(data)
    for found, wanted in zip(loaded.predict(DOCS), expected, strict=True):
        assert_array_equal(found, wanted)


@pytest.fixture()
def package(folders, tmp_path, monkeypatch) -> Path:
    """A checkpoint inside an importable package."""
    root = tmp_path / "tiny_encoder_package"
    (root / "model").mkdir(parents=True)
    (root / "__init__.py").write_text("", encoding="utf-8")
    for file in folders["bert"].iterdir():
        (root / "model" / file.name).write_bytes(file.read_bytes())
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield root
    sys.modules.pop("tiny_encoder_package", None)


def test_wordpieces_of_a_package_stay_there(folders, package):
    name = "package:tiny_encoder_package/model"
    model = TunedTransformer(name, window=16, stride=10)
    model.initialize(X=DOCS[:1])
    data = model.to_bytes()
    assert len(data) < len(encoder(folders["bert"]).to_bytes())
    loaded = TunedTransformer(name, window=16, stride=10).from_bytes(data)
    for found, wanted in zip(loaded.predict(DOCS), model.predict(DOCS), strict=True):
        assert_array_equal(found, wanted)


def test_a_package_that_has_changed_is_refused(package):
    name = "package:tiny_encoder_package/model"
    model = TunedTransformer(name, window=16, stride=10)
    model.initialize(X=DOCS[:1])
    data = model.to_bytes()
    torch.manual_seed(5)
    SAVE["bert"](package / "model")
    with pytest.raises(ValueError, match="other wordpieces"):
        TunedTransformer(name, window=16, stride=10).from_bytes(data)
    (package / "model" / "model.safetensors").unlink()
    with pytest.raises(OSError, match=r"no model\.safetensors"):
        TunedTransformer(name, window=16, stride=10).from_bytes(data)


def test_errors(folders):
    with pytest.raises(ValueError, match="layers must be 1"):
        TunedTransformer("x", layers=0)
    with pytest.raises(ValueError, match="window"):
        TunedTransformer("x", window=8)
    with pytest.raises(ValueError, match="stride"):
        TunedTransformer("x", stride=0)
    with pytest.raises(ValueError, match="no weights yet"):
        TunedTransformer(str(folders["bert"])).predict(DOCS)
