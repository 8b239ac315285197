"""From Examples to targets of role labellers: gold predicates, senses and arguments, on the
predicted tokens."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.training.alignment_array import AlignmentArray

from .decode.pieces import FURTHER, labels_of_pieces
from .gold import same_tokens, sentence_parts
from .graphs import FRAMES, Frame, frames_of, has_graph
from .types import Ints, RoleTargets

TokenSpan = tuple[int, int]
"""First token, and the token after the last."""

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
    is_blank = doc.to_array([IS_SPACE]).reshape(-1).tolist()
    return [
        _in_tokens(frame, lambda span: _trim(span.start, span.end, is_blank))
        for frame in frames_of(doc, key)
    ]


def gold_frames(example: Example, key: str = FRAMES) -> list[TokenFrame]:
    """The frames of the gold Doc on the predicted tokens."""
    if same_tokens(example):
        return frames_in_tokens(example.reference, key)
    is_blank = example.predicted.to_array([IS_SPACE]).reshape(-1).tolist()
    forth, back = _partners(example.alignment.x2y), _partners(example.alignment.y2x)

    def place(span: Span) -> TokenSpan:
        touched = [token for gold in back[span.start : span.end] for token in gold]
        if not touched:
            return MISSING
        start, end = min(touched), max(touched) + 1
        gold = [token for each in forth[start:end] for token in each]
        is_exact = span.start <= min(gold) and max(gold) < span.end
        return _trim(start, end, is_blank) if is_exact else MISSING

    return [_in_tokens(frame, place) for frame in frames_of(example.reference, key)]


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
    sentence = np.full(offsets[-1], -1, dtype=np.int64)
    for number, cut in enumerate(cuts):
        sentence[cut] = number
    known = np.ones(offsets[-1], dtype=bool)
    found: dict[int, TokenFrame] = {}
    for example, offset, length in zip(examples, offsets[:-1].tolist(), lengths, strict=True):
        if not has_graph(example.reference, key):
            known[offset : offset + length] = False
            continue
        frames = gold_frames(example, key)
        known[_split_predicates(example, frames, key) + offset] = False
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


def _in_tokens(frame: Frame, place: Callable[[Span], TokenSpan]) -> TokenFrame:
    first, *others = frame.predicate
    start, end = place(first[:1])
    roles = [(role.label, _placed(role.spans, place)) for role in frame.roles]
    further = _placed([*([first[1:]] if len(first) > 1 else []), *others], place)
    return TokenFrame(start if end == start + 1 else -1, frame.sense, roles, further)


def _placed(spans: Iterable[Span], place: Callable[[Span], TokenSpan]) -> list[TokenSpan]:
    return [place(span) for span in sorted(spans, key=lambda span: span.start)]


def _trim(start: int, end: int, is_blank: Sequence[int]) -> TokenSpan:
    """The span without blanks at its edges; one of blanks alone is left as it is."""
    words = [token for token in range(start, end) if not is_blank[token]]
    return (words[0], words[-1] + 1) if words else (start, end)


def _partners(alignment: AlignmentArray) -> list[list[int]]:
    """Per token of one side, the tokens of the other side that it shares characters with."""
    ends = np.cumsum(alignment.lengths)
    return [part.tolist() for part in np.split(np.asarray(alignment.data), ends[:-1])]


def _split_predicates(example: Example, frames: Sequence[TokenFrame], key: str) -> Ints:
    """The predicted tokens that share characters with predicates that no token is."""
    if all(frame.predicate >= 0 for frame in frames) or same_tokens(example):
        return np.zeros(0, dtype=np.int64)
    back = _partners(example.alignment.y2x)
    lost = [
        token
        for gold, frame in zip(frames_of(example.reference, key), frames, strict=True)
        if frame.predicate < 0
        for token in back[gold.predicate[0].start]
    ]
    return np.array(lost, dtype=np.int64)


def _moved(frame: TokenFrame, offset: int) -> TokenFrame:
    """The same frame, its tokens counted over all Docs."""

    def moved(spans: Sequence[TokenSpan]) -> list[TokenSpan]:
        return [span if span == MISSING else (span[0] + offset, span[1] + offset) for span in spans]

    roles = [(label, moved(spans)) for label, spans in frame.roles]
    return TokenFrame(frame.predicate + offset, frame.sense, roles, moved(frame.further))


def _is_whole(frame: TokenFrame) -> bool:
    return MISSING not in frame.further and not any(MISSING in spans for _, spans in frame.roles)
