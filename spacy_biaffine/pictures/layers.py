"""Pictures of each layer of a Doc."""

from collections.abc import Callable

from spacy.tokens import Doc

from ..doc.layers import entity_groups
from .displacy import dep_graph_svg, entities_html, frames_svg, relations_svg, trees_svg


def _entities(doc: Doc) -> list[str]:
    keys = [None, *entity_groups(doc)] if doc.ents else entity_groups(doc)
    return [entities_html(doc, key) for key in keys]


DRAWN: dict[str, Callable[[Doc], list[str]]] = {
    "trees": trees_svg,
    "entities": _entities,
    "relations": relations_svg,
    "graphs": dep_graph_svg,
    "frames": frames_svg,
}
"""Pictures by the name that the command line has for a layer: SVG, of entities HTML."""
