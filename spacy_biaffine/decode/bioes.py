"""Spans as one tag per token, and back: B, I and E begin, continue and end a span of several,
S is a span of one, O is outside."""

from collections.abc import Iterable, Sequence

OUTSIDE = "O"

TypedSpan = tuple[int, int, str]
"""First token, token after the last, type."""


def bioes_labels(types: Iterable[str]) -> set[str]:
    """Every tag that spans of these types can give rise to."""
    return {OUTSIDE} | {f"{prefix}-{kind}" for kind in types for prefix in "BIES"}


def bioes_of_biluo(tag: str) -> str:
    """The BIOES tag of spaCy's BILUO tag: L is E, U is S."""
    return {"L": "E", "U": "S"}.get(tag[:1], tag[:1]) + tag[1:]


def span_type(tag: str) -> str:
    """'LOC' of 'B-LOC', '' of 'O'."""
    return tag.partition("-")[2]


def tags_of_spans(spans: Iterable[TypedSpan], length: int) -> list[str]:
    """One tag for each of `length` tokens. Raises ValueError where spans overlap."""
    tags = [OUTSIDE] * length
    for start, end, kind in spans:
        if any(tag != OUTSIDE for tag in tags[start:end]):
            raise ValueError(f"the span ({start}, {end}, {kind!r}) overlaps another one")
        tags[start:end] = [f"I-{kind}"] * (end - start)
        tags[end - 1] = f"E-{kind}"
        tags[start] = f"S-{kind}" if end == start + 1 else f"B-{kind}"
    return tags


def spans_of_tags(tags: Sequence[str]) -> list[TypedSpan]:
    """The spans of any sequence of tags, well-formed or not; they never overlap.

    As the scorer of CoNLL-2000 reads them: a span ends before O, B, S, another type and the end of
    the sequence, and after E and S; I or E where no span of their type is open begins one.
    """
    spans: list[TypedSpan] = []
    start, open_type = 0, ""
    for place, tag in enumerate([*tags, OUTSIDE]):
        prefix, kind = tag[:1], span_type(tag)
        goes_on = prefix in "IE" and kind == open_type
        if open_type and not goes_on:
            spans.append((start, place, open_type))
            open_type = ""
        if kind and not open_type:
            start, open_type = place, kind
        if open_type and prefix in "ES":
            spans.append((start, place + 1, open_type))
            open_type = ""
    return spans
