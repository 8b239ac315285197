"""A Doc -> an object of JSON with every layer; `schema.json` says what stands where."""

import json
from typing import Any

from spacy.tokens import Doc, Span, Token

from ...doc.graphs import DEP_GRAPH, FRAMES, RELATIONS, WORD_FRAMES, Frame, frames_of, has_graph
from ...doc.layers import entity_groups, has_sentences
from ...doc.scores import TOKEN_LABELS, TOKEN_SCORES, blocked_tokens, token_values
from ..conllu.kept import GROUP
from ..entities.json_offsets import KEYS

FORMAT = "spacy-biaffine.layers.v1"

VALUES = {"token_labels": TOKEN_LABELS, "token_scores": TOKEN_SCORES}
"""Keys of the object with lists by name, a value a token, and the groups that keep them."""

Record = dict[str, Any]


def layers_text(doc: Doc, number: int = 1) -> str:
    """`to_layers_json` as a line. Raises ValueError as there."""
    return json.dumps(to_layers_json(doc), ensure_ascii=False, allow_nan=False) + "\n"


def to_layers_json(doc: Doc) -> Record:
    """A Doc with all its layers as plain data, see docs/layers.md.

    A layer that the Doc is not annotated with has no key; one that is there and empty is [].
    Raises ValueError for spans without characters, and for data that JSON can't hold.
    """
    record: Record = {"format": FORMAT, "text": doc.text}
    record["tokens"] = [_token(token) for token in doc]
    if doc.has_unknown_spaces:
        record["unknown_spaces"] = True
    _add_sentences(doc, record)
    numbers = _Numbers(doc)
    _add_entities(doc, record, numbers)
    _add_groups(doc, record, numbers)
    _add_graphs(doc, record, numbers)
    for name, key in VALUES.items():
        if values := token_values(doc, key):
            record[name] = _plain(values, name)
    if doc.cats:
        record["cats"] = _plain(doc.cats, "cats")
    if doc.user_data.get(KEYS):
        record["meta"] = _plain(doc.user_data[KEYS], "meta")
    return record


class _Numbers:
    """Ids of spans: equal spans of all layers have the same one."""

    def __init__(self, doc: Doc) -> None:
        self._ids: dict[tuple[int, int, str, str], int] = {}
        self._doc = doc

    def object(self, span: Span) -> Record:
        """The span with its id."""
        found: Record = {"id": self.of(span), **offsets(span), "label": span.label_}
        return found | ({"kb_id": span.kb_id_} if span.kb_id else {})

    def of(self, span: Span) -> int:
        key = (span.start, span.end, span.label_, span.kb_id_)
        return self._ids.setdefault(key, len(self._ids))

    def knows(self, span: Span) -> bool:
        return (span.start, span.end, span.label_, span.kb_id_) in self._ids


def offsets(span: Span) -> Record:
    """Where it stands in the text. Raises ValueError for a span without characters."""
    if span.end_char <= span.start_char:
        raise ValueError(f"a span at token {span.start} has no characters, and no place in JSON")
    return {"start": span.start_char, "end": span.end_char}


def _token(token: Token) -> Record:
    if not token.text:
        raise ValueError(f"token {token.i} has no characters, and no place in JSON")
    found: Record = {"start": token.idx, "end": token.idx + len(token)}
    if token.norm_ not in ("", token.text.lower()):
        found["norm"] = token.norm_
    values = {"tag": token.tag_, "pos": token.pos_, "lemma": token.lemma_}
    found |= {name: value for name, value in values.items() if value}
    if token.has_morph():
        found["morph"] = str(token.morph)
    if token.dep or token.head.i != token.i:
        found["head"] = token.head.i
    if token.dep:
        found["dep"] = token.dep_
    return found


def _add_sentences(doc: Doc, record: Record) -> None:
    """Sentences; where it is not known of every token whether one starts, on the tokens."""
    starts = [int(value) for value in doc.to_array(["SENT_START"]).reshape(-1).astype("int64")]
    if all(starts) and starts[:1] == [1] and has_sentences(doc):
        record["sentences"] = [offsets(sentence) for sentence in doc.sents]
        return
    # The first token of any Doc is marked, whether the others are or not.
    for token, start in zip(record["tokens"], starts, strict=True):
        if start != (1 if token["start"] == 0 else 0):
            token["sent_start"] = {1: True, -1: False, 0: None}[start]


