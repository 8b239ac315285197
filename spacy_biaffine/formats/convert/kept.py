"""What of a Doc a form has a place for."""

from collections import Counter

from spacy.tokens import Doc

from ...doc.layers import LAYERS, entity_groups
from ...doc.scores import entities_of
from ..form import Form
from ..options import SPANS_KEY


def kept_and_lost(
    doc: Doc, writes: Form, spans_key: str | None
) -> tuple[Counter[str], Counter[str]]:
    """How much of each layer, by its title, a form keeps, and how much it has no place for.

    spans_key: the group of entities that is written; None for the form's own choice.
    """
    kept: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for layer in LAYERS:
        found = layer.count(doc) if layer.is_on(doc) else 0
        missing = 0 if layer.name in writes.holds else found
        if SPANS_KEY in writes.write_options and layer.name in ("entities", "spans"):
            missing = _unwritten(doc, layer.name, writes, spans_key)
        lost[layer.title] += missing
        kept[layer.title] += found - missing
    return kept, lost


def _unwritten(doc: Doc, layer: str, writes: Form, spans_key: str | None) -> int:
    """How many entities are not among those that one group, or doc.ents, has."""
    key = spans_key or writes.group
    if writes.group is not None and key not in doc.spans:
        key = None
    written = {(span.start, span.end, span.label) for span in entities_of(doc, key)}
    spans = (
        doc.ents if layer == "entities" else [s for k in entity_groups(doc) for s in doc.spans[k]]
    )
    return sum((span.start, span.end, span.label) not in written for span in spans)
