"""Structured prediction for spaCy: normalized biaffine parsing and its family.

The functions here import spaCy when they are called: the package itself imports nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spacy.tokens import Doc
    from spacy.vocab import Vocab

__version__ = "0.1.0"


def to_layers_json(doc: "Doc") -> dict[str, Any]:
    """A Doc with every layer as plain data, see docs/layers.md; `doc._.relations` and its kin too.

    Raises ValueError for what JSON can't hold.
    """
    from .formats.layers.write import to_layers_json as work

    return work(doc)


def from_layers_json(record: dict[str, Any], vocab: "Vocab") -> "Doc":
    """The Doc that `to_layers_json` was given. Raises ValueError for another record."""
    from .formats.layers.read import from_layers_json as work

    return work(record, vocab)


def render(doc: "Doc", layers: "Iterable[str] | None" = None) -> str | None:
    """Show trees, entities, relations, graphs and frames of a Doc in a notebook, below each other.

    layers: which of them; None for all that are there. Elsewhere the HTML comes back.
    """
    from .pictures.notebook import show

    return show(doc, layers)
