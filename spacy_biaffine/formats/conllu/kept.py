"""What CoNLL-U says beyond spaCy's token attributes, kept on the Doc.

The group ``spacy_biaffine.conllu`` in ``doc.spans`` has the characters and the number of tokens of
each sentence in its attrs, and one plain dict a sentence, so DocBin, ``to_bytes`` and ``copy`` keep
them. A dict holds only what the tokens can't give back:

    comments   leading comment lines, joined by \\n
    others     [words before it, raw line] of multiword ranges and empty nodes
    deps       the DEPS cells of all words, joined by \\t
    misc, upos, feats, deprel
               cells that differ from what the tokens say, joined by \\t ('' for the others)
    root       the root's label where that is written ROOT
    tail       comment lines at the end of the file, joined by \\n
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spacy.tokens import Doc, SpanGroup

from ...doc.kept import (
    CHANGED,
    CHARACTERS,
    MERGED,
    PLACES,
    UnreadableError,
    check_text,
    end_of,
    group_name,
    kept_group,
    warn_absent,
)
from ...doc.nodes import packed_spans

GROUP = group_name("conllu")


@dataclass(frozen=True)
class KeptSentence:
    """Sentence doc[start:end] with what was kept of its lines."""

    start: int
    end: int
    data: dict[str, Any]

    @property
    def named(self) -> str:
        """What tells it from others in an error."""
        return f"sentence: {'; '.join(self.lines('comments')) or 'without comments'}"

    def cells(self, column: str) -> list[str]:
        """Kept cells of a column ('misc', 'deps', ...), one a word, '' where nothing is kept."""
        if column not in self.data:
            return [""] * (self.end - self.start)
        return self.data[column].split("\t")

    def lines(self, key: str) -> list[str]:
        """Comment lines under 'comments' or 'tail'."""
        return self.data[key].split("\n") if key in self.data else []

    def others(self) -> list[tuple[int, str]]:
        """Lines of ranges and empty nodes, each with the number of words before it."""
        return [(position, line) for position, line in self.data.get("others", ())]

    def ranges(self) -> Iterator[tuple[int, int, list[str]]]:
        """Multiword tokens as (first token, end token, cells), in tokens of the Doc."""
        for position, line in self.others():
            cells = line.split("\t")
            if "-" in cells[0] and line[0] != "#":
                end = int(cells[0].partition("-")[2])
                yield self.start + position, self.start + end, cells


def keep(doc: Doc, bounds: list[tuple[int, int]], sentences: list[dict[str, Any]]) -> None:
    """Put the sentences' leftovers on the Doc. bounds: (start, end) tokens of each sentence."""
    spans = [(doc[start:end], end - start) for start, end in bounds]
    places = [[span.start_char, span.end_char, size] for span, size in spans]
    attrs = {"sentences": sentences, PLACES: places, CHARACTERS: end_of(doc)}
    doc.spans[GROUP] = SpanGroup(doc, name=GROUP, attrs=attrs)


def kept_sentences(doc: Doc) -> list[KeptSentence]:
    """Sentences kept on the Doc, in order; [] where it does not come from CoNLL-U or was joined
    from others, and, with a warning, where its tokens were merged or split since.
    """
    group = kept_group(doc, GROUP)
    if group is None or "sentences" not in group.attrs:
        return []
    data = group.attrs["sentences"]
    try:
        check_text(doc, group.attrs)
        bounds = list(_bounds(doc, group))
    except UnreadableError as cause:
        warn_absent("what CoNLL-U says beside spaCy's attributes", cause)
        return []
    return [KeptSentence(*bound, each) for bound, each in zip(bounds, data, strict=True)]


def _bounds(doc: Doc, group: SpanGroup) -> Iterator[tuple[int, int]]:
    """First token and the one after the last of each sentence. Raises UnreadableError."""
    places = group.attrs.get(PLACES)
    if places is None:  # of an earlier version, where sentences were spans
        spans = packed_spans(group)
        places = [(span.start, span.end, span.end_token - span.first_token) for span in spans]
    if len(places) != len(group.attrs["sentences"]):
        raise UnreadableError(CHANGED)
    token = 0
    for start, end, size in places:
        span = doc.char_span(start, end)
        if span is None or (span.start, len(span)) != (token, size):
            raise UnreadableError(MERGED)
        yield span.start, span.end
        token = span.end
    if token != len(doc):
        raise UnreadableError(MERGED)


def copy_kept(source: Doc, target: Doc) -> None:
    """Give a Doc with the same tokens the leftovers of another, e.g. to write a new parse."""
    group = kept_group(source, GROUP)
    if group is not None:
        target.spans[GROUP] = group.copy(doc=target)
