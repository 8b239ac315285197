"""CharWordBiLSTM: an encoder that learns words and spellings from the training data alone."""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import cast

import numpy as np
import torch
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Model, torch2xp, xp2torch
from thinc.types import Floats2d
from thinc.util import get_array_module
from torch import Tensor

from ..models.lazy_shim import LazyShim
from ..models.torch_layer import build_module, set_module_dropout
from ..nn.char_word import UNKNOWN, CharWordEncoder, Spellings, WordBatch

NAME = "char_word_bilstm"

DIGIT = re.compile(r"\d")

MAX_CHARS = 40
"""Longest spelling that is read; of a longer word the beginning and the end are."""

GROUP = 1024
"""Most words that the character BiLSTM reads at once; they are sorted by length."""


def CharWordBiLSTM(  # noqa: N802 (spaCy names architectures like classes)
    word_size: int = 100, char_size: int = 30, char_hidden: int = 25
) -> Model[list[Doc], list[Floats2d]]:
    """Word embedding and character BiLSTM of "Hierarchically-Refined Label Attention Network for
    Sequence Labeling", Section 3.1. One vector of word_size + 2 char_hidden per token.

    Words are known lower-cased and with all digits as 0, characters as they are, but for digits.
    Both are learned from the training data when the pipeline is initialized, and are saved with
    the weights. Words and characters seen once are taken for unknown in half of their training
    steps, so that unknown ones have learned weights. Where the vocab has vectors, a learned
    projection of them is added to the word embedding; they are not trained.

    A component of this package shows its encoder all training words. To an encoder that is shared
    through `tok2vec` and listeners, spaCy shows ten Docs: give it the rest by the callback
    `spacy-biaffine.LearnWords.v1` in [initialize.before_init].

    word_size: width of the word embedding.
    char_size: width of the character embedding.
    char_hidden: width of the character BiLSTM per direction (the paper's 50 are two times 25).
    """
    build = partial(
        CharWordEncoder, word_size=word_size, char_size=char_size, char_hidden=char_hidden
    )
    return Model(
        NAME,
        forward,
        init=init,
        dims={"nO": word_size + 2 * char_hidden},
        shims=[CharWordShim(build, mixed_precision=False)],
        attrs={"dropout_rate": 0.0},
    )


def LearnWords(  # noqa: N802 (the same)
    corpus: Callable[[Language], Iterable[Example]],
) -> Callable[[Language], Language]:
    """A callback for [initialize.before_init] that shows all words of a corpus to every encoder.

    corpus: a corpus reader, as a rule ${corpora.train}.
    """

    def show(nlp: Language) -> Language:
        for _, pipe in nlp.pipeline:
            model = getattr(pipe, "model", None)
            if isinstance(model, Model):
                show_words(model, lambda: (example.predicted for example in corpus(nlp)))
        return nlp

    return show


class CharWordShim(LazyShim):
    """Also keeps the words that it was shown before the encoder is made."""

    shown: Counter[str] | None = None


def show_words(model: Model, docs: Callable[[], Iterable[Doc]]) -> None:
    """Show every CharWordBiLSTM within a model the words of Docs, before it is initialized."""
    encoders = [node for node in model.walk() if node.name == NAME]
    if encoders:
        words = count_words(docs())
        for encoder in encoders:
            _shim(encoder).shown = words


def count_words(docs: Iterable[Doc]) -> Counter[str]:
    """How often each word occurs, as it is spelled."""
    words: Counter[str] = Counter()
    for doc in docs:
        words.update(token.text for token in doc)
    return words


def init(model: Model, X: list[Doc] | None = None, Y: object = None) -> None:
    """Make the encoder. Without a sample X the weights come from bytes, later."""
    shim = _shim(model)
    if X is None:
        return
    if shim.shown is None:
        shim.shown = count_words(X)
        warnings.warn(
            f"CharWordBiLSTM has been shown {len(X)} Docs, and knows the words of no others. To "
            f"share it by listeners, add the callback spacy-biaffine.LearnWords.v1 as "
            f"[initialize.before_init], with corpus = ${{corpora.train}}.",
            stacklevel=2,
        )
    words: Counter[str] = Counter()
    chars: Counter[str] = Counter()
    for text, count in shim.shown.items():
        words[fold(text).lower()] += count
        chars.update(fold(text))
    shim.shown = None
    known_words, rare_word = _by_frequency(words)
    known_chars, rare_char = _by_frequency(chars)
    build_module(
        model,
        words=known_words,
        rare_word=rare_word,
        chars="".join(known_chars),
        rare_char=rare_char,
        vectors=X[0].vocab.vectors_length,
    )


