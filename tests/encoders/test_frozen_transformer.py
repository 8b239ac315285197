"""The frozen encoder, against a slow reference, on tiny encoders built here."""

import pickle
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import spacy
import torch
from numpy.testing import assert_allclose, assert_array_equal
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Adam, Model, chain, list2array

from spacy_biaffine.encoders import frozen_encoder
from spacy_biaffine.encoders.frozen_transformer import FrozenTransformer
from spacy_biaffine.encoders.int8 import int8_copy

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

HIDDEN, DEPTH, POSITIONS = 16, 3, 40
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,'[]"
VOCAB = Vocab()
TEXTS = [
    ["the", "man", "saw", "a", "dog", "."],
    ["a", "\u200d", "b"],
    ["\u200b"],
    ["\u2764", "\ufe0f", "a"],
    ["\U0001f468\u200d\U0001f469\u200d\U0001f467", "x"],
    ["\x00", "x"],
    ["e\u0301te\u0301", "cafe\u0301"],
    ["a", " ", "\n\n", "b", "\u3000"],
    [" "],
    [],
    ["[SEP]", "<s>", "[CLS]", "x"],
    ["New York", "x"],
]
LONG = [*(("w" + str(i)) for i in range(50)), "y" * 60, "\u200d", "z"]


def _save_bert(folder: Path) -> None:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocab = [*special, *LETTERS, *(f"##{letter}" for letter in LETTERS), "the", "man"]
    (folder / "vocab.txt").write_text("\n".join(vocab), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(**_sizes(len(vocab)))
    transformers.BertModel(config).save_pretrained(folder)


def _save_roberta(folder: Path) -> None:
    bpe = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator(["the man saw a dog"] * 4, vocab_size=300, special_tokens=special)
    bpe.save_model(str(folder))
    tokenizer = transformers.RobertaTokenizerFast.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    config = transformers.RobertaConfig(
        **_sizes(bpe.get_vocab_size()), pad_token_id=1, bos_token_id=0, eos_token_id=2
    )
    transformers.RobertaModel(config).save_pretrained(folder)


def _save_mpnet(folder: Path) -> None:
    special = ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"]
    vocab = [*special, *LETTERS, *(f"##{letter}" for letter in LETTERS), "the", "man"]
    (folder / "vocab.txt").write_text("\n".join(vocab), encoding="utf-8")
    transformers.MPNetTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.MPNetConfig(**_sizes(len(vocab)), pad_token_id=1)
    transformers.MPNetModel(config).save_pretrained(folder)


def _sizes(vocab_size: int) -> dict[str, int]:
    return {
        "vocab_size": vocab_size,
        "hidden_size": HIDDEN,
        "num_hidden_layers": DEPTH,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.3,  # large enough for the layers to differ
    }


SAVE = {"bert": _save_bert, "roberta": _save_roberta, "mpnet": _save_mpnet}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    torch.manual_seed(0)
    found = {}
    for kind, save in SAVE.items():
        found[kind] = tmp_path_factory.mktemp(kind)
        save(found[kind])
    return found


@pytest.fixture(params=list(SAVE))
def folder(request, folders) -> Path:
    return folders[request.param]


@pytest.fixture
def bert(folders) -> Path:
    return folders["bert"]


@pytest.fixture
def encoder_runs(monkeypatch) -> list[int]:
    """One number per forward pass of an encoder: how many windows it read."""
    runs: list[int] = []
    hidden = frozen_encoder.FrozenEncoder._hidden

    def counted(self, ids, *args):
        runs.append(len(ids))
        return hidden(self, ids, *args)

    monkeypatch.setattr(frozen_encoder.FrozenEncoder, "_hidden", counted)
    return runs


def _docs(texts: list[list[str]]) -> list[Doc]:
    return [Doc(VOCAB, words=words) for words in texts]


def _model(folder: Path, layers: list[int], **settings) -> Model:
    settings = {"window": 32, "stride": 20, **settings}
    model = FrozenTransformer(str(folder), layers, **settings)
    model.initialize(X=_docs(TEXTS[:1]))
    return model


@lru_cache
def _load_whole(folder: Path) -> tuple:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    return tokenizer, transformers.AutoModel.from_pretrained(folder).eval()


def _encode_alone(tokenizer, word: str) -> list[int]:
    if not word.strip():
        return []
    return tokenizer.encode(word, add_special_tokens=False, split_special_tokens=True)


def _reference(folder: Path, words: list[str], layers: list[int]) -> np.ndarray:
    """Slow and plain: every word tokenized alone, one text read by the whole model, one mean."""
    tokenizer, model = _load_whole(folder)
    ids, places = [tokenizer.cls_token_id], []
    for word in words:
        pieces = _encode_alone(tokenizer, word)
        places.append(range(len(ids), len(ids) + len(pieces)))
        ids.extend(pieces)
    ids.append(tokenizer.sep_token_id)
    with torch.no_grad():
        states = model(torch.tensor([ids]), output_hidden_states=True).hidden_states
    rows = [[states[layer][0, i].numpy() for i in place] for layer in layers for place in places]
    zero = np.zeros(HIDDEN, dtype="float32")
    means = np.array([np.mean(row, axis=0) if row else zero for row in rows], dtype="float32")
    return means.reshape(len(layers), len(words), HIDDEN).mean(axis=0)


@pytest.mark.parametrize("layers", [[0], [2], [-1], [1, 3], [-2, 0]])
def test_word_vectors_equal_the_reference(folder, layers):
    model = _model(folder, layers)
    assert model.get_dim("nO") == HIDDEN
    for words, vectors in zip(TEXTS, model.predict(_docs(TEXTS)), strict=True):
        assert vectors.shape == (len(words), HIDDEN)
        assert vectors.dtype == "float32"
        assert_allclose(vectors, _reference(folder, words, layers), atol=1e-5)


def test_words_without_pieces_are_zero_and_shift_nobody(bert):
    vectors = _model(bert, [2]).predict(_docs([["a", "\u200d", "b"], ["a", "b"], ["\u200b", " "]]))
    assert not vectors[0][1].any()
    assert_allclose(vectors[0][[0, 2]], vectors[1], atol=1e-6)
    assert_array_equal(vectors[2], np.zeros((2, HIDDEN)))


def test_batch_equals_single(folder):
    model = _model(folder, [1, 2], batch_size=64)
    docs = _docs([*TEXTS, LONG])
    for doc, vectors in zip(docs, model.predict(docs), strict=True):
        assert_allclose(vectors, model.predict([doc])[0], atol=1e-5)
        assert np.isfinite(vectors).all()


@pytest.mark.parametrize("learned_mix", [False, True])
def test_nothing_at_all(folder, learned_mix):
    model = _model(folder, [0, 2], learned_mix=learned_mix)
    for is_train in (False, True):
        vectors, backprop = model(_docs([[], []]), is_train=is_train)
        assert [v.shape for v in vectors] == [(0, HIDDEN), (0, HIDDEN)]
        assert backprop(vectors) == []
    assert model.predict([]) == []
    assert [v.shape for v in model.predict(_docs([[], [" "], []]))] == [
        (0, HIDDEN),
        (1, HIDDEN),
        (0, HIDDEN),
    ]


def test_long_text_is_read_in_windows(bert):
    """A word's vector is the one it has when its window is the whole text."""
    words = ["abcdefgh"[i % 8] for i in range(100)]
    model = _model(bert, [2], window=22, stride=10)
    (vectors,) = model.predict(_docs([words]))
    # windows of 20 words start at 0, 10, 20, ...; a word is best off in the one around its middle
    for start, first, last in ((0, 0, 15), (10, 15, 25), (40, 45, 55), (80, 85, 100)):
        (alone,) = model.predict(_docs([words[start : start + 20]]))
        assert_allclose(vectors[first:last], alone[first - start : last - start], atol=1e-5)


def test_window_never_exceeds_the_model(folder):
    model = _model(folder, [2], window=500, stride=400)
    (vectors,) = model.predict(_docs([["ab"] * 300]))
    assert np.isfinite(vectors).all()
    assert (np.abs(vectors).sum(axis=1) > 0).all()


def test_five_thousand_words(bert, encoder_runs):
    model = _model(bert, [1], batch_size=320)
    (vectors,) = model.predict(_docs([["man"] * 5000]))
    assert vectors.shape == (5000, HIDDEN)
    assert max(encoder_runs) <= 10


def test_word_of_ten_thousand_letters(folder):
    model = _model(folder, [2])
    (vectors,) = model.predict(_docs([["a", "ab" * 5000, "b"]]))
    assert np.isfinite(vectors).all()


def test_layers_above_the_highest_are_cut(bert):
    assert len(_model(bert, [0, 1]).to_bytes()) < len(_model(bert, [3]).to_bytes())
    shim = _model(bert, [-3, 0]).shims[0]
    assert shim.encoder.model.config.num_hidden_layers == 1


# Cache


@pytest.mark.parametrize("learned_mix", [False, True])
@pytest.mark.parametrize("on_disk", [False, True])
def test_cache_changes_nothing_and_saves_the_encoder(
    bert, tmp_path, encoder_runs, learned_mix, on_disk
):
    docs = _docs([*TEXTS, *TEXTS[:2], LONG])
    expected = _model(bert, [1, 2], learned_mix=learned_mix).predict(docs)
    cache = str(tmp_path / "cache") if on_disk else None
    model = _model(bert, [1, 2], learned_mix=learned_mix, cache=cache)
    first, _ = model.begin_update(docs)
    encoder_runs.clear()
    later = [model.begin_update(docs[:9])[0], model.predict(docs[:9])]
    assert encoder_runs == []
    for result in (first, *later):
        for vectors, right in zip(result, expected, strict=False):
            assert_allclose(vectors, right, atol=1e-5)


def test_results_do_not_alias_the_cache(bert):
    model = _model(bert, [1])
    docs = _docs(TEXTS[:1])
    ((vectors,), _) = model.begin_update(docs)
    before = vectors.copy()
    vectors[:] = 7
    ((again,), _) = model.begin_update(docs)
    again[:] = 7
    assert_allclose(model.predict(docs)[0], before)


def test_prediction_keeps_nothing(bert, tmp_path, encoder_runs):
    for cache in (None, str(tmp_path / "cache")):
        model = _model(bert, [1], cache=cache)
        encoder_runs.clear()
        model.predict(_docs(TEXTS[:1]))
        model.predict(_docs(TEXTS[:1]))
        assert encoder_runs == [1, 1]
    assert not (tmp_path / "cache").exists()


def test_loaded_pipeline_reads_the_cache_and_does_not_write(bert, tmp_path, encoder_runs):
    trained = _model(bert, [1], cache=str(tmp_path))
    trained.begin_update(_docs(TEXTS[:1]))
    files = sorted(tmp_path.rglob("*"))
    loaded = FrozenTransformer("nowhere", [1], cache=str(tmp_path), window=32, stride=20)
    loaded.from_bytes(trained.to_bytes())
    encoder_runs.clear()
    loaded.predict(_docs(TEXTS[:2]))
    assert encoder_runs == [1]  # TEXTS[1] alone
    assert sorted(tmp_path.rglob("*")) == files


def test_cache_keeps_settings_and_encoders_apart(bert, folders, tmp_path):
    settings = [
        (bert, [1], {}),
        (bert, [2], {}),
        (bert, [2], {"window": 30}),
        (bert, [2], {"stride": 19}),
        (bert, [1, 2], {}),
        (bert, [1, 2], {"learned_mix": True}),
        (bert, [1], {"int8": True}),
        (folders["mpnet"], [1], {}),
    ]
    for folder, layers, more in settings:
        cached = _model(folder, layers, cache=str(tmp_path), **more)
        plain = _model(folder, layers, **more)
        for _ in range(2):
            result, _ = cached.begin_update(_docs(TEXTS))
            for vectors, right in zip(result, plain.predict(_docs(TEXTS)), strict=True):
                assert_allclose(vectors, right, atol=1e-5)
    assert len(list(tmp_path.iterdir())) == len(settings)


# Eight bits


def test_int8_is_close_and_stays_when_saved(folder):
    exact, model = _model(folder, [1, 2]), _model(folder, [1, 2], int8=True)
    docs = _docs(TEXTS)
    vectors = np.concatenate(model.predict(docs))
    right = np.concatenate(exact.predict(docs))
    assert 0 < np.abs(vectors - right).max() < 0.1 * np.abs(right).max()
    loaded = FrozenTransformer("nowhere", [1, 2], window=32, stride=20, int8=True)
    loaded.initialize()
    loaded.from_bytes(model.to_bytes())
    assert_array_equal(np.concatenate(loaded.predict(docs)), vectors)
    assert model.to_bytes() == exact.to_bytes()  # with full precision


def test_int8_says_where_it_cannot_run(bert, monkeypatch):
    with pytest.raises(ValueError, match="not on meta"):
        int8_copy(torch.nn.Linear(2, 2, device="meta"))

    def refuse(*args, **kwargs):
        raise RuntimeError("no engine")

    monkeypatch.setattr(torch.ao.quantization, "quantize_dynamic", refuse)
    with pytest.raises(ValueError, match="no engine"):
        _model(bert, [1], int8=True).predict(_docs(TEXTS))


# Learned mix


def _set_mix(model: Model, weights: list[float], gamma: float) -> None:
    model.set_param("mix_weights", model.ops.asarray1f(weights))
    model.set_param("mix_gamma", model.ops.asarray1f([gamma]))


def test_mix_starts_as_the_mean(bert):
    docs = _docs(TEXTS)
    mean, mix = _model(bert, [0, 2, 3]), _model(bert, [0, 2, 3], learned_mix=True)
    for one, other in zip(mean.predict(docs), mix.predict(docs), strict=True):
        assert_allclose(one, other, atol=1e-5)


def test_mix_gradient_against_finite_differences(bert):
    docs = _docs(TEXTS)
    model = _model(bert, [0, 1, 3], learned_mix=True)
    weights, gamma = [0.3, -0.5, 1.1], 1.3
    _set_mix(model, weights, gamma)
    vectors, backprop = model.begin_update(docs)
    rng = np.random.default_rng(0)
    directions = [rng.normal(size=v.shape).astype("float32") for v in vectors]

    def loss(weights: list[float], gamma: float) -> float:
        _set_mix(model, weights, gamma)
        pairs = zip(model.predict(docs), directions, strict=True)
        return sum(float((v.astype("float64") * d).sum()) for v, d in pairs)

    assert backprop(directions) == []
    step = 1e-2
    slopes = []
    for i in range(3):
        up, down = list(weights), list(weights)
        up[i] += step
        down[i] -= step
        slopes.append((loss(up, gamma) - loss(down, gamma)) / (2 * step))
    assert_allclose(model.get_grad("mix_weights"), slopes, rtol=2e-3, atol=2e-3)
    slope = (loss(weights, gamma + step) - loss(weights, gamma - step)) / (2 * step)
    assert_allclose(model.get_grad("mix_gamma"), [slope], rtol=2e-3, atol=2e-3)


def test_mix_learns_which_layer(bert):
    docs = _docs(TEXTS)
    target = np.concatenate(_model(bert, [1]).predict(docs))
    model = chain(_model(bert, [0, 1, 3], learned_mix=True), list2array())
    optimizer = Adam(0.1)
    for _ in range(100):
        vectors, backprop = model.begin_update(docs)
        backprop(vectors - target)
        model.finish_update(optimizer)
    weights = model.layers[0].get_param("mix_weights")
    assert weights.argmax() == 1
    assert np.square(model.predict(docs) - target).mean() < 0.05 * np.square(target).mean()
    with model.use_params(optimizer.averages):
        assert not np.allclose(model.layers[0].get_param("mix_weights"), weights)


# Serialization


@pytest.mark.parametrize("learned_mix", [False, True])
def test_bytes_need_no_folder(folder, learned_mix):
    docs = _docs([*TEXTS, LONG])
    model = _model(folder, [1, -1], learned_mix=learned_mix)
    if learned_mix:
        _set_mix(model, [0.2, 0.9], 1.5)
    loaded = FrozenTransformer("no/such/folder", [1, -1], learned_mix, window=32, stride=20)
    loaded.initialize()  # as a component does before it loads: must not look for the folder
    loaded.from_bytes(model.to_bytes())
    assert loaded.get_dim("nO") == HIDDEN
    assert loaded.to_bytes() == model.to_bytes()
    for one, other in zip(loaded.predict(docs), model.predict(docs), strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("copy", [lambda m: pickle.loads(pickle.dumps(m)), Model.copy])
def test_copies(bert, copy, encoder_runs):
    docs = _docs(TEXTS)
    model = _model(bert, [0, 2], learned_mix=True)
    _set_mix(model, [0.2, 0.9], 1.5)
    expected, _ = model.begin_update(docs)
    copied = copy(model)
    encoder_runs.clear()
    for one, other in zip(copied.predict(docs), expected, strict=True):
        assert_allclose(one, other, atol=1e-6)
    assert encoder_runs  # the cache stayed behind


def test_untrained_model_survives_a_round_trip(bert):
    model = FrozenTransformer(str(bert), [1])
    loaded = FrozenTransformer(str(bert), [1]).from_bytes(model.to_bytes())
    loaded.initialize(X=_docs(TEXTS))
    assert len(loaded.predict(_docs(TEXTS))) == len(TEXTS)


# Errors


def test_errors_name_the_remedy(bert, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(OSError, match="package:PACKAGE/FOLDER"):
        _model(tmp_path / "empty", [1])
    with pytest.raises(OSError, match="not installed here"):
        _model("package:no_such_package/model", [1])
    with pytest.raises(ValueError, match=r"layers 0 \(embeddings\) to 3"):
        _model(bert, [4])
    with pytest.raises(ValueError, match="layers"):
        _model(bert, [])
    with pytest.raises(ValueError, match="stride"):
        FrozenTransformer(str(bert), [1], window=20, stride=20)
    with pytest.raises(ValueError, match="window"):
        FrozenTransformer(str(bert), [1], window=3, stride=2)
    with pytest.raises(ValueError, match=r"nlp\.initialize"):
        FrozenTransformer(str(bert), [1]).predict(_docs(TEXTS))


def test_weights_of_another_model_are_refused(bert, folders, tmp_path):
    for path in bert.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    other = (folders["mpnet"] / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(other)
    with pytest.raises((ValueError, RuntimeError)):
        _model(tmp_path, [1])


def test_folder_in_a_package(bert, monkeypatch, tmp_path):
    package = tmp_path / "weights_package"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text(
        "raise RuntimeError('finding a folder runs no code')", encoding="utf-8"
    )
    for path in bert.iterdir():
        (package / "model" / path.name).write_bytes(path.read_bytes())
    monkeypatch.syspath_prepend(tmp_path)
    model = _model("package:weights_package/model", [1])
    assert_allclose(model.predict(_docs(TEXTS))[0], _model(bert, [1]).predict(_docs(TEXTS))[0])


# In pipelines


def _config(folder: Path, learned_mix: bool) -> dict:
    return {
        "@architectures": "spacy-biaffine.FrozenTransformer.v1",
        "name": str(folder),
        "layers": [1, 2],
        "learned_mix": learned_mix,
    }


@pytest.mark.parametrize("shared", [False, True])
def test_under_a_tagger(bert, tmp_path, shared):
    """Through a listener, or directly: it trains, saves, loads and runs in two processes."""
    nlp = spacy.blank("en")
    encoder = _config(bert, learned_mix=True)
    if shared:
        nlp.add_pipe("tok2vec", config={"model": encoder})
        encoder = {"@architectures": "spacy.Tok2VecListener.v1", "width": HIDDEN}
    nlp.add_pipe(
        "tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": encoder}}
    )
    doc = Doc(nlp.vocab, words=["the", "man", "saw", "a", "dog"], tags=["D", "N", "V", "D", "N"])
    examples = [spacy.training.Example(nlp.make_doc(doc.text), doc)]
    optimizer = nlp.initialize(lambda: examples)
    first: dict[str, float] = {}
    nlp.update(examples, sgd=optimizer, losses=first)
    for _ in range(30):
        losses: dict[str, float] = {}
        nlp.update(examples, sgd=optimizer, losses=losses)
    assert losses["tagger"] < first["tagger"]
    frozen = next(n for n in nlp.get_pipe(nlp.pipe_names[0]).model.walk() if n.shims)
    assert frozen.get_param("mix_weights").any()
    nlp.to_disk(tmp_path / "pipeline")
    bert_away = bert.rename(bert.with_name("away"))
    try:
        loaded = spacy.load(tmp_path / "pipeline")
        expected = [token.tag_ for token in nlp(doc.text)]
        for parsed in loaded.pipe([doc.text] * 4, n_process=2, batch_size=2):
            assert [token.tag_ for token in parsed] == expected
    finally:
        bert_away.rename(bert)
