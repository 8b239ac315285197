"""Pictures by displaCy: trees, relations, dependency graphs and frames as arcs over a sentence, and
entities in the text.

Whatever stands on a Doc is shown as text, markup and control characters too.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import Any
from unicodedata import east_asian_width

from spacy import displacy
from spacy.tokens import Doc, Span, Token

from ..decode.pieces import labels_of_pieces
from ..doc.graphs import FRAMES, WORD_FRAMES, Frame, Relation, frames_of
from ..doc.scores import entities_of

BETWEEN = " / "
"""What stands between several labels of the same words."""

MOST_TOKENS = 5
"""Entities and roles of more tokens are shortened."""

MOST_LETTERS = 40
"""Words of the picture with more letters are shortened."""

FONTS = "Arial, Helvetica, Liberation Sans, DejaVu Sans, Noto Sans, sans-serif"
"""The first of them that is installed: not every program that draws SVG finds another one."""

_PIXELS = 10
"""A little more than a letter takes at displaCy's size."""

_CONTROLS = {n: 0x2400 + n for n in range(32)} | dict.fromkeys(
    (*range(127, 160), 0xFFFE, 0xFFFF), 0xFFFD
)
_VISIBLE = {n: shown for n, shown in _CONTROLS.items() if chr(n) not in "\t\n\r"}
"""What stands for the characters that XML can't hold or that can't be seen, one for one."""

_ARC = re.compile(r'(class="displacy-arc"[^>]*? d=")M(\S+) C(\S+) (\S+) (\S+?)(")')
"""How displaCy draws an arc: from a point by two others to the last one."""

Edge = tuple[Span, Span, str]
"""From, to, label."""


def trees_svg(doc: Doc) -> list[str]:
    """A picture, <svg>, for each sentence with a dependency tree; parts of speech, or else tags,
    stand below, and the label of the root. Blank tokens are not drawn.
    """
    pictures = []
    for sentence in _sentences(doc):
        words = [token for token in sentence if not _is_blank(token)]
        tags = [(_span(word.i, doc), _below(word)) for word in words]
        edges = [
            (_span(word.head.i, doc), _span(word.i, doc), word.dep_)
            for word in words
            if word.dep and word.head.i != word.i
        ]
        if any(word.dep for word in words):
            pictures.append(_svg(sentence, tags, edges))
    return pictures


def _below(word: Token) -> str:
    is_root = word.dep and word.head.i == word.i
    return BETWEEN.join(filter(None, (word.pos_ or word.tag_, word.dep_ if is_root else "")))


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
            tags = entities.items()
            pictures.append(_svg(sentence, tags, edges, joins_others=True))
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


def frames_svg(doc: Doc, key: str = FRAMES) -> list[str]:
    """A picture, <svg>, for each frame, doc._.frames: arcs from the predicate to its roles.

    Each role is one word of the picture, unless it shares tokens with another or the predicate. The
    sense stands below the predicate; further pieces of it and of roles have labels C-X. Roles
    outside the predicate's sentence are left out.
    """
    pictures = []
    frames = frames_of(doc, key)
    for sentence in _sentences(doc):
        for frame in frames:
            if _contains(sentence, frame.predicate[0]):
                tags = [(frame.predicate[0], frame.sense or "V")]
                edges = [edge for edge in _edges(frame) if _contains(sentence, edge[1])]
                pictures.append(_svg(sentence, tags, edges, joins_others=True))
    return pictures


def word_frames_svg(doc: Doc) -> list[str]:
    """As `frames_svg`, of frames whose arguments are words, doc._.word_frames."""
    return frames_svg(doc, WORD_FRAMES)


def entities_html(doc: Doc, spans_key: str | None = None) -> str:
    """The text, <div>, with the entities marked: those of a span group, which may be nested, or
    with None doc.ents.
    """
    entities = [
        {
            "start": entity.start_char,
            "end": entity.end_char,
            "start_token": entity.start,
            "end_token": entity.end,
            "label": escape(entity.label_),
        }
        for entity in entities_of(doc, spans_key)
    ]
    drawn = {
        "text": visible(doc.text),
        "tokens": [visible(token.text) for token in doc],
        "settings": displacy.get_doc_settings(doc),
    }
    if spans_key is None:
        return _drawn({**drawn, "ents": entities}, "ent")
    return _drawn({**drawn, "spans": entities}, "span")


