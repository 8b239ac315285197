"""From Examples to targets of span finders: gold spans, nested or not, on the predicted tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB, SENT_START
from spacy.tokens import Doc, Span
from spacy.training import Example

from .annotations import entities_of, has_entities
from .decode.sentences import cut_by_number, overlapping
from .gold import same_tokens, words_of
from .types import Ints


@dataclass(frozen=True)
class SpanTargets:
    """Gold spans of a batch; tokens are counted over all its Docs.

    spans: (m, 3) first token, last token, number of the label. No span begins or ends with a blank.
    known: (tokens,) bool, False where the gold annotation is missing or not aligned.
    """

    spans: Ints
    known: NDArray[np.bool_]


def windows_of(docs: Sequence[Doc], max_length: int, *, cross_sentences: bool) -> list[Ints]:
    """The words that are read together, numbered over all Docs: sentences, or whole Docs.

    Sentences are those that stand on the Docs; a Doc without any is one. What has more than
    max_length words is read in windows that overlap by half.
    """
    starts = [doc.to_array([SENT_START]) == 1 for doc in docs]
    numbers = np.cumsum(np.concatenate([np.zeros(0, dtype=bool), *starts]))
    if cross_sentences:
        numbers = np.zeros_like(numbers)
    return [
        window
        for words in words_of(docs)
        for sentence in cut_by_number(words, numbers[words])
        for window in overlapping(sentence, max_length)
    ]


def span_labels(example: Example, spans_key: str | None) -> set[str]:
    """The labels of the gold spans."""
    return {span.label_ for span in entities_of(example.reference, spans_key)} - {""}


def span_targets(
    examples: Sequence[Example], labels: Mapping[str, int], spans_key: str | None
) -> SpanTargets:
    """Targets of a span finder, from the group of this name or else from the entities.

    Spans that the predicted tokens don't have, and entities that are marked as missing, make their
    tokens unknown. Labels that are not in `labels` have no targets.
    """
    spans, known, offset = [np.zeros((0, 3), dtype=np.int64)], [], 0
    for example in examples:
        doc = example.predicted
        aligned, is_known = _aligned_spans(example, spans_key)
        rows = [
            (first + offset, last + offset, labels[span.label_])
            for span in aligned
            if span.label_ in labels
            for first, last in _without_blanks(span)
        ]
        spans.append(np.array(sorted(set(rows)), dtype=np.int64).reshape(-1, 3))
        known.append(is_known)
        offset += len(doc)
    return SpanTargets(np.concatenate(spans), np.concatenate(known))


def place_spans(tokens: Ints, spans: Ints) -> Ints:
    """Where sorted spans stand in a padded batch: (k, 4) row, label, place of the first, the last.

    tokens: (B, n) token numbers, -1 at padding. A span that is not whole in any row is left out,
    one that is whole in two windows stands in both.
    """
    found = [np.zeros((0, 4), dtype=np.int64)]
    for number, row in enumerate(tokens):
        words = row[row >= 0]
        low, high = np.searchsorted(spans[:, 0], [words[0], words[-1] + 1])
        firsts, lasts, labels = spans[low:high][spans[low:high, 1] <= words[-1]].T
        places = np.searchsorted(words, [firsts, lasts])
        found.append(np.stack([np.full_like(labels, number), labels, *places], axis=1))
    return np.concatenate(found)


def _aligned_spans(example: Example, spans_key: str | None) -> tuple[list[Span], NDArray[np.bool_]]:
    """Gold spans on the predicted tokens, and of which tokens the annotation is known."""
    reference, n = example.reference, len(example.predicted)
    if not has_entities(reference, spans_key):
        return [], np.zeros(n, dtype=bool)
    if spans_key is None:
        if same_tokens(example):
            return list(reference.ents), reference.to_array([ENT_IOB]).reshape(-1) != 0
        ents, tags = example.get_aligned_ents_and_ner()
        return ents, np.array([tag is not None for tag in tags], dtype=bool)
    known = np.ones(n, dtype=bool)
    if same_tokens(example):
        return entities_of(reference, spans_key), known
    aligned = []
    for span in entities_of(reference, spans_key):
        found = example.get_aligned_spans_y2x([span], allow_overlap=True)
        aligned += found
        if not found:
            known[example.alignment.y2x[span.start : span.end]] = False
    return aligned, known


def _without_blanks(span: Span) -> list[tuple[int, int]]:
    """First and last token that is no blank; nothing for blanks alone."""
    words = [token.i for token in span if not token.is_space]
    return [(words[0], words[-1])] if words else []
