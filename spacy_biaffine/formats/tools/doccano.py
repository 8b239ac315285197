"""doccano's JSON lines, of sequence labelling and of relations <-> texts with both."""

import json
from typing import Any

from spacy.tokens import Doc

from ..common.lines import FormatError
from ..common.records import Record, count_rest
from ..relations.to_docs import ENTITIES
from .spans import Annotation, offsets
from .texts import AnnotatedText, Link, Parse, ToolReport, keep_rest
from .texts import offsets as checked

_LISTS = ("label", "labels")


def doccano() -> Parse:
    """{"text": , "label": [[start, end, label]]}, or {"text": , "entities": [{"id": , "label": ,
    "start_offset": , "end_offset": }], "relations": [{"from_id": , "to_id": , "type": }]}."""
    return _parse


def _parse(place: str, record: Record, report: ToolReport) -> AnnotatedText:
    keys = [key for key in (*_LISTS, "entities") if key in record]
    known = ("text", "relations", *keys, *(["Comments"] if not record.get("Comments") else []))
    found = AnnotatedText(record["text"], meta=keep_rest(record, known, {}))
    if not keys:
        return found
    found.entities = {}
    for key in keys:
        for number, each in enumerate(record[key]):
            if key == "entities":
                count_rest(
                    each, ("id", "label", "start_offset", "end_offset"), "of an entity:", report
                )
                name, parts = each["id"], (each["start_offset"], each["end_offset"], each["label"])
            else:
                name, parts = (key, number), tuple(each)
            if len(parts) != 3:
                raise FormatError(place, "form", f"an entity needs start, end, label: {each!r:.60}")
            if name in found.entities:
                raise FormatError(place, "id", f"the id {name!r:.40} stands twice")
            found.entities[name] = checked(*parts, place)
    if "relations" in record:
        found.links = []
        for each in record["relations"]:
            count_rest(each, ("id", "from_id", "to_id", "type"), "of a relation:", report)
            found.links.append(Link(each["from_id"], each["to_id"], each["type"]))
    return found


def doccano_text(doc: Doc, number: int = 1, spans_key: str = ENTITIES) -> str:
    """A Doc as a line: with ids where it is annotated with relations, else as label."""
    found = Annotation(doc, spans_key)
    record: dict[str, Any] = {**found.meta, "text": doc.text}
    entities = found.entities or []
    if found.relations is not None:
        record["entities"] = [
            {
                "id": at,
                "label": span.label_,
                "start_offset": offsets(span)["start"],
                "end_offset": offsets(span)["end"],
            }
            for at, span in enumerate(entities)
        ]
        record["relations"] = [
            {
                "id": at,
                "from_id": found.number(each.head),
                "to_id": found.number(each.tail),
                "type": each.label,
            }
            for at, each in enumerate(found.relations)
        ]
    elif found.entities is not None:
        record["label"] = [[*offsets(span).values(), span.label_] for span in entities]
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
