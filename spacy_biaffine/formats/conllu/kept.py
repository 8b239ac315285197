"""What CoNLL-U says beyond spaCy's token attributes, kept on the Doc.

``doc.spans["conllu"]`` has one span a sentence, and ``attrs["sentences"]`` of that group one plain
dict a sentence, so DocBin, ``to_bytes`` and ``copy`` keep both. A dict holds only what the tokens
can't give back:

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

GROUP = "conllu"


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
    spans = [doc[start:end] for start, end in bounds]
    attrs = {"sentences": sentences}
    doc.spans[GROUP] = SpanGroup(doc, name=GROUP, attrs=attrs, spans=spans)


def kept_sentences(doc: Doc) -> list[KeptSentence]:
    """Sentences kept on the Doc, in order; [] where it does not come from CoNLL-U, or where its
    tokens were merged or split since.
    """
    if GROUP not in doc.spans:
        return []
    group = doc.spans[GROUP]
    data = group.attrs.get("sentences", [])
    try:
        bounds = [(span.start, span.end) for span in group]
    except IndexError:  # a span beyond the end: tokens were merged
        return []
    starts = [0, *(end for _, end in bounds)]
    if starts != [*(start for start, _ in bounds), len(doc)] or len(data) != len(bounds):
        return []
    return [KeptSentence(*bound, each) for bound, each in zip(bounds, data, strict=True)]


def copy_kept(source: Doc, target: Doc) -> None:
    """Give a Doc with the same tokens the leftovers of another, e.g. to write a new parse."""
    if GROUP in source.spans:
        target.spans[GROUP] = source.spans[GROUP].copy(doc=target)
