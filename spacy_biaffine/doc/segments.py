"""Where a Doc is cut: words, sentences, windows."""

from collections.abc import Sequence

import numpy as np
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc

from ..decode.sentences import cut_by_number, cut_overlong, overlapping
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
    starts = [doc.to_array([SENT_START]).reshape(-1) == 1 for doc in docs]
    numbers = np.cumsum(np.concatenate([np.zeros(0, dtype=bool), *starts]))
    return [cut for words in words_of(docs) for cut in cut_by_number(words, numbers[words])]


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
