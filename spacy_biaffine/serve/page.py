"""The page as HTML, from templates. They escape whatever comes from a text or a pipeline."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from spacy.tokens import Doc

from ..pictures.displacy import visible
from .views import ROLES, VIEWS, Row, Section, Table, numbered_roles, sections_of

SURE = 0.9
"""Probabilities below it are marked as unsure."""

DOUBTFUL = 0.5


class Shown(NamedTuple):
    """What the page shows of a Doc: its text, its sections as HTML, and rules of CSS by which the
    words of a role are marked."""

    text: str
    sections: str
    rules: str


def page(
    title: str,
    max_length: int,
    text: str = "",
    below: str = "",
    *,
    examples: Sequence[str] = (),
    card: str = "",
    layers: Iterable[str] = (),
    rules: str = "",
) -> str:
    """The whole page: the form with a text in it, HTML below it, and a card of the pipeline.

    examples: texts that a click analyses. layers: which are chosen. rules: further CSS.
    """
    return _rendered(
        "page.html",
        title=title,
        max_length=max_length,
        text=text,
        below=Markup(below),
        examples=examples,
        card=Markup(card),
        views=VIEWS,
        layers=set(layers) or set(VIEWS),
        rules=Markup(rules),
    )


def links(text: str, layers: Sequence[str] = ()) -> str:
    """Where the analysis of a text can be found again, and taken away."""
    return _rendered("links.html", text=text, layers=layers)


def model_card(meta: Mapping[str, Any]) -> str:
    """What is known of a pipeline, folded: its description, licence and scores."""
    facts = [(name, str(meta.get(name) or "")) for name in ("description", "license", "author")]
    scores = (meta.get("performance") or {}).items()
    numbers = [(name, f"{value:.4f}") for name, value in scores if isinstance(value, float)]
    rows = [Row(fact) for fact in [fact for fact in facts if fact[1]] + numbers]
    table = Table(("what", "value"), rows)
    return _rendered("card.html", table=table, has_scores=bool(numbers)) if rows else ""


def message(text: str) -> str:
    """A message below the form."""
    return _rendered("message.html", text=text)


def shown(doc: Doc, layers: Iterable[str] = ()) -> Shown:
    """What the page shows of a Doc. layers: which of them; none for all."""
    return Shown(doc.text, analysis(doc, layers), "".join(_rules(doc)))


def analysis(doc: Doc, layers: Iterable[str] = ()) -> str:
    """The chosen layers of a Doc, section by section, below the form; all where none is chosen."""
    sections: list[Section] = sections_of(doc, layers)
    return _rendered("analysis.html", sections=sections)


def _rules(doc: Doc) -> Iterable[str]:
    for key, name in ROLES.items():
        place = Section(name).place
        for number, spans in numbered_roles(doc, key):
            words = ",".join(f".w{token.i}" for span in spans for token in span)
            yield f"#{place}:has(.r{number}:hover) :is({words}) {{ background: var(--mark); }}\n"


def _rendered(template: str, **values: Any) -> str:
    return _TEMPLATES.get_template(template).render(values)


def _mark_of(probability: float) -> str:
    """The class of a cell with a probability."""
    return "" if probability >= SURE else " unsure" if probability >= DOUBTFUL else " doubtful"


def _address(path: str, text: str, layers: Sequence[str] = ()) -> str:
    """The address of a text's analysis."""
    return f"{path}?{urlencode([('text', text), *(('layer', layer) for layer in layers)])}"


def _visible(value: Any) -> Any:
    return visible(value) if isinstance(value, str) else value


_TEMPLATES = Environment(
    loader=PackageLoader("spacy_biaffine.serve"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_visible,
)
_TEMPLATES.globals |= {"address": _address, "mark_of": _mark_of}
