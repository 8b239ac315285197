"""Label Studio's JSON: tasks with annotations <-> texts with entities and relations."""

import json
from typing import Any

from spacy.tokens import Doc

from ...doc.graphs import Relation
from ..common.lines import FormatError
from ..common.records import Record, count_rest
from ..entities.to_docs import Offsets
from ..relations.to_docs import ENTITIES
from .spans import Annotation
from .spans import offsets as place_of
from .texts import AnnotatedText, Link, Parse, ToolReport, keep_rest
from .texts import offsets as checked

UNNAMED = "relation"
"""The type of relations without a label."""

_VALUE = (
    *("start", "end", "text", "labels", "hypertextlabels", "startOffset", "endOffset"),
    "globalOffsets",
)
_TASK = ("data", "annotations", "completions", "predictions")


def label_studio(*, text_key: str = "text") -> Parse:
    """Tasks of `<Labels>` on `<Text>`, or on `<HyperText>` without markup. text_key: which value of
    "data" is the text. Of several annotations of a task the first that is not cancelled counts."""

    def parse(place: str, task: Record, report: ToolReport) -> AnnotatedText:
        data = task["data"]
        if text_key not in data:
            detail = f"data has no {text_key}, but {', '.join(map(str, data))}; see --text-key"
            raise FormatError(place, "text", detail)
        meta = keep_rest(task, _TASK, {key: data[key] for key in data if key != text_key})
        found = AnnotatedText(data[text_key], meta=meta)
        chosen = _chosen(task, report)
        if chosen is not None:
            _read(found, chosen["result"], place, report)
        return found

    return parse


def _chosen(task: Record, report: ToolReport) -> Record | None:
    annotations = task.get("annotations", task.get("completions")) or []
    given = [each for each in annotations if not each.get("was_cancelled")]
    report.not_kept["cancelled annotations"] += len(annotations) - len(given)
    given = given or task.get("predictions") or []
    report.not_kept["further annotations of a text"] += max(len(given) - 1, 0)
    return given[0] if given else None


def _read(found: AnnotatedText, result: list[Record], place: str, report: ToolReport) -> None:
    found.entities, found.links = {}, []
    relations = []
    for each in result:
        kind = each["type"]
        if kind == "relation":
            relations.append(each)
        elif kind in ("labels", "hypertextlabels"):
            value = each["value"]
            count_rest(value, _VALUE, "of an entity:", report)
            labels = value.get(kind) or value.get("labels") or []
            report.not_kept["regions without a label"] += not labels
            for number, label in enumerate(labels):
                key = (each["id"], number)
                if key in found.entities:
                    raise FormatError(place, "id", f"the id {each['id']!r:.40} stands twice")
                found.entities[key] = _offsets(found.text, value, label, place)
        else:
            report.not_kept[f"results of the type {kind}"] += 1
    for each in relations:
        found.links += _links(each)


def _offsets(text: Any, value: Record, label: Any, place: str) -> Offsets:
    start, end = value["start"], value["end"]
    if "globalOffsets" in value:
        start, end = value["globalOffsets"]["start"], value["globalOffsets"]["end"]
    elif isinstance(start, str) and "startOffset" in value:
        start, end = value["startOffset"], value["endOffset"]
    found = checked(start, end, label, place, value.get("text"))
    if isinstance(text, str) and found.surface not in (None, text[found.start : found.end]):
        units = text.encode("utf-16-le", "surrogatepass")
        before = units[: 2 * found.start].decode("utf-16-le", "replace")
        inside = units[2 * found.start : 2 * found.end].decode("utf-16-le", "replace")
        if inside == found.surface:  # counted as browsers do
            return Offsets(len(before), len(before) + len(inside), found.label, inside)
    return found


def _links(each: Record) -> list[Link]:
    head, tail = (each["from_id"], 0), (each["to_id"], 0)
    direction = each.get("direction", "right")
    found = []
    for label in each.get("labels") or [UNNAMED]:
        found += [Link(tail, head, label)] if direction in ("left", "bi") else []
        found += [Link(head, tail, label)] if direction != "left" else []
    return found


def label_studio_text(doc: Doc, number: int = 1, spans_key: str = ENTITIES) -> str:
    """A Doc as a task with predictions, for `<Labels name="label" toName="text">`.

    There are none where it is not annotated.
    """
    found = Annotation(doc, spans_key)
    meta = {key: value for key, value in found.meta.items() if key != "id"}
    task: dict[str, Any] = {"data": {**meta, "text": doc.text}}
    if found.entities is not None:
        result: list[dict[str, Any]] = [
            {
                "id": f"e{at}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
                "value": {**place_of(span), "text": span.text, "labels": [span.label_]},
            }
            for at, span in enumerate(found.entities)
        ]
        result += [_relation(found, each) for each in found.relations or ()]
        task["predictions"] = [{"model_version": "spacy-biaffine", "result": result}]
    return json.dumps(task, ensure_ascii=False, allow_nan=False)


def _relation(found: Annotation, each: Relation) -> dict[str, Any]:
    ends = {"from_id": f"e{found.number(each.head)}", "to_id": f"e{found.number(each.tail)}"}
    return {"type": "relation", "direction": "right", **ends, "labels": [each.label]}
