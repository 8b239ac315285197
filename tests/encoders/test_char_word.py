"""The encoder of words and characters: what it learns, what is unknown to it, how it is kept."""

import math
import pickle
import warnings

import numpy as np
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam, Model, fix_random_seed, set_dropout_rate

from spacy_biaffine.encoders.char_word import (
    GROUP,
    MAX_CHARS,
    CharWordBiLSTM,
    LearnWords,
    count_words,
    show_words,
    word_batch,
)
from spacy_biaffine.nn.char_word import REPLACED, UNKNOWN, CharWordEncoder

SIZES = {"word_size": 6, "char_size": 4, "char_hidden": 3}
WIDTH = 12


@pytest.fixture
def vocab():
    return spacy.blank("en").vocab


def docs_of(vocab, *texts: str) -> list[Doc]:
    return [Doc(vocab, words=text.split()) for text in texts]


def make(docs: list[Doc], **sizes: int) -> Model:
    fix_random_seed(0)
    model = CharWordBiLSTM(**{**SIZES, **sizes})
    show_words(model, lambda: docs)
    model.initialize(X=docs[:1])
    return model


def module(model: Model) -> CharWordEncoder:
    return model.shims[0].module


def test_one_vector_per_token(vocab):
    docs = docs_of(vocab, "rain fell", "", "us")
    model = make(docs)
    vectors = model.predict(docs)
    assert [v.shape for v in vectors] == [(2, WIDTH), (0, WIDTH), (1, WIDTH)]
    assert model.get_dim("nO") == WIDTH
    assert model.predict([]) == []
    assert [v.shape for v in model.predict(docs_of(vocab, "", ""))] == [(0, WIDTH), (0, WIDTH)]


def test_paper_sizes_are_the_defaults(vocab):
    docs = docs_of(vocab, "rain")
    fix_random_seed(0)
    model = CharWordBiLSTM()
    show_words(model, lambda: docs)
    model.initialize(X=docs)
    encoder = module(model)
    assert encoder.words.embedding_dim == 100
    assert encoder.chars.embedding_dim == 30
    assert encoder.lstm.ahead.hidden_size == encoder.lstm.back.hidden_size == 25
    assert model.predict(docs)[0].shape == (1, 150)


def test_words_are_folded_and_characters_keep_their_case(vocab):
    docs = docs_of(vocab, "Rain rain RAIN 1999 2024 x7 x8 rare")
    encoder = module(make(docs))
    assert sorted(encoder.numbers) == ["0000", "rain", "rare", "x0"]
    assert encoder.numbers["rain"] == 1
    assert encoder.rare_word == encoder.numbers["rare"] == 4
    assert {"R", "r", "0"} < {c for c in "RAINrain0x" if encoder.char_numbers(c)[0] != UNKNOWN}
    assert encoder.char_numbers("9é").tolist() == [UNKNOWN, UNKNOWN]
    assert encoder.char_numbers("").tolist() == []
    assert len(set(encoder.char_numbers("RAINrain0xe"))) == len("RAINrain0xe")


def test_vectors_follow_the_equation(vocab):
    """[e^w; h_m; h_1], word by word and character by character."""
    docs = docs_of(vocab, "Rain fell on rainy 77", "us Rain")
    model = make(docs)
    encoder = module(model)
    cells = {}
    for name, lstm in (("ahead", encoder.lstm.ahead), ("back", encoder.lstm.back)):
        cells[name] = torch.nn.LSTMCell(lstm.input_size, lstm.hidden_size)
        with torch.no_grad():
            for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(cells[name], key).copy_(getattr(lstm, f"{key}_l0"))
    for doc, vectors in zip(docs, model.predict(docs), strict=True):
        for token, vector in zip(doc, vectors, strict=True):
            text = token.text.replace("7", "0")
            states = {}
            for name, order in (("ahead", text), ("back", text[::-1])):
                state = None
                for number in encoder.char_numbers(order):
                    state = cells[name](encoder.chars.weight[number][None], state)
                states[name] = state[0][0]
            word = encoder.words.weight[encoder.numbers[text.lower()]]
            expected = torch.cat([word, states["ahead"], states["back"]])
            np.testing.assert_allclose(vector, expected.detach().numpy(), atol=1e-6)


def test_a_word_does_not_depend_on_its_batch(vocab):
    docs = docs_of(vocab, "rain fell", "a " + "z" * 30 + " letter", "us all")
    model = make(docs)
    batched = model.predict(docs)
    for doc, vectors in zip(docs, batched, strict=True):
        np.testing.assert_allclose(model.predict([doc])[0], vectors, atol=1e-6)


