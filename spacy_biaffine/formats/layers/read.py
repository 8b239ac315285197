"""Objects of JSON with every layer -> Docs; `schema.json` says what stands where."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from spacy.attrs import ENT_ID, ENT_IOB, ENT_KB_ID, ENT_TYPE, SENT_START
from spacy.tokens import Doc, Span, SpanGroup
from spacy.vocab import Vocab

from ...doc.graphs import (
    FRAMES,
    WORD_FRAMES,
    Arc,
    Frame,
    Relation,
    Role,
    set_arcs,
    set_frames,
    set_relations,
)
from ...doc.scores import set_ent_scores, set_token_values
from ..common.lines import UTF8, FormatError, Skipped
from ..common.records import json_records
from ..entities.json_offsets import KEYS
from .checks import Checked, Record
from .tokens import TokenTable
from .write import FORMAT, VALUES

_KEYS = (
    *("format", "text", "tokens", "unknown_spaces", "sentences", "entities", "entities_unknown"),
    *("entities_blocked", "spans", "span_attrs", "relation_ends", "relations", "dep_graph"),
    *(FRAMES, WORD_FRAMES, *VALUES, "cats", "meta"),
)

_SPAN_KEYS = ("id", "start", "end", "label", "kb_id", "score")


@dataclass
class LayersReport(Skipped):
    """Counts filled while reading."""

    texts: int = 0

    def rows(self) -> list[tuple[str, int]]:
        return [("texts", self.texts)]


def read_layers(
    path: Path,
    vocab: Vocab,
    *,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: LayersReport | None = None,
) -> Iterator[Doc]:
    """A Doc for each object of a line, or of an array. Raises FormatError, with file and line."""
    report = LayersReport() if report is None else report
    for place, load in json_records(path, encoding):
        make = partial(_made, place, load, vocab)
        for doc in report.attempt(make, skip_bad=skip_bad):
            report.texts += 1
            yield doc


def _made(place: str, load: Any, vocab: Vocab) -> Doc:
    return from_layers_json(load(), vocab, place)


def from_layers_json(record: Record, vocab: Vocab, place: str = "layers") -> Doc:
    """The Doc of an object that `to_layers_json` gave. place: for messages.

    Raises FormatError, a ValueError, for what is not of this form.
    """
    top = Checked(record, place, "the object")
    if record.get("format") != FORMAT:
        raise top.error(f'needs "format": "{FORMAT}"')
    top.only(*_KEYS)
    table = TokenTable(top, vocab)
    _fill_sentences(top, table)
    entities = _fill_entities(top, table)
    try:
        doc = table.finish()
        spans = _Spans(table)
        for entity in entities:
            spans.take(entity)
        _set_groups(top, doc, spans, entities)
        _set_graphs(top, doc, spans)
    except FormatError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise FormatError(place, "layers", str(error)) from error
    _set_values(top, doc)
    return doc


class _Spans:
    """Spans of the text, and those of them that have an id."""

    def __init__(self, table: TokenTable) -> None:
        self._table = table
        self._by_id: dict[int, Span] = {}

    def take(self, each: Checked, *further: str) -> Span:
        """A span with its label, known by its id from here on."""
        each.only(*_SPAN_KEYS, "ent_id", *further)
        start, end = self._table.span(each)
        span = Span(self._table.doc, start, end, each.text("label"), kb_id=each.text("kb_id", ""))
        number = each.record.get("id")
        if number is not None and type(number) is not int:
            raise each.error(f"needs a whole number as id, not {number!r:.40}")
        known = span if number is None else self._by_id.setdefault(number, span)
        if _key(known) != _key(span):
            raise each.error(f"has the id {number}, which another span has")
        return span

    def plain(self, each: Checked) -> Span:
        """A span without a label."""
        each.only("start", "end")
        start, end = self._table.span(each)
        return self._table.doc[start:end]

    def of(self, each: Checked, key: str) -> Span:
        """The span whose id stands under a key."""
        number = each.record.get(key)
        if type(number) is not int or number not in self._by_id:
            raise each.error(f"needs the id of a span as {key}, not {number!r:.40}")
        return self._by_id[number]


def _key(span: Span) -> tuple[int, int, str, str]:
    return span.start, span.end, span.label_, span.kb_id_


def _fill_sentences(top: Checked, table: TokenTable) -> None:
    if "sentences" not in top.record:
        return
    end = 0
    for sentence in top.objects("sentences", "a sentence"):
        sentence.only("start", "end")
        first, after = table.span(sentence)
        if first != end:
            raise sentence.error(f"begins at token {first}; the one before ends at {end}")
        for number in range(first, after):
            table.set_code(number, SENT_START, 1 if number == first else -1)
        end = after
    if end != len(table.doc):
        raise top.error(f"has sentences up to token {end} of {len(table.doc)}")


def _fill_entities(top: Checked, table: TokenTable) -> list[Checked]:
    """Write entities to the tokens; returns their objects."""
    if "entities" not in top.record:
        return []
    iob = [2] * len(table.doc)
    entities = top.objects("entities", "an entity")
    for entity in entities:
        first, after = table.span(entity)
        if set(iob[first:after]) != {2}:
            raise entity.error("overlaps another one; put overlapping spans into a group of spans")
        iob[first:after] = [3] + [1] * (after - first - 1)
        for number in range(first, after):
            table.set(number, ENT_TYPE, entity.text("label"))
            table.set(number, ENT_KB_ID, entity.text("kb_id", ""))
            table.set(number, ENT_ID, entity.text("ent_id", ""))
    for key, code in (("entities_unknown", 0), ("entities_blocked", 3)):
        for each in top.objects(key, "a span"):
            first, after = table.span(each)
            iob[first:after] = [code] * (after - first)
    for number, code in enumerate(iob):
        table.set_code(number, ENT_IOB, code)
    return entities


def _set_groups(top: Checked, doc: Doc, spans: _Spans, entities: list[Checked]) -> None:
    attrs = top.object("span_attrs")
    groups = top.object("spans")
    for key in groups:
        objects = [
            Checked(each, top.place, "a span")
            for each in Checked({"spans": groups[key]}, top.place, f"the group {key}").items(
                "spans"
            )
        ]
        _set_group(
            doc, key, objects, spans, dict(Checked(attrs.get(key, {}), top.place, key).record)
        )
    unknown = set(attrs) - set(groups)
    if unknown:
        raise top.error(f"has span_attrs of no group: {', '.join(sorted(unknown)):.60}")
    scores = [(spans.take(each, "ent_id"), each.score()) for each in entities]
    scored = {span: score for span, score in scores if score is not None}
    if scored:
        set_ent_scores(doc, scored)


def _set_group(doc: Doc, key: str, objects: list[Checked], spans: _Spans, attrs: Record) -> None:
    found = []
    for each in objects:
        span = spans.take(each, "span_id")
        span_id = each.text("span_id", each.text("ent_id", ""))
        found.append(Span(doc, span.start, span.end, span.label, kb_id=span.kb_id, span_id=span_id))
    scores = [each.score() for each in objects]
    if any(score is not None for score in scores):
        attrs["scores"] = scores
    doc.spans[key] = SpanGroup(doc, name=key, spans=found, attrs=attrs)


def _set_graphs(top: Checked, doc: Doc, spans: _Spans) -> None:
    for end in top.objects("relation_ends", "a span"):
        spans.take(end)
    if "relations" in top.record:
        set_relations(doc, [_relation(r, spans) for r in top.objects("relations", "a relation")])
    if "dep_graph" in top.record:
        set_arcs(doc, [_arc(each, doc) for each in top.objects("dep_graph", "an arc")])
    for key in (FRAMES, WORD_FRAMES):
        if key in top.record:
            set_frames(doc, [_frame(each, spans) for each in top.objects(key, "a frame")], key)


def _relation(each: Checked, spans: _Spans) -> Relation:
    each.only("head", "tail", "label", "score")
    head, tail = spans.of(each, "head"), spans.of(each, "tail")
    return Relation(head, tail, each.text("label"), each.score())


def _arc(each: Checked, doc: Doc) -> Arc:
    each.only("head", "dependent", "label", "score")
    is_root = each.record.get("head", ...) is None
    head = None if is_root else doc[each.number("head", len(doc))]
    return Arc(head, doc[each.number("dependent", len(doc))], each.text("label"), each.score())


def _frame(each: Checked, spans: _Spans) -> Frame:
    each.only("predicate", "sense", "roles", "score")
    predicate = tuple(map(spans.plain, each.objects("predicate", "a predicate")))
    sense = None if each.record.get("sense") is None else each.text("sense")
    roles = []
    for role in each.objects("roles", "a role"):
        role.only("label", "spans", "score")
        pieces = tuple(map(spans.plain, role.objects("spans", "a role")))
        roles.append(Role(role.text("label"), pieces, role.score()))
    return Frame(predicate, sense, tuple(roles), each.score())


def _set_values(top: Checked, doc: Doc) -> None:
    """Values of tokens in lists, categories, and what the file has beside."""
    for name, key in VALUES.items():
        if name not in top.record:
            continue
        columns = top.object(name)
        for column, values in columns.items():
            if not isinstance(values, list) or len(values) != len(doc):
                raise top.error(f"needs a list of {len(doc)} values as {column} in {name}")
        set_token_values(doc, key, columns)
    cats = top.object("cats")
    for label, score in cats.items():
        if type(score) not in (int, float):
            raise top.error(f"needs a number as {label} in cats, not {score!r:.40}")
    doc.cats = dict(cats)
    if top.object("meta"):
        doc.user_data[KEYS] = top.object("meta")
