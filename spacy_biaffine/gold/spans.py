"""From Examples to targets of span finders: gold spans, nested or not, on the predicted tokens."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import ENT_IOB
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..decode.bioes import tags_of_spans
from ..doc.scores import entities_of, has_entities
from ..doc.segments import windows_of, words_of
from ..types import Ints
from .alignment import placing, touching
from .left_out import (
    ENTITY_ACROSS,
    ENTITY_IN_PARTS,
    ENTITY_NO_LABEL,
    ENTITY_OTHER_TOKENS,
    ENTITY_TOO_LONG,
    Kind,
    LeftOut,
)


@dataclass(frozen=True)
class SpanTargets:
    """Gold spans of a batch; tokens are counted over all its Docs.

    spans: (m, 3) first token, last token, number of the label. No span begins or ends with a blank.
    known: (tokens,) bool, False where the gold annotation is missing or not aligned.
    """

    spans: Ints
    known: NDArray[np.bool_]


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
        gold = entities_of(example.reference, spans_key)
        placed, is_known = place_entities(example, gold, spans_key)
        rows = [
            (span.start + offset, span.end - 1 + offset, labels[span.label_])
            for span in placed
            if span is not None and span.label_ in labels
        ]
        spans.append(np.array(sorted(set(rows)), dtype=np.int64).reshape(-1, 3))
        known.append(is_known)
        offset += len(example.predicted)
    return SpanTargets(np.concatenate(spans), np.concatenate(known))


def place_entities(
    example: Example, entities: Iterable[Span], spans_key: str | None
) -> tuple[list[Span | None], NDArray[np.bool_]]:
    """Gold entities as they are on the predicted tokens, without blanks at their edges, None for
    one that is not; and of which tokens it is known what they are part of.

    entities: some of those in the group, or in doc.ents with None. Unknown are the tokens of those
    that are not there, those marked as missing, and all of a Doc without annotation.
    """
    predicted = example.predicted
    if not has_entities(example.reference, spans_key):
        return [None for _ in entities], np.zeros(len(predicted), dtype=bool)
    place = placing(example)
    lost = unannotated(example.reference, spans_key)
    placed: list[Span | None] = []
    for entity in entities:
        found = place(entity)
        placed.append(None)
        if found is None:
            lost[entity.start : entity.end] = True
        elif not predicted[found[0]].is_space:
            placed[-1] = Span(predicted, found[0], found[1], entity.label)
    return placed, ~touching(example, lost)


def spans_left_out(
    example: Example,
    spans: Iterable[Span],
    spans_key: str | None,
    *,
    max_length: int,
    max_span_length: int | None = None,
    cross_sentences: bool = False,
) -> LeftOut:
    """Which of some gold spans, all in the group or in doc.ents, can't be learned."""
    if not has_entities(example.reference, spans_key):
        return Counter()
    placed, _ = place_entities(example, spans, spans_key)
    docs = [example.predicted]
    (words,) = words_of(docs)
    texts = _ends_of(windows_of(docs, max(1, len(words)), cross_sentences=cross_sentences))
    windows = _ends_of(windows_of(docs, max_length, cross_sentences=cross_sentences))

    def kind_of(span: Span | None) -> Kind | None:
        if span is None:
            return ENTITY_OTHER_TOKENS
        if not span.label:
            return ENTITY_NO_LABEL
        if not _are_whole(span, texts):
            return ENTITY_ACROSS
        n_words = int(np.diff(np.searchsorted(words, [span.start, span.end]))[0])
        if max_span_length is not None and n_words > max_span_length:
            return ENTITY_TOO_LONG
        return None if _are_whole(span, windows) else ENTITY_IN_PARTS

    return Counter(kind for span in placed if (kind := kind_of(span)) is not None)


def _ends_of(segments: Sequence[Ints]) -> Ints:
    """(2, segments) the first and the last word of each."""
    return np.array([(each[0], each[-1]) for each in segments], dtype=np.int64).reshape(-1, 2).T


def _are_whole(span: Span, ends: Ints) -> bool:
    firsts, lasts = ends
    return bool(((firsts <= span.start) & (span.end - 1 <= lasts)).any())


def aligned_tags(example: Example) -> list[str]:
    """Per predicted token, the BIOES tag of doc.ents; "" where none is known. Tags are known also
    where an entity is made of other tokens, and unknown where its edges are inside of one."""
    placed, known = place_entities(example, example.reference.ents, None)
    spans = [(span.start, span.end, span.label_) for span in placed if span is not None]
    tags = tags_of_spans(spans, len(example.predicted))
    return [tag if is_known else "" for tag, is_known in zip(tags, known, strict=True)]


def unannotated(doc: Doc, spans_key: str | None) -> NDArray[np.bool_]:
    """Of which tokens nobody has said what they are part of: all or none where there is a group."""
    if not has_entities(doc, spans_key):
        return np.ones(len(doc), dtype=bool)
    if spans_key is not None:
        return np.zeros(len(doc), dtype=bool)
    return doc.to_array([ENT_IOB]).reshape(-1) == 0


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
