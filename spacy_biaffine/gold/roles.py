"""From Examples to targets of role labellers: gold predicates, senses and arguments, on the
predicted tokens."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..decode.pieces import FURTHER, labels_of_pieces
from ..doc.graphs import FRAMES, Frame, frames_of, has_graph
from ..doc.segments import sentence_parts, token_index, words_of
from ..types import Ints, RoleTargets
from .alignment import TokenSpan, placing, touching, trimmed
from .left_out import (
    ARGUMENT_OTHER_TOKENS,
    ARGUMENT_OUTSIDE,
    ARGUMENT_OVERLAPS,
    ARGUMENT_TOO_LONG,
    PREDICATE_OTHER_TOKENS,
    PREDICATE_SECOND,
    PREDICATE_TOO_MANY,
    Kind,
    LeftOut,
)

MISSING = (-1, -1)
"""Stands for a gold span that is no span of the predicted tokens."""


class TokenFrame(NamedTuple):
    """A frame in numbers of tokens.

    predicate: the first token of its first span; -1 where no predicted token is that one alone.
    roles: labels and spans, which are in the order of the text, without blanks at their edges.
    further: what the predicate has beside that token, likewise.
    """

    predicate: int
    sense: str | None
    roles: list[tuple[str, list[TokenSpan]]]
    further: list[TokenSpan]


def frames_in_tokens(doc: Doc, key: str = FRAMES) -> list[TokenFrame]:
    """The frames of a Doc; key: which ones, doc._.frames or doc._.word_frames."""
    trim = trimmed(doc)
    return [
        _in_tokens(frame, lambda span: trim(span.start, span.end)) for frame in frames_of(doc, key)
    ]


def gold_frames(example: Example, key: str = FRAMES) -> list[TokenFrame]:
    """The frames of the gold Doc on the predicted tokens."""
    place = placing(example)
    return [
        _in_tokens(frame, lambda span: place(span) or MISSING)
        for frame in frames_of(example.reference, key)
    ]


def role_labels(example: Example, key: str = FRAMES) -> set[str]:
    """The labels of the pieces of gold arguments: X, and C-X where an argument has several; and
    `FURTHER` where a predicate is more than a token."""
    frames = frames_in_tokens(example.reference, key)
    labels = {label for frame in frames for label, _ in pieces_of(frame)}
    return labels | {FURTHER for frame in frames if frame.further}


def pieces_of(frame: TokenFrame) -> Iterator[tuple[str, TokenSpan]]:
    """Each span of a frame's arguments, under its label: X, or C-X."""
    for role, spans in frame.roles:
        yield from zip(labels_of_pieces(role, len(spans)), spans, strict=True)


def role_targets(
    examples: Sequence[Example], labels: Mapping[str, int], max_length: int, key: str = FRAMES
) -> RoleTargets:
    """Targets of a role labeller. Labels that are not in `labels` have none.

    What a predicate has beside its first token is an argument to them, with the label `FURTHER`.

    The sentences are those on the predicted Doc, as in prediction; those of more than max_length
    words are cut. Of two predicates on a token the first counts, and of an argument what is in the
    sentence of its predicate.
    """
    lengths = [len(example.predicted) for example in examples]
    offsets = np.cumsum([0, *lengths])
    cuts = sentence_parts([example.predicted for example in examples], max_length)
    sentence = token_index(cuts, offsets[-1]).segment
    known = np.ones(offsets[-1], dtype=bool)
    found: dict[int, TokenFrame] = {}
    for example, offset, length in zip(examples, offsets[:-1].tolist(), lengths, strict=True):
        if not has_graph(example.reference, key):
            known[offset : offset + length] = False
            continue
        frames = gold_frames(example, key)
        known[offset : offset + length] = ~_split_predicates(example, frames, key)
        for frame in frames:
            if frame.predicate >= 0 and sentence[frame.predicate + offset] >= 0:
                found.setdefault(frame.predicate + offset, _moved(frame, offset))
    ordered = [found[token] for token in sorted(found)]
    arguments = [
        (row, start, end, labels[label])
        for row, frame in enumerate(ordered)
        for label, (start, end) in (*pieces_of(frame), *((FURTHER, each) for each in frame.further))
        if label in labels and start >= 0
        if sentence[start] == sentence[end - 1] == sentence[frame.predicate]
    ]
    return RoleTargets(
        cuts=cuts,
        predicates=np.array([frame.predicate for frame in ordered], dtype=np.int64),
        senses=[frame.sense for frame in ordered],
        arguments=np.array(sorted(arguments), dtype=np.int64).reshape(-1, 4),
        known=known,
        complete=np.array([_is_whole(frame) for frame in ordered], dtype=bool),
    )


