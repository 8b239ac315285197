"""The page as HTML. Whatever comes from a text or a pipeline is escaped on its way into it."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from spacy.tokens import Doc, Span, Token

from ..doc.graphs import DEP_GRAPH, FRAMES, RELATIONS, has_graph
from ..doc.layers import entity_groups
from ..doc.scores import token_score_names
from ..pictures.displacy import (
    dep_graph_svg,
    entities_html,
    frames_svg,
    relations_svg,
    trees_svg,
    visible,
)
from .style import CSS

SURE = 0.9
"""Probabilities below it are marked as unsure."""

DOUBTFUL = 0.5

Cell = str | float | None
"""Text; a probability; nothing."""


def page(
    title: str,
    max_length: int,
    text: str = "",
    below: str = "",
    *,
    examples: Sequence[str] = (),
    card: str = "",
) -> str:
    """The whole page: the form with a text in it, HTML below it, and a card of the pipeline.

    examples: texts that a click analyses.
    """
    # A line end right behind the tag would get lost.
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{CSS}</style>
</head>
<body>
<header><h1>spacy-biaffine</h1><span class="faint">{escape(title)}</span></header>
<main>
<form method="post" action="/" accept-charset="utf-8">
<label for="text">Text</label>
<textarea id="text" name="text" dir="auto" autofocus required maxlength="{max_length}">
{escape(visible(text))}</textarea>
<p><button>Analyse</button> <span class="faint">At most {max_length:,} characters.</span></p>
</form>
{_examples(examples)}
{below}
{card}
</main>
</body>
</html>
"""


def address(path: str, text: str) -> str:
    """The address of a text's analysis, as an attribute's value."""
    return escape(f"{path}?{urlencode({'text': text})}")


def links(text: str) -> str:
    """Where the analysis of a text can be found again, and taken away."""
    return (
        f'<p class="links"><a href="{address("/", text)}">Link to this analysis</a> '
        f'<a href="{address("/analysis.conllu", text)}" download>CoNLL-U</a> '
        f'<a href="{address("/analysis.json", text)}" download>JSON</a> '
        f'<a href="{address("/analysis.svg", text)}" download>SVG</a></p>'
    )


def _examples(examples: Sequence[str]) -> str:
    if not examples:
        return ""
    items = "".join(
        f'<li><a href="{address("/", example)}" dir="auto">{escape(example)}</a></li>'
        for example in examples
    )
    return f'<nav aria-label="Examples"><ul class="examples">{items}</ul></nav>'


def model_card(meta: Mapping[str, Any]) -> str:
    """What is known of a pipeline, folded: its description, licence and scores."""
    facts = [(name, str(meta.get(name) or "")) for name in ("description", "license", "author")]
    scores = (meta.get("performance") or {}).items()
    numbers = [(name, f"{value:.4f}") for name, value in scores if isinstance(value, float)]
    shown = [(name, value) for name, value in facts if value] + numbers
    if not shown:
        return ""
    note = (
        "<p>Scores are those that it was saved with, as a rule on its own development set. "
        "On other texts expect less.</p>"
        if numbers
        else ""
    )
    table = _table(("", ""), shown)
    return f"<details><summary>About this pipeline</summary>{note}{table}</details>"


def message(text: str) -> str:
    """A message below the form."""
    return f'<section class="message" role="alert"><p>{escape(text)}</p></section>'


def analysis(doc: Doc) -> str:
    """All that is on a Doc, layer by layer, below the form."""
    keys = [*([None] if doc.has_annotation("ENT_IOB") else []), *entity_groups(doc)]
    sections = [
        *(_entities(doc, key) for key in keys),
        _section("Trees", _pictures("Dependency tree", trees_svg(doc))) if _has_tree(doc) else "",
        _roles(doc) if has_graph(doc, FRAMES) else "",
        _relations(doc) if has_graph(doc, RELATIONS) else "",
        _graph(doc) if has_graph(doc, DEP_GRAPH) else "",
        _tokens(doc),
    ]
    names = re.findall(r'<section id="([^"]*)"><h2>(.*?)</h2>', "".join(sections))
    jumps = "".join(f'<a href="#{place}">{name}</a> ' for place, name in names)
    return "\n".join([f'<nav class="links" aria-label="Layers">{jumps}</nav>', *sections])


def _has_tree(doc: Doc) -> bool:
    return doc.has_annotation("DEP")


