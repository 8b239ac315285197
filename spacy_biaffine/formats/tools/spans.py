"""What is on a Doc for the forms of annotation tools."""

from spacy.tokens import Doc, Span

from ...doc.graphs import RELATIONS, Relation, has_graph
from ...doc.scores import entities_of, has_entities
from ..entities.json_offsets import KEYS
from ..layers.write import offsets
from ..relations.to_docs import ENTITIES

Record = dict[str, object]


class Annotation:
    """Entities of a Doc with numbers, and its relations.

    entities: those of the group, or of doc.ents where there is none, then those that only relations
    name; None where the Doc is not annotated. relations: None where it is not annotated with them.
    """

    def __init__(self, doc: Doc, spans_key: str = ENTITIES) -> None:
        key = spans_key if spans_key in doc.spans else None
        self.relations: list[Relation] | None = (
            doc._.relations if has_graph(doc, RELATIONS) else None
        )
        ends = [span for each in self.relations or () for span in (each.head, each.tail)]
        self.entities: list[Span] | None = None
        if has_entities(doc, key) or ends:
            distinct = {_key(span): span for span in (*entities_of(doc, key), *ends)}
            self.entities = list(distinct.values())
        self._numbers = {_key(span): n for n, span in enumerate(self.entities or ())}
        self.meta: Record = dict(doc.user_data.get(KEYS, {}))

    def number(self, span: Span) -> int:
        """The place of a span among the entities."""
        return self._numbers[_key(span)]


def _key(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label_


__all__ = ["Annotation", "Record", "offsets"]