def test_groups_of_words_change_nothing(vocab, monkeypatch):
    docs = docs_of(vocab, "rain fell on us all", "letters came")
    model = make(docs)
    before = model.predict(docs)
    assert GROUP > 7
    monkeypatch.setattr("spacy_biaffine.encoders.char_word.GROUP", 2)
    for vectors, expected in zip(model.predict(docs), before, strict=True):
        np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_equal_words_are_read_once(vocab):
    docs = docs_of(vocab, "us us us all", "all us")
    model = make(docs)
    batch = word_batch(module(model), docs, torch.device("cpu"))
    assert len(batch.words) == sum(len(group.lengths) for group in batch.spellings) == 2
    assert batch.tokens.tolist() == [0, 0, 0, 1, 1, 0]


def test_of_a_very_long_word_both_ends_are_read(vocab):
    long = "ab" * 5000
    docs = docs_of(vocab, f"{long} {long}x {'x' + long[1:]}")
    model = make(docs)
    batch = word_batch(module(model), docs, torch.device("cpu"))
    assert batch.spellings[0].chars.shape == (3, MAX_CHARS)
    first, second, third = model.predict(docs)[0][:, 6:]
    assert not np.allclose(first, second)
    assert not np.allclose(first, third)


@pytest.mark.parametrize("text", ["\u200b", "\x00", "\U0010ffff", "e\u0301", "\ud7ff", " "])
def test_hostile_words(vocab, text):
    model = make(docs_of(vocab, "rain fell"))
    (vectors,) = model.predict([Doc(vocab, words=[text, "rain"])])
    assert np.isfinite(vectors).all()


# Unknown words and characters


def test_only_rare_words_become_unknown_and_only_in_training(vocab):
    docs = docs_of(vocab, "often often " + " ".join(f"w{chr(97 + n)}" for n in range(26)))
    encoder = module(make(docs))
    numbers = torch.arange(1, len(encoder.numbers) + 1).repeat(200)
    forgotten = encoder.train()._forget(numbers, encoder.rare_word)
    rare = numbers >= encoder.rare_word
    assert (forgotten[~rare] == numbers[~rare]).all()
    share = (forgotten[rare] == UNKNOWN).float().mean().item()
    assert math.isclose(share, REPLACED, abs_tol=0.05)
    assert (encoder.eval()._forget(numbers, encoder.rare_word) == numbers).all()


def test_unknown_words_and_characters_learn(vocab):
    docs = docs_of(vocab, "rain rain fell", "us us all")
    model = make(docs)
    encoder = module(model)
    before = encoder.words.weight[UNKNOWN].clone(), encoder.chars.weight[UNKNOWN].clone()
    for _ in range(5):
        vectors, backprop = model.begin_update(docs)
        backprop(vectors)
        model.finish_update(Adam(0.1))
    assert not torch.equal(encoder.words.weight[UNKNOWN], before[0])
    assert not torch.equal(encoder.chars.weight[UNKNOWN], before[1])
    (new,) = model.predict(docs_of(vocab, "zzz"))
    np.testing.assert_allclose(new[0, :6], encoder.words.weight[UNKNOWN].detach().numpy())


def test_gradient_reaches_every_weight_and_dropout_is_set(vocab):
    docs = docs_of(vocab, "rain rain fell fell", "us us")
    model = make(docs)
    set_dropout_rate(model, 0.5)
    vectors, backprop = model.begin_update(docs)
    assert (vectors[0] == 0).any()
    backprop([np.ones_like(v) for v in vectors])
    gradients = [weight.grad for weight in module(model).parameters()]
    assert all(gradient is not None and gradient.abs().sum() > 0 for gradient in gradients)


# Which words it knows


def test_a_sample_alone_is_warned_about(vocab):
    docs = docs_of(vocab, "rain fell")
    model = CharWordBiLSTM(**SIZES)
    with pytest.warns(UserWarning, match=r"shown 1 Docs.*spacy-biaffine\.LearnWords\.v1"):
        model.initialize(X=docs)
    assert "rain" in module(model).numbers


def test_initialize_again_learns_anew(vocab):
    model = make(docs_of(vocab, "rain fell"))
    docs = docs_of(vocab, "us all")
    show_words(model, lambda: docs)
    model.initialize(X=docs)
    assert sorted(module(model).numbers) == ["all", "us"]


def examples_of(docs: list[Doc]) -> list[Example]:
    return [Example(doc, doc) for doc in docs]


