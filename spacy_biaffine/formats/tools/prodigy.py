"""Prodigy's JSON lines <-> texts with entities and relations, on the tool's tokens."""

import json
from typing import Any

from spacy.tokens import Doc, Span

from ..common.lines import FormatError
from ..common.records import Record, count_rest
from ..relations.to_docs import ENTITIES
from .spans import Annotation, offsets
from .texts import AnnotatedText, Link, Parse, ToolReport, keep_rest, place_in_text
from .texts import offsets as checked

_KNOWN = ("text", "tokens", "spans", "relations", "answer")
_SPAN = ("start", "end", "token_start", "token_end", "label", "text")
_RELATION = ("head", "child", "head_span", "child_span", "label")


def prodigy() -> Parse:
    """{"text": , "tokens": , "spans": , "relations": , "answer": }; rejects and ignores are passed
    over."""
    return _parse


def _parse(place: str, record: Record, report: ToolReport) -> AnnotatedText | None:
    answer = record.get("answer", "accept")
    if answer != "accept":
        if answer not in ("reject", "ignore"):
            detail = f"the answer must be accept, reject or ignore, not {answer!r:.40}"
            raise FormatError(place, "answer", detail)
        report.passed_over[answer] += 1
        return None
    found = AnnotatedText(record["text"], meta=keep_rest(record, _KNOWN, {}))
    if "tokens" in record:
        found.tokens = [(token["start"], token["end"]) for token in record["tokens"]]
    if "spans" not in record and "relations" not in record:
        return found
    found.entities = {}
    for span in record.get("spans") or ():
        count_rest(span, _SPAN, "of an entity:", report)
        report.not_kept["spans without a label"] += not span.get("label")
        _add(found, span, place)
    if "relations" in record:
        found.links = [_link(found, each, place, report) for each in record["relations"]]
    return found


def _add(found: AnnotatedText, span: Record, place: str) -> Any:
    """The key of a span, which is an entity of the text from here on."""
    assert found.entities is not None
    label = span.get("label") or ""
    key = (span["start"], span["end"], label)
    check = checked if label else place_in_text
    found.entities[key] = check(*key, place, span.get("text"))
    return key


def _link(found: AnnotatedText, each: Record, place: str, report: ToolReport) -> Link:
    count_rest(each, (*_RELATION, "color"), "of a relation:", report)
    ends = []
    for name in ("head", "child"):
        span = each.get(f"{name}_span")
        ends.append(_add(found, span, place) if span else _at(found, each[name], place))
    return Link(ends[0], ends[1], each["label"])


def _at(found: AnnotatedText, token: Any, place: str) -> Any:
    """The entity that ends with a token, or else the token."""
    if found.tokens is None or type(token) is not int or not 0 <= token < len(found.tokens):
        detail = f"a relation names token {token!r:.40}, which is not among the tokens"
        raise FormatError(place, "relation", detail)
    start, end = found.tokens[token]
    ending = [key for key in found.entities or () if key[1] == end]
    return ending[0] if ending else _add(found, {"start": start, "end": end}, place)


def prodigy_text(doc: Doc, number: int = 1, spans_key: str = ENTITIES) -> str:
    """A Doc as a line, answered with accept."""
    found = Annotation(doc, spans_key)
    record: dict[str, Any] = {"text": doc.text}
    record["tokens"] = [
        {
            "text": token.text,
            "start": token.idx,
            "end": token.idx + len(token),
            "id": token.i,
            "ws": bool(token.whitespace_),
        }
        for token in doc
    ]
    if found.entities is not None:
        record["spans"] = [_span(span) for span in found.entities if span.label]
    if found.relations is not None:
        record["relations"] = [
            {
                "head": each.head.end - 1,
                "child": each.tail.end - 1,
                "head_span": _span(each.head),
                "child_span": _span(each.tail),
                "label": each.label,
            }
            for each in found.relations
        ]
    record = {**found.meta, **record, "answer": "accept"}
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def _span(span: Span) -> dict[str, Any]:
    tokens = {"token_start": span.start, "token_end": span.end - 1}
    return {**offsets(span), **tokens, "label": span.label_ or None}