def roles_left_out(
    example: Example,
    key: str = FRAMES,
    *,
    max_length: int,
    max_span_length: int | None,
    most_predicates: Callable[[int], int] | None,
) -> LeftOut:
    """What can't be learned of a gold Doc's frames. most_predicates: how many predicates are found
    in a sentence of so many words; None where all are given."""
    cuts = sentence_parts([example.predicted], max_length)
    sentence = token_index(cuts, len(example.predicted)).segment
    (words,) = words_of([example.predicted])
    left_out: LeftOut = Counter()
    predicates: set[int] = set()
    for frame in gold_frames(example, key):
        if frame.predicate < 0 or sentence[frame.predicate] < 0:
            left_out[PREDICATE_OTHER_TOKENS] += 1
        elif frame.predicate in predicates:
            left_out[PREDICATE_SECOND] += 1
        else:
            predicates.add(frame.predicate)
            left_out.update(_arguments_left_out(frame, sentence, words, max_span_length))
    found = Counter(sentence[sorted(predicates)].tolist())
    if most_predicates is not None:
        beyond = (count - most_predicates(len(cuts[cut])) for cut, count in found.items())
        left_out[PREDICATE_TOO_MANY] += sum(max(0, each) for each in beyond)
    return +left_out


def _arguments_left_out(
    frame: TokenFrame, sentence: Ints, words: Ints, max_span_length: int | None
) -> Iterator[Kind]:
    taken: set[int] = set()
    for start, end in (*(span for _, span in pieces_of(frame)), *frame.further):
        if start < 0:
            yield ARGUMENT_OTHER_TOKENS
            continue
        low, high = np.searchsorted(words, [start, end])
        if not sentence[start] == sentence[end - 1] == sentence[frame.predicate]:
            yield ARGUMENT_OUTSIDE
        elif max_span_length is not None and high - low > max_span_length:
            yield ARGUMENT_TOO_LONG
        elif not taken.isdisjoint(range(start, end)):
            yield ARGUMENT_OVERLAPS
        else:
            taken.update(range(start, end))


def _in_tokens(frame: Frame, place: Callable[[Span], TokenSpan]) -> TokenFrame:
    first, *others = frame.predicate
    start, end = place(first[:1])
    roles = [(role.label, _placed(role.spans, place)) for role in frame.roles]
    further = _placed([*([first[1:]] if len(first) > 1 else []), *others], place)
    return TokenFrame(start if end == start + 1 else -1, frame.sense, roles, further)


def _placed(spans: Iterable[Span], place: Callable[[Span], TokenSpan]) -> list[TokenSpan]:
    return [place(span) for span in sorted(spans, key=lambda span: span.start)]


def _split_predicates(
    example: Example, frames: Sequence[TokenFrame], key: str
) -> NDArray[np.bool_]:
    """Which predicted tokens share characters with predicates that no token is, (tokens,) bool."""
    lost = np.zeros(len(example.reference), dtype=bool)
    for gold, frame in zip(frames_of(example.reference, key), frames, strict=True):
        lost[gold.predicate[0].start] |= frame.predicate < 0
    return touching(example, lost)


def _moved(frame: TokenFrame, offset: int) -> TokenFrame:
    """The same frame, its tokens counted over all Docs."""

    def moved(spans: Sequence[TokenSpan]) -> list[TokenSpan]:
        return [span if span == MISSING else (span[0] + offset, span[1] + offset) for span in spans]

    roles = [(label, moved(spans)) for label, spans in frame.roles]
    return TokenFrame(frame.predicate + offset, frame.sense, roles, moved(frame.further))


def _is_whole(frame: TokenFrame) -> bool:
    return MISSING not in frame.further and not any(MISSING in spans for _, spans in frame.roles)