def visible(text: str) -> str:
    """The text with signs for its control characters, but for tabs and line ends; as long."""
    return text.translate(_VISIBLE)


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


def _is_blank(token: Token) -> bool:
    # token.is_space is not known where the vocab is no language's.
    return not token.text.strip()


def _span(token: int, doc: Doc) -> Span:
    return doc[token : token + 1]


def _contains(sentence: Span, span: Span) -> bool:
    return sentence.start <= span.start and span.end <= sentence.end


def _is_inside(sentence: Span, relation: Relation) -> bool:
    return _contains(sentence, relation.head) and _contains(sentence, relation.tail)


def _svg(
    sentence: Span,
    tags: Iterable[tuple[Span, str]],
    edges: Sequence[Edge],
    *,
    joins_others: bool = False,
) -> str:
    """tags: what stands below some spans. joins_others: words without an arc, side by side, are one
    word of the picture."""
    tags = list(tags)
    spans = [*(span for span, _ in tags), *(span for edge in edges for span in edge[:2])]
    places = _places(sentence, spans, joins_others)
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
            arcs.append(
                {"start": low, "end": high, "label": escape(visible(label)), "dir": direction}
            )
    words = [
        {"text": _shortened(tokens), "tag": escape(visible(BETWEEN.join(below[place])))}
        for place, tokens in texts.items()
    ]
    distance = _PIXELS * max(_width(text) for each in (*words, *arcs) for text in _shown(each))
    options = {
        "distance": distance + 2 * _PIXELS,
        "offset_x": distance / 2 + _PIXELS,
        "arrow_spacing": _PIXELS,
        "font": FONTS,
    }
    settings = displacy.get_doc_settings(sentence.doc)
    svg = _drawn({"words": words, "arcs": arcs, "settings": settings}, "dep", options)
    return _upright(svg) if settings["direction"] == "rtl" else svg


def _upright(svg: str) -> str:
    """The same with all arcs from left to right: their labels follow them, and stood on their heads
    over text from right to left."""
    svg = svg.replace('side="right"', 'side="left"')
    return _ARC.sub(lambda arc: f"{arc[1]}M{arc[5]} C{arc[4]} {arc[3]} {arc[2]}{arc[6]}", svg)


def _drawn(parsed: dict[str, Any], style: str, options: dict[str, Any] | None = None) -> str:
    picture: str = displacy.render(parsed, style, jupyter=False, options=options or {}, manual=True)
    return picture.strip()


def _shown(drawn: dict[str, Any]) -> list[str]:
    return [drawn[name] for name in ("text", "tag", "label") if name in drawn]


def _shortened(tokens: Sequence[str]) -> str:
    text = "".join(tokens).strip()
    if len(tokens) > MOST_TOKENS:
        text = f"{''.join(tokens[:2]).strip()} … {tokens[-1].strip()}"
    if len(text) > MOST_LETTERS:
        text = f"{text[: MOST_LETTERS // 2]}…{text[-MOST_LETTERS // 4 :]}"
    return visible(text)


def _width(text: str) -> int:
    """In letters; those of East Asian scripts count twice. No word is narrower than eight: an arc
    from one to the next has room for a label."""
    return max(8, sum(1 + (east_asian_width(letter) in "WF") for letter in text))


def _places(sentence: Span, spans: Sequence[Span], joins_others: bool) -> list[int]:
    """The number of the word of the picture in which each token is."""
    bounds = sorted({(span.start, span.end) for span in spans})
    whole = [
        (start, end)
        for start, end in bounds
        if end - start > 1 and sum(low < end and start < high for low, high in bounds) == 1
    ]
    joined = {token for start, end in whole for token in range(start + 1, end)}
    joined |= {token.i for token in sentence[1:] if _is_blank(token)}
    if joins_others:
        drawn = {token for start, end in bounds for token in range(start, end)}
        others = [token.i for token in sentence if token.i not in drawn]
        joined |= {after for before, after in pairwise(others) if after == before + 1}
    places: list[int] = []
    for token in range(sentence.start, sentence.end):
        places.append((places[-1] if places else -1) + (token not in joined))
    return places
