"""Where a Doc is cut: words, sentences, windows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc

from ..decode.sentences import cut_by_number, cut_overlong, overlapping, starts_on_words
from ..types import Ints


def words_of(docs: Sequence[Doc]) -> list[Ints]:
    """Per Doc, the numbers of its tokens that are not blank, counted over all Docs."""
    words, offset = [], 0
    for doc in docs:
        words.append(np.flatnonzero(doc.to_array([IS_SPACE]) == 0) + offset)
        offset += len(doc)
    return words


def sentences_of(docs: Sequence[Doc]) -> list[Ints]:
    """The sentences that are marked on Docs, without blank tokens; a Doc without marks is one.

    Each is the numbers of its tokens, counted over all Docs.
    """
    sentences, _ = cut_at_starts(words_of(docs), starts_of(docs))
    return [sentence for each in sentences for sentence in each]


def starts_of(docs: Sequence[Doc]) -> Ints:
    """(tokens,) 1 where a sentence starts, -1 where none does, 0 where a Doc does not say."""
    starts = [doc.to_array([SENT_START]).reshape(-1).astype(np.int64) for doc in docs]
    return np.concatenate([np.zeros(0, dtype=np.int64), *starts])


def cut_at_starts(words: Sequence[Ints], starts: Ints) -> tuple[list[list[Ints]], Ints]:
    """Per Doc its sentences, cut where starts, (tokens,), are 1; and the starts, where one on a
    blank token is one on the next word too. words: see `words_of`."""
    numbers, moved = np.cumsum(starts == 1), starts.copy()
    for each in words:
        moved[starts_on_words(each, numbers[each])] = 1
    return [cut_by_number(each, numbers[each]) for each in words], moved


class TokenIndex(NamedTuple):
    """Where tokens stand, (tokens,) each, counted over all Docs.

    segment: number of the token's segment, -1 where it is in none. place: its place there, from 0;
    of a token that is in several segments, that in the last of them.
    """

    segment: Ints
    place: Ints


def token_index(segments: Sequence[Ints], n_tokens: int) -> TokenIndex:
    """The index of tokens in segments, such as `sentence_parts` gives."""
    segment = np.full(n_tokens, -1, dtype=np.int64)
    place = np.zeros(n_tokens, dtype=np.int64)
    for number, tokens in enumerate(segments):
        segment[tokens] = number
        place[tokens] = np.arange(len(tokens))
    return TokenIndex(segment, place)


def sentence_parts(docs: Sequence[Doc], max_length: int) -> list[Ints]:
    """The words that are parsed together: sentences that are marked on Docs, or else whole Docs, in
    parts of at most max_length words."""
    return [part for words in sentences_of(docs) for part in cut_overlong(words, max_length)]


def windows_of(docs: Sequence[Doc], max_length: int, *, cross_sentences: bool) -> list[Ints]:
    """The words that are read together, numbered over all Docs: sentences, or whole Docs.

    Sentences are those that stand on the Docs; a Doc without any is one. What has more than
    max_length words is read in windows that overlap by half.
    """
    texts = words_of(docs) if cross_sentences else sentences_of(docs)
    return [window for words in texts if len(words) for window in overlapping(words, max_length)]


def annotated(cuts: list[Ints], known: NDArray[np.bool_]) -> list[Ints]:
    """The sentences with a token that is known, all where there is none: training need not read
    the others. known: (tokens,)."""
    return [cut for cut in cuts if known[cut].any()] or cuts