def fold(text: str) -> str:
    """All digits as 0."""
    return DIGIT.sub("0", text)


def _by_frequency(counts: Counter[str]) -> tuple[list[str], int]:
    """Keys from the most to the least frequent, and the number of the first that occurs once."""
    keys = sorted(counts, key=lambda key: (-counts[key], key))
    return keys, UNKNOWN + 1 + sum(count > 1 for count in counts.values())


def forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable[[list[Floats2d]], list[Doc]]]:
    shim = _shim(model)
    encoder = cast(CharWordEncoder, shim.module)
    lengths = model.ops.asarray1i([len(doc) for doc in docs])
    if not any(len(doc) for doc in docs):
        nothing = model.ops.alloc2f(0, model.get_dim("nO"))
        return [nothing for _ in docs], lambda gradients: []
    batch = word_batch(encoder, docs, shim.device)
    if not is_train:
        (vectors,) = shim.predict_batches([batch], {})
        return model.ops.unflatten(_floats(vectors), lengths), lambda gradients: []
    set_module_dropout(encoder, model.attrs["dropout_rate"])
    scores = shim.score_batches([batch])

    def backprop(gradients: list[Floats2d]) -> list[Doc]:
        gradient = xp2torch(model.ops.flatten(gradients), device=shim.device)
        no_input = torch.zeros(0, device=shim.device, requires_grad=True)
        shim.backpropagate(no_input, scores, [(gradient,)])
        return []

    return model.ops.unflatten(_floats(scores[0][0]), lengths), backprop


def _floats(vectors: Tensor) -> Floats2d:
    return cast(Floats2d, torch2xp(vectors.detach()))


def word_batch(encoder: CharWordEncoder, docs: list[Doc], device: torch.device) -> WordBatch:
    """Look up the words of Docs, each once. The shortest words come first."""
    orths, tokens = np.unique(
        np.concatenate([doc.to_array([ORTH]).reshape(-1) for doc in docs]), return_inverse=True
    )
    vocab = docs[0].vocab
    texts = [vocab.strings[int(orth)] for orth in orths]
    order = sorted(range(len(texts)), key=lambda word: len(texts[word]))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    texts = [texts[word] for word in order]
    folded = [fold(text) for text in texts]
    numbers = [encoder.numbers.get(text.lower(), UNKNOWN) for text in folded]
    return WordBatch(
        words=torch.tensor(numbers, device=device),
        spellings=[_move(group, device) for group in _spellings(encoder, folded)],
        vectors=_static_vectors(encoder, vocab, texts, device),
        tokens=torch.from_numpy(place[tokens]).to(device),
    )


def _spellings(encoder: CharWordEncoder, words: list[str]) -> Iterator[Spellings]:
    """Words, sorted by length, as padded groups of character numbers."""
    half = MAX_CHARS // 2
    cut = [word if len(word) <= MAX_CHARS else word[:half] + word[-half:] for word in words]
    for start in range(0, len(cut), GROUP):
        group = cut[start : start + GROUP]
        lengths = torch.tensor([len(word) for word in group])
        mask = torch.arange(int(lengths.max()))[None, :] < lengths[:, None]
        chars = torch.full(mask.shape, UNKNOWN, dtype=torch.int64)
        chars[mask] = torch.from_numpy(encoder.char_numbers("".join(group)))
        yield Spellings(chars, lengths)


def _move(group: Spellings, device: torch.device) -> Spellings:
    return Spellings(group.chars.to(device), group.lengths.to(device))


def _static_vectors(
    encoder: CharWordEncoder, vocab: Vocab, words: list[str], device: torch.device
) -> Tensor | None:
    """(U, V) vectors of the vocab, of a word that has none that of its lower-cased form."""
    if encoder.static is None:
        return None
    width = encoder.static.in_features
    if vocab.vectors_length != width:
        raise ValueError(
            f"CharWordBiLSTM was trained with vectors of width {width}; the vocab has vectors of "
            f"width {vocab.vectors_length}. Load the pipeline with the vectors it was saved with."
        )
    rows = [vocab.get_vector(w if vocab.has_vector(w) else w.lower()) for w in words]
    return xp2torch(get_array_module(rows[0]).stack(rows), device=device)


def _shim(model: Model) -> CharWordShim:
    return cast(CharWordShim, model.shims[0])
