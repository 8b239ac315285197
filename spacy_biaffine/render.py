"""Pictures of relations, dependency graphs and frames: arcs over a sentence, drawn by displaCy."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any
from unicodedata import east_asian_width

from spacy import displacy
from spacy.displacy.templates import TPL_FIGURE, TPL_PAGE
from spacy.tokens import Doc, Span

from .decode.pieces import labels_of_pieces
from .graphs import Frame, Relation

BETWEEN = " / "
"""What stands between several labels of the same words."""

MOST_TOKENS = 5
"""Entities and roles of more tokens are shortened."""

_PIXELS = 10
"""A little more than a letter takes at displaCy's size."""

Edge = tuple[Span, Span, str]
"""From, to, label."""


def relations_svg(doc: Doc) -> list[str]:
    """A picture, <svg>, for each sentence that has relations, doc._.relations; types stand below.

    Each entity is one word of the picture, unless it shares tokens with another one: then an arc
    begins or ends at its last token. Relations across sentences, and of entities with the same
    tokens, can't be drawn.
    """
    pictures = []
    every = doc._.relations
    for sentence in _sentences(doc):
        relations = [each for each in every if _is_inside(sentence, each)]
        entities = {each: each.label_ for pair in relations for each in (pair.head, pair.tail)}
        edges = [(each.head, each.tail, each.label) for each in relations]
        if relations:
            pictures.append(_svg(sentence, entities.items(), edges))
    return pictures


def dep_graph_svg(doc: Doc) -> list[str]:
    """A picture, <svg>, for each sentence with arcs, doc._.dep_graph. The labels of arcs from the
    root stand below their words. Arcs across sentences, and from a token to itself, are left out.
    """
    pictures = []
    every = doc._.dep_graph
    for sentence in _sentences(doc):
        arcs = [arc for arc in every if arc.dependent in sentence]
        tags = [(_span(arc.dependent.i, doc), arc.label) for arc in arcs if arc.head is None]
        edges = [
            (_span(arc.head.i, doc), _span(arc.dependent.i, doc), arc.label)
            for arc in arcs
            if arc.head is not None and arc.head in sentence
        ]
        if arcs:
            pictures.append(_svg(sentence, tags, edges))
    return pictures


def frames_svg(doc: Doc) -> list[str]:
    """A picture, <svg>, for each frame, doc._.frames: arcs from the predicate to its roles.

    Each role is one word of the picture, unless it shares tokens with another or the predicate. The
    sense stands below the predicate; further pieces of it and of roles have labels C-X. Roles
    outside the predicate's sentence are left out.
    """
    pictures = []
    frames = doc._.frames
    for sentence in _sentences(doc):
        for frame in frames:
            if _contains(sentence, frame.predicate[0]):
                tags = [(frame.predicate[0], frame.sense or "V")]
                edges = [edge for edge in _edges(frame) if _contains(sentence, edge[1])]
                pictures.append(_svg(sentence, tags, edges))
    return pictures


def page(pictures: Iterable[str]) -> str:
    """One HTML page of pictures, one below the other."""
    content = "".join(TPL_FIGURE.format(content=picture) for picture in pictures)
    return TPL_PAGE.format(content=content, lang="en", dir="ltr")


def _edges(frame: Frame) -> list[Edge]:
    first = frame.predicate[0]
    pieces = list(zip(labels_of_pieces("V", len(frame.predicate)), frame.predicate, strict=True))[
        1:
    ]
    for role in frame.roles:
        pieces += zip(labels_of_pieces(role.label, len(role.spans)), role.spans, strict=True)
    return [(first, span, label) for label, span in pieces]


def _sentences(doc: Doc) -> list[Span]:
    if doc.has_annotation("SENT_START"):
        return list(doc.sents)
    return [doc[:]] if len(doc) else []


def _span(token: int, doc: Doc) -> Span:
    return doc[token : token + 1]


def _contains(sentence: Span, span: Span) -> bool:
    return sentence.start <= span.start and span.end <= sentence.end


def _is_inside(sentence: Span, relation: Relation) -> bool:
    return _contains(sentence, relation.head) and _contains(sentence, relation.tail)


def _svg(sentence: Span, tags: Iterable[tuple[Span, str]], edges: Sequence[Edge]) -> str:
    """tags: what stands below some spans."""
    tags = list(tags)
    spans = [*(span for span, _ in tags), *(span for edge in edges for span in edge[:2])]
    places = _places(sentence, spans)
    texts: dict[int, list[str]] = defaultdict(list)
    for token in sentence:
        texts[places[token.i - sentence.start]].append(token.text_with_ws)

    def place_of(token: int) -> int:
        return places[token - sentence.start]

    below: dict[int, list[str]] = defaultdict(list)
    for span, tag in tags:
        below[place_of(span.end - 1)].append(tag)
    arcs: list[dict[str, Any]] = []
    for start, end, label in edges:
        ends = [place_of(start.end - 1), place_of(end.end - 1)]
        if ends[0] == ends[1]:
            longer = 0 if len(start) > len(end) else 1
            ends[longer] = place_of((start, end)[longer].start)
        if ends[0] != ends[1]:
            direction = "right" if ends[0] < ends[1] else "left"
            low, high = sorted(ends)
            arcs.append({"start": low, "end": high, "label": escape(label), "dir": direction})
    words = [
        {"text": _shortened(tokens), "tag": escape(BETWEEN.join(below[place]))}
        for place, tokens in texts.items()
    ]
    distance = _PIXELS * max(_width(text) for each in (*words, *arcs) for text in _shown(each))
    options = {"distance": distance + 2 * _PIXELS, "offset_x": distance / 2 + _PIXELS}
    picture: str = displacy.render(
        {"words": words, "arcs": arcs}, "dep", jupyter=False, options=options, manual=True
    )
    return picture.strip()


def _shown(drawn: dict[str, Any]) -> list[str]:
    return [drawn[name] for name in ("text", "tag", "label") if name in drawn]


def _shortened(tokens: Sequence[str]) -> str:
    if len(tokens) <= MOST_TOKENS:
        return "".join(tokens).strip()
    return f"{''.join(tokens[:2]).strip()} … {tokens[-1].strip()}"


def _width(text: str) -> int:
    """In letters; those of East Asian scripts count twice. No word is narrower than five."""
    return max(5, sum(1 + (east_asian_width(letter) in "WF") for letter in text))


def _places(sentence: Span, spans: Iterable[Span]) -> list[int]:
    """The number of the word of the picture in which each token is."""
    bounds = sorted({(span.start, span.end) for span in spans})
    whole = [
        (start, end)
        for start, end in bounds
        if sum(low < end and start < high for low, high in bounds) == 1
    ]
    joined = {token for start, end in whole for token in range(start + 1, end)}
    places: list[int] = []
    for token in range(sentence.start, sentence.end):
        places.append((places[-1] if places else -1) + (token not in joined))
    return places
