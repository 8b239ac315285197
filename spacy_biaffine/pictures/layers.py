"""Pictures of each layer of a Doc."""

from collections.abc import Callable

from spacy.tokens import Doc

from ..doc.layers import entity_groups
from .displacy import (
    dep_graph_svg,
    entities_html,
    frames_svg,
    relations_svg,
    trees_svg,
    word_frames_svg,
)


def _entities(doc: Doc) -> list[str]:
    keys = [None, *entity_groups(doc)] if doc.ents else entity_groups(doc)
    return [entities_html(doc, key) for key in keys]


DRAWN: dict[str, Callable[[Doc], list[str]]] = {
    "trees": trees_svg,
    "entities": _entities,
    "relations": relations_svg,
    "dep_graph": dep_graph_svg,
    "frames": frames_svg,
    "word_frames": word_frames_svg,
}
"""Pictures by the name of a layer (`doc/layers.py`): SVG, of entities and span groups HTML."""

OLD_NAMES = {"graphs": "dep_graph"}


def pictures_of(doc: Doc, layer: str) -> list[str]:
    """The pictures of a layer, by its name in `DRAWN` or its old one. Raises KeyError."""
    return DRAWN[OLD_NAMES.get(layer, layer)](doc)