def _entities(doc: Doc, spans_key: str | None) -> str:
    name = "Entities" if spans_key is None else f"Entities in the group {spans_key}"
    if spans_key is None:
        found = [(entity, entity._.ent_score) for entity in doc.ents]
    else:
        group = doc.spans[spans_key]
        scores = group.attrs.get("scores", ())
        if len(scores) != len(group):
            scores = [None] * len(group)
        found = list(zip(group, scores, strict=True))
    if not found:
        return _section(name, _none())
    rows = [
        (span.text, span.label_, "" if score is None else f"{score:.2f}") for span, score in found
    ]
    # Scores of spans are no probabilities: the higher, the surer.
    has_scores = any(score is not None for _, score in found)
    header = ("entity", "type", "score")[: 2 + has_scores]
    table = _table(header, [row[: len(header)] for row in rows])
    marked = f'<div class="scroll" tabindex="0">{entities_html(doc, spans_key)}</div>'
    return _section(name, marked + table)


def _roles(doc: Doc) -> str:
    rows: list[Sequence[Cell]] = []
    starts = set()
    for frame in doc._.frames:
        starts.add(len(rows))
        rows.append((_words(frame.predicate), frame.sense or "", "predicate", "", frame.score))
        rows += [("", "", role.label, _words(role.spans), role.score) for role in frame.roles]
    header = ("predicate", "sense", "role", "words", "probability")
    pictures = _pictures("Predicate with its roles", frames_svg(doc))
    return _section("Roles", (_table(header, rows, starts) + pictures) if rows else _none())


def _relations(doc: Doc) -> str:
    rows = [(r.head.text, r.label, r.tail.text, r.score) for r in doc._.relations]
    table = _table(("from", "relation", "to", "probability"), rows)
    pictures = _pictures("Relations", relations_svg(doc))
    return _section("Relations", (table + pictures) if rows else _none())


def _graph(doc: Doc) -> str:
    pictures = _pictures("Dependency graph", dep_graph_svg(doc))
    return _section("Dependency graph", pictures or _none())


def _tokens(doc: Doc) -> str:
    columns = [
        ("", True, lambda token: str(token.i + 1)),
        ("token", True, lambda token: token.text),
        ("tag", doc.has_annotation("TAG"), lambda token: token.tag_),
        ("part of speech", doc.has_annotation("POS"), lambda token: token.pos_),
        ("features", doc.has_annotation("MORPH"), lambda token: str(token.morph)),
        ("lemma", doc.has_annotation("LEMMA"), lambda token: token.lemma_),
        ("label", _has_tree(doc), lambda token: token.dep_),
        ("head", _has_tree(doc), _head),
    ]
    columns += [(_column(name), True, _score(name)) for name in token_score_names(doc)]
    shown = [(name, read) for name, is_there, read in columns if is_there]
    words = [token for token in doc if not token.is_space]
    rows = [[read(token) for _, read in shown] for token in words]
    starts = {number for number, token in enumerate(words) if token.is_sent_start}
    return _section("Tokens", _table([name for name, _ in shown], rows, starts))


def _head(token: Token) -> str:
    return "root" if token.head.i == token.i else f"{token.head.i + 1} {token.head.text}"


def _column(name: str) -> str:
    """head_prob: head probability; tag_scores: tag probability."""
    return name.removesuffix("_prob").removesuffix("_scores").replace("_", " ") + " probability"


def _score(name: str) -> Callable[[Token], float | None]:
    """The probability of a token, of a distribution that of its best label."""

    def read(token: Token) -> float | None:
        score = token._.get(name) if Token.has_extension(name) else None
        return max(score.values(), default=None) if isinstance(score, dict) else score

    return read


def _words(spans: Iterable[Span]) -> str:
    return " … ".join(span.text for span in spans)


def _section(name: str, content: str) -> str:
    place = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f'<section id="{place}"><h2>{escape(name)}</h2>\n{content}</section>'


def _none() -> str:
    return '<p class="faint">None found.</p>'


def _pictures(name: str, pictures: Sequence[str]) -> str:
    """Each can be scrolled with the keyboard."""
    return "\n".join(
        f'<figure class="scroll" tabindex="0" role="group" '
        f'aria-label="{escape(name)} {number} of {len(pictures)}">{picture}</figure>'
        for number, picture in enumerate(pictures, 1)
    )


def _table(
    header: Sequence[str], rows: Iterable[Sequence[Cell]], starts: Iterable[int] = ()
) -> str:
    """starts: rows that begin something new."""
    names = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    first = set(starts)
    body = "\n".join(
        f"<tr{' class=starts' if number in first else ''}>{''.join(map(_cell, row))}</tr>"
        for number, row in enumerate(rows)
    )
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{names}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(value: Cell) -> str:
    if isinstance(value, float):
        mark = "" if value >= SURE else " unsure" if value >= DOUBTFUL else " doubtful"
        return f'<td class="number{mark}">{100 * value:.1f} %</td>'
    return f'<td dir="auto">{escape(visible(value or ""))}</td>'
