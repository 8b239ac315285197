"""Entities by character offsets, or by tokens, on a Doc."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeGuard

from spacy.tokens import Doc, Span
from spacy.util import get_words_and_spaces
from spacy.vocab import Vocab

from ..common.lines import FormatError
from .report import EntityReport

Tokenize = Callable[[str], Doc]


@dataclass(frozen=True)
class Offsets:
    """text[start:end] is an entity. surface: what the file says it is, None where it does not."""

    start: int
    end: int
    label: str
    surface: str | None = None


def by_character(vocab: Vocab) -> Tokenize:
    """A tokenizer that makes a token of every character but blanks, as is usual for Chinese."""

    def tokenize(text: str) -> Doc:
        words, spaces = get_words_and_spaces([c for c in text if not c.isspace()], text)
        return Doc(vocab, words=words, spaces=spaces)

    return tokenize


def is_label(value: Any) -> TypeGuard[str]:
    """Whether it can be a label: a string that is not empty, without blanks at its edges, which
    nobody sees and which would make it another."""
    return isinstance(value, str) and bool(value) and value == value.strip()


def annotate(
    doc: Doc,
    offsets: Iterable[Offsets],
    place: str,
    *,
    spans_key: str | None,
    snap: bool,
    report: EntityReport,
) -> Doc:
    """Put entities on a tokenized text.

    snap: leave out blanks at the edges, and widen what cuts a token to all of it; otherwise either
    is an error. spans_key: the group for the entities; None for doc.ents.
    Raises FormatError at place.
    """
    spans = [span_at(doc, each, place, snap=snap, report=report) for each in offsets]
    return set_entities(doc, spans, place, spans_key=spans_key, report=report)


def span_at(doc: Doc, each: Offsets, place: str, *, snap: bool, report: EntityReport) -> Span:
    """The span of an entity; see `annotate`. Raises FormatError at place."""
    _check(doc.text, each, place)
    start, end = _without_blanks(doc.text, each) if snap else (each.start, each.end)
    mode = "expand" if snap else "strict"
    span = doc.char_span(start, end, label=each.label, alignment_mode=mode)
    if span is None or start == end or (not snap and _has_blank_edge(span.text)):
        raise FormatError(place, "offsets", _misfit(doc, each))
    report.snapped += (span.start_char, span.end_char) != (each.start, each.end)
    return span


def set_entities(
    doc: Doc, spans: Iterable[Span], place: str, *, spans_key: str | None, report: EntityReport
) -> Doc:
    """Write spans, each once, to a group, or with None to doc.ents, which must not overlap.

    In the order of the Doc, the longest first; labels of the same span in the order given.
    """
    given = list(spans)
    distinct: dict[tuple[int, int, int], Span] = {}
    for span in given:
        distinct.setdefault((span.start, span.end, span.label), span)
    ordered = sorted(distinct.values(), key=lambda span: (span.start, -span.end))
    if spans_key is not None:
        doc.spans[spans_key] = ordered
    else:
        for one, other in pairwise(ordered):
            if other.start < one.end:
                raise FormatError(
                    place,
                    "overlap",
                    f"the entities {_show(one)} and {_show(other)} overlap: doc.ents can't hold "
                    f"both. Name a span group for them (--spans-key sc).",
                )
        doc.set_ents(ordered, default="outside")
    report.texts += 1
    report.entities += len(ordered)
    report.repeated += len(given) - len(ordered)
    return doc


def _check(text: str, offsets: Offsets, place: str) -> None:
    start, end = offsets.start, offsets.end
    if not 0 <= start < end <= len(text):
        raise FormatError(
            place,
            "offsets",
            f"the entity [{start}, {end}) {offsets.label} is not in the text, which has "
            f"{len(text)} characters",
        )
    found = text[start:end]
    if offsets.surface is not None and found != offsets.surface:
        raise FormatError(
            place,
            "surface",
            f"the entity [{start}, {end}) {offsets.label} is {found!r} in the text, but "
            f"{offsets.surface!r} in the annotation. Do its ends count the last character?",
        )


def _misfit(doc: Doc, offsets: Offsets) -> str:
    text = doc.text[offsets.start : offsets.end]
    entity = f"the entity [{offsets.start}, {offsets.end}) {offsets.label} {text!r}"
    if _has_blank_edge(text):
        return f"{entity} begins or ends with a blank; --snap leaves blanks out"
    whole = doc.char_span(offsets.start, offsets.end, alignment_mode="expand")
    assert whole is not None
    return f"{entity} cuts a token of {whole.text!r}; --snap takes whole tokens"


def _without_blanks(text: str, offsets: Offsets) -> tuple[int, int]:
    found = text[offsets.start : offsets.end]
    start = offsets.start + len(found) - len(found.lstrip())
    return start, max(start, offsets.end - len(found) + len(found.rstrip()))


def _has_blank_edge(text: str) -> bool:
    return text != text.strip()


def _show(span: Span) -> str:
    return f"{span.text!r} {span.label_}"
