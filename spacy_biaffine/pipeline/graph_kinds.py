"""What the graph parser can learn, and how each is read from Docs and written on them: relations of
entities, and arcs between tokens. The registered blocks of its config."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import filter_spans

from ..decode.bioes import tags_of_spans
from ..doc.graphs import ROOT, Arc, Relation, set_arcs, set_relations
from ..doc.scores import entities_of, has_entities
from ..gold.graphs import (
    GoldGraph,
    anchors_of,
    arc_labels,
    entity_tags,
    relation_graph,
    relation_labels,
    root_labels,
    token_graph,
)
from ..gold.left_out import ENTITY_OVERLAPS, LeftOut
from ..gold.spans import spans_left_out
from .targets import tagged_entities

FoundArc = tuple[int, int, str, float | None]
"""Head (`ROOT` or a token number), dependent, label, and score where it is kept."""


class GraphKind(Protocol):
    """One kind of graph."""

    @property
    def reads(self) -> str:
        """What `tags_on` reads."""

    @property
    def main_score(self) -> str:
        """The score, of those that the scorer gives, that stands for all."""

    @property
    def scorer_options(self) -> dict[str, Any]:
        """What the scorer has to know."""

    def labels(self, example: Example) -> set[str]:
        """The labels of the gold arcs."""

    def root_labels(self, example: Example) -> set[str]:
        """Those of gold arcs from the root. Where no Doc has any, none are predicted."""

    def tags(self, example: Example, *, has_tagger: bool) -> set[str]:
        """The gold tags: what the tagger gives, or without one what stands on a Doc."""

    def gold(self, example: Example, *, has_tagger: bool) -> GoldGraph:
        """The gold graph, on the predicted tokens."""

    def entities_left_out(self, example: Example, max_length: int) -> LeftOut:
        """The gold entities that a tagger of parts of max_length words can't find."""

    def tags_on(self, doc: Doc) -> list[str]:
        """One tag for each token of a Doc that goes into the parser, "" for none."""

    def write(self, doc: Doc, tags: Sequence[str] | None, arcs: Sequence[FoundArc]) -> None:
        """Write a graph. tags: one per token, None without a tagger."""


@dataclass(frozen=True)
class EntityGraph:
    """Entities in doc.ents or a span group, and their relations, doc._.relations.

    spans_key: the group of the entities; None for doc.ents. Nested ones can be related where they
        are given; the tagger finds those that don't overlap.
    keep_arcs: write all arcs between words to doc._.dep_graph, also those that join no entities:
        what `spacy-biaffine.relation_arc_scorer.v1` counts.
    """

    spans_key: str | None = None
    keep_arcs: bool = False
    reads: ClassVar[str] = "entities"
    main_score: ClassVar[str] = "relations_f"

    @property
    def scorer_options(self) -> dict[str, Any]:
        """Where the entities are."""
        return {"spans_key": self.spans_key}

    def labels(self, example: Example) -> set[str]:
        """The labels of the gold relations."""
        return relation_labels(example)

    def root_labels(self, example: Example) -> set[str]:
        """None: a relation joins two entities."""
        return set()

    def tags(self, example: Example, *, has_tagger: bool) -> set[str]:
        """All BIOES tags that the types of the gold entities can have."""
        return entity_tags(example, self.spans_key)

    def gold(self, example: Example, *, has_tagger: bool) -> GoldGraph:
        """The gold relations."""
        return relation_graph(example, self.spans_key, flat=has_tagger)

    def entities_left_out(self, example: Example, max_length: int) -> LeftOut:
        """Those that overlap longer ones, and those across sentences."""
        every = entities_of(example.reference, self.spans_key)
        flat = filter_spans(every)
        found = spans_left_out(example, flat, self.spans_key, max_length=max_length)
        return found + Counter({ENTITY_OVERLAPS: len(every) - len(flat)})

    def tags_on(self, doc: Doc) -> list[str]:
        """The BIOES tags of the entities that are on the Doc; of those that overlap the longest."""
        if not has_entities(doc, self.spans_key):
            return [""] * len(doc)
        entities = filter_spans(entities_of(doc, self.spans_key))
        return tags_of_spans(((s.start, s.end, s.label_) for s in entities), len(doc))

    def write(self, doc: Doc, tags: Sequence[str] | None, arcs: Sequence[FoundArc]) -> None:
        """Write the entities, where tags tell them, and relations of those that there are now."""
        if tags is not None:
            self._write_entities(doc, tags)
        entity = anchors_of(entities_of(doc, self.spans_key))
        relations = [
            Relation(entity[dependent], entity[head], label, score)
            for head, dependent, label, score in arcs
            if head in entity and dependent in entity
        ]
        set_relations(doc, relations)
        if self.keep_arcs:
            _write_arcs(doc, arcs)

    def _write_entities(self, doc: Doc, tags: Sequence[str]) -> None:
        found = tagged_entities(doc, tags)
        if self.spans_key is None:
            doc.set_ents(found, default="outside")
        else:
            doc.spans[self.spans_key] = found


@dataclass(frozen=True)
class TokenGraph:
    """Arcs between tokens, doc._.dep_graph: enhanced or semantic dependencies."""

    reads: ClassVar[str] = "tags"
    main_score: ClassVar[str] = "dep_graph_elas"
    scorer_options: ClassVar[dict[str, Any]] = {}

    def labels(self, example: Example) -> set[str]:
        """The labels of the gold arcs."""
        return arc_labels(example)

    def root_labels(self, example: Example) -> set[str]:
        """The labels of the gold arcs from the root."""
        return root_labels(example)

    def tags(self, example: Example, *, has_tagger: bool) -> set[str]:
        """The tags of the gold tokens."""
        if has_tagger:
            raise ValueError(
                "A graph of tokens has no entities that a tagger could find: set tagger_size = 0."
            )
        return {token.tag_ for token in example.reference if token.tag}

    def gold(self, example: Example, *, has_tagger: bool) -> GoldGraph:
        """The gold arcs."""
        return token_graph(example)

    def entities_left_out(self, example: Example, max_length: int) -> LeftOut:
        """None: there is no tagger."""
        return Counter()

    def tags_on(self, doc: Doc) -> list[str]:
        """token.tag_"""
        return [token.tag_ for token in doc]

    def write(self, doc: Doc, tags: Sequence[str] | None, arcs: Sequence[FoundArc]) -> None:
        """Write the arcs, those of the root with None as head."""
        _write_arcs(doc, arcs)


def _write_arcs(doc: Doc, arcs: Iterable[FoundArc]) -> None:
    found = [
        Arc(None if head == ROOT else doc[head], doc[dependent], label, score)
        for head, dependent, label, score in arcs
    ]
    set_arcs(doc, found)
