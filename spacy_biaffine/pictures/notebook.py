"""All layers of a Doc below each other, in a notebook or as HTML."""

from collections.abc import Iterable

from spacy.displacy.templates import TPL_FIGURE
from spacy.tokens import Doc
from spacy.util import is_in_jupyter

from .layers import DRAWN, OLD_NAMES, pictures_of


def layers_html(doc: Doc, layers: Iterable[str] | None = None) -> str:
    """The pictures of a Doc, a figure each. layers: names of `DRAWN`; None for all that are there.

    Raises ValueError for other names.
    """
    names = list(DRAWN if layers is None else layers)
    unknown = [name for name in names if name not in DRAWN and name not in OLD_NAMES]
    if unknown:
        raise ValueError(f"no layers to draw: {', '.join(unknown)}; there are {', '.join(DRAWN)}")
    pictures = [picture for name in names for picture in pictures_of(doc, name)]
    return "".join(TPL_FIGURE.format(content=picture) for picture in pictures)


def show(doc: Doc, layers: Iterable[str] | None = None) -> str | None:
    """Show `layers_html` in a notebook; elsewhere return it."""
    html = layers_html(doc, layers)
    if not is_in_jupyter():
        return html
    from IPython.display import HTML, display

    display(HTML(f'<span class="tex2jax_ignore">{html}</span>'))
    return None
