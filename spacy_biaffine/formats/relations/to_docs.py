"""Entities and relations, by tokens, on a Doc; and what was counted meanwhile."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from spacy.tokens import Doc, Span
from spacy.util import filter_spans
from spacy.vocab import Vocab

from ...doc.graphs import Relation, set_relations
from ..common.lines import FormatError
from ..entities.report import EntityReport
from ..entities.to_docs import is_label, set_entities

ENTITIES = "entities"
"""The span group for entities, nested ones too, where no other is named."""

_ID = "id"


@dataclass
class RelationReport(EntityReport):
    """Counts filled while reading.

    arcs: edges of dependency graphs. frames: of semantic roles. Both count what is kept.
    without_deps: sentences whose graph is unknown. unfilled: words without DEPS in other sentences,
    which have no arc.
    """

    relations: int = 0
    arcs: int = 0
    frames: int = 0
    without_deps: int = 0
    unfilled: int = 0

    def rows(self) -> list[tuple[str, int]]:
        further = [
            ("arcs", self.arcs),
            ("frames", self.frames),
            ("sentences without DEPS, their graphs unknown", self.without_deps),
            ("words without DEPS beside others, no arc", self.unfilled),
        ]
        (texts, entities, *others) = super().rows()
        relations = ("relations", self.relations)
        return [texts, entities, relations, *filter(itemgetter(1), further), *others]


def doc_of(vocab: Vocab, words: Any, place: str) -> Doc:
    """A Doc of words, one sentence, a space after each. Raises FormatError at place."""
    if not isinstance(words, list) or not all(isinstance(w, str) and w.strip() for w in words):
        raise FormatError(place, "tokens", "the tokens must be a list of strings, none blank")
    doc = Doc(vocab, words=words)
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


def entity_of(doc: Doc, start: Any, end: Any, label: Any, place: str) -> Span:
    """doc[start:end] as an entity. Raises FormatError at place where there is none."""
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(doc):
        raise FormatError(
            place,
            "entity",
            f"the entity [{start!r}, {end!r}) {label!r} is not in the {len(doc)} tokens",
        )
    if not is_label(label):
        detail = f"an entity's type must be a string without blanks around it, not {label!r}"
        raise FormatError(place, "entity", detail)
    return Span(doc, start, end, label=label)


def relation_type(label: Any, place: str) -> str:
    """The label, if it can be the type of a relation. Raises FormatError at place where not."""
    if not is_label(label):
        detail = f"a relation's type must be a string without blanks around it, not {label!r}"
        raise FormatError(place, "relation", detail)
    return label


def check_no_relations(record: Mapping[str, Any], entities: str, place: str) -> None:
    """Raises FormatError for relations in a record without the entities that they join."""
    if "relations" in record:
        detail = f'it has "relations" and no "{entities}", which they join; give both, or neither'
        raise FormatError(place, "form", detail)


def annotate(
    doc: Doc,
    entities: Iterable[Span],
    relations: Iterable[tuple[Span, Span, str]] | None,
    place: str,
    *,
    spans_key: str,
    report: RelationReport,
    identifier: Any = None,
) -> Doc:
    """Put entities, each once, in a group, and their relations, each once, on doc._.relations.

    doc.ents gets the entities too; where some overlap, the longest. relations: None where they are
    not annotated. identifier: what `identifier_of` gives back.
    """
    set_entities(doc, entities, place, spans_key=spans_key, report=report)
    longest = filter_spans(doc.spans[spans_key])
    doc.set_ents(longest, default="outside")
    report.nested += len(doc.spans[spans_key]) - len(longest)
    if identifier is not None:
        doc.spans[spans_key].attrs[_ID] = _checked_id(identifier, place)
    if relations is not None:
        given = [Relation(*each) for each in relations]
        once = list(dict.fromkeys(given))
        set_relations(doc, once)
        report.relations += len(once)
        report.repeated += len(given) - len(once)
    return doc


def _checked_id(identifier: Any, place: str) -> Any:
    is_number = isinstance(identifier, int) and -(2**63) <= identifier < 2**64
    if not is_number and not isinstance(identifier, str):
        detail = f"the id {identifier!r:.60} must be a string or a number of 64 bits"
        raise FormatError(place, "id", detail)
    return identifier


def identifier_of(doc: Doc, spans_key: str) -> Any:
    """What the file calls the Doc, if it was read from one; None otherwise."""
    return doc.spans[spans_key].attrs.get(_ID) if spans_key in doc.spans else None