def _add_entities(doc: Doc, record: Record, numbers: _Numbers) -> None:
    known = [token.ent_iob != 0 for token in doc]
    if not any(known):
        return
    record["entities"] = [
        numbers.object(span) | ({"ent_id": span.ent_id_} if span.ent_id_ else {})
        for span in doc.ents
    ]
    for entity, span in zip(record["entities"], doc.ents, strict=True):
        entity.update(_score(span._.ent_score))
    unknown = [offsets(doc[i : i + 1]) for i, is_known in enumerate(known) if not is_known]
    blocked = [offsets(span) for span in blocked_tokens(doc)]
    record |= {"entities_unknown": unknown} if unknown else {}
    record |= {"entities_blocked": blocked} if blocked else {}


def _add_groups(doc: Doc, record: Record, numbers: _Numbers) -> None:
    keys = entity_groups(doc)
    keys += [key for key in (GROUP, "conllu") if key in doc.spans]
    attrs = {}
    for key in keys:
        group = doc.spans[key]
        spans = [
            numbers.object(span) | ({"span_id": span.id_} if span.id else {}) for span in group
        ]
        # spaCy's spancat keeps its scores in an array.
        rest = {
            name: value.tolist() if hasattr(value, "tolist") else value
            for name, value in group.attrs.items()
        }
        if spans and _are_scores(rest.get("scores"), len(spans)):
            for span, score in zip(spans, rest.pop("scores"), strict=True):
                span["score"] = score
        record.setdefault("spans", {})[key] = spans
        if rest:
            attrs[key] = _plain(rest, f"the attrs of the span group {key}")
    record |= {"span_attrs": attrs} if attrs else {}


def _are_scores(scores: Any, size: int) -> bool:
    is_list = isinstance(scores, list) and len(scores) == size
    return is_list and all(type(score) is float for score in scores)


def _add_graphs(doc: Doc, record: Record, numbers: _Numbers) -> None:
    if has_graph(doc, RELATIONS):
        relations = doc._.relations
        ends = [span for each in relations for span in (each.head, each.tail)]
        further = {numbers.of(s): s for s in ends if not numbers.knows(s)}
        if further:
            record["relation_ends"] = [numbers.object(span) for span in further.values()]
        record["relations"] = [
            {"head": numbers.of(each.head), "tail": numbers.of(each.tail), "label": each.label}
            | _score(each.score)
            for each in relations
        ]
    if has_graph(doc, DEP_GRAPH):
        record["dep_graph"] = [
            {
                "head": None if arc.head is None else arc.head.i,
                "dependent": arc.dependent.i,
                "label": arc.label,
            }
            | _score(arc.score)
            for arc in doc._.dep_graph
        ]
    for key in (FRAMES, WORD_FRAMES):
        if has_graph(doc, key):
            record[key] = [_frame(frame) for frame in frames_of(doc, key)]


def _frame(frame: Frame) -> Record:
    roles = [
        {"label": role.label, "spans": [offsets(span) for span in role.spans]} | _score(role.score)
        for role in frame.roles
    ]
    predicate = [offsets(span) for span in frame.predicate]
    return {"predicate": predicate, "sense": frame.sense, "roles": roles} | _score(frame.score)


def _score(score: float | None) -> Record:
    return {} if score is None else {"score": score}


def _plain(value: Any, name: str) -> Any:
    """The same value, if JSON gives it back. Raises ValueError otherwise."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"JSON can't hold {name}: {error}") from error
    if json.loads(text) != _with_lists(value):
        raise ValueError(f"JSON can't hold {name}: keys must be strings")
    return value


def _with_lists(value: Any) -> Any:
    """The value with lists for tuples."""
    if isinstance(value, dict):
        return {key: _with_lists(each) for key, each in value.items()}
    return [_with_lists(each) for each in value] if isinstance(value, list | tuple) else value