def test_component_shows_all_training_words():
    nlp = spacy.blank("en")
    parser = nlp.add_pipe(
        "norm_biaffine_parser",
        config={
            "model": {"tok2vec": {"@architectures": "spacy-biaffine.CharWordBiLSTM.v1", **SIZES}}
        },
    )
    docs = [
        Doc(nlp.vocab, words=[f"word{chr(97 + n)}"], heads=[0], deps=["ROOT"]) for n in range(26)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: examples_of(docs))
    assert len(module(parser.model.get_ref("tok2vec")).numbers) == 26


def test_shared_encoder_learns_from_the_callback(tmp_path):
    nlp = spacy.blank("en")
    encoder = {"@architectures": "spacy-biaffine.CharWordBiLSTM.v1", **SIZES}
    nlp.add_pipe("tok2vec", config={"model": encoder})
    docs = docs_of(nlp.vocab, *(f"word{chr(97 + n)}" for n in range(26)))
    nlp.config["initialize"]["before_init"] = {
        "@callbacks": "spacy-biaffine.LearnWords.v1",
        "corpus": {"@readers": "spacy-biaffine.GivenCorpus.v1", "path": str(tmp_path / "t.spacy")},
    }
    spacy.tokens.DocBin(docs=docs).to_disk(tmp_path / "t.spacy")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp.initialize(lambda: examples_of(docs))
    assert len(module(nlp.get_pipe("tok2vec").model).numbers) == 26


def test_callback_passes_over_what_has_no_model():
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    assert LearnWords(lambda nlp: [])(nlp) is nlp


def test_counts():
    vocab = spacy.blank("en").vocab
    assert count_words(docs_of(vocab, "a A a", "b")) == {"a": 2, "A": 1, "b": 1}


# Vectors of the vocab


def with_vectors(width: int = 5):
    nlp = spacy.blank("en")
    for number, word in enumerate(("rain", "snow", "Us")):
        nlp.vocab.set_vector(word, np.eye(width, dtype="f")[number])
    return nlp.vocab


def test_vectors_of_the_vocab_are_projected():
    vocab = with_vectors()
    docs = docs_of(vocab, "rain Rain snow Us us other")
    model = make(docs)
    encoder = module(model)
    table = vocab.vectors.data.copy()
    rows = [0, 0, 1, 2, None, None]
    vectors = model.predict(docs)[0][:, :6]
    for token, vector, row in zip(docs[0], vectors, rows, strict=True):
        expected = encoder.words.weight[encoder.numbers[token.lower_]]
        if row is not None:
            expected = expected + encoder.static.weight[:, row]
        np.testing.assert_allclose(vector, expected.detach().numpy(), atol=1e-6)
    out, backprop = model.begin_update(docs)
    backprop(out)
    model.finish_update(Adam(0.1))
    np.testing.assert_array_equal(vocab.vectors.data, table)


def test_a_word_outside_training_has_its_vector():
    vocab = with_vectors()
    model = make(docs_of(vocab, "rain other"))
    snow, sleet = model.predict(docs_of(vocab, "snow", "sleet"))
    assert not np.allclose(snow[0, :6], sleet[0, :6])


def test_vectors_of_another_width_are_a_clear_error():
    model = make(docs_of(with_vectors(5), "rain"))
    with pytest.raises(ValueError, match="vectors of width 5; the vocab has vectors of width 4"):
        model.predict(docs_of(with_vectors(4), "rain"))


# Saving


@pytest.mark.parametrize("new_vocab", [spacy.blank("en").vocab, with_vectors()])
def test_saved_with_its_words(new_vocab):
    docs = docs_of(new_vocab, "rain fell", "Us 19")
    model = make(docs)
    fresh = CharWordBiLSTM(**SIZES)
    fresh.initialize()
    fresh.from_bytes(model.to_bytes())
    for other in (fresh, model.copy(), pickle.loads(pickle.dumps(model))):
        for mine, theirs in zip(model.predict(docs), other.predict(docs), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert module(other).numbers == module(model).numbers


def test_before_initialize_the_error_says_what_to_do(vocab):
    with pytest.raises(ValueError, match="no weights yet"):
        CharWordBiLSTM(**SIZES).predict(docs_of(vocab, "rain"))


def test_device(vocab, device):
    """Every tensor is where the weights are."""
    docs = docs_of(vocab, "rain fell", "us")
    encoder = module(make(docs)).to(device)
    vectors = encoder.predict(word_batch(encoder, docs, device))
    assert vectors.device.type == device.type
    assert vectors.shape == (3, WIDTH)
