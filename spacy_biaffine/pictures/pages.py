"""Pages of pictures, with the texts above them."""

from collections.abc import Iterable, Mapping
from html import escape
from itertools import groupby
from typing import NamedTuple

from spacy.displacy.templates import TPL_FIGURE, TPL_PAGE

from .displacy import visible

MOST_LETTERS = 100
"""Longer texts are shortened in lists."""


class Drawn(NamedTuple):
    """A picture of a Doc. name: its number, its layer, and which picture of that it is."""

    number: int
    text: str
    name: str
    picture: str


def page(drawn: Iterable[Drawn]) -> str:
    """One HTML page: a list of the texts, then each with its pictures."""
    entries, sections = [], []
    for (number, text), pictures in groupby(drawn, lambda each: each[:2]):
        entries.append(
            f'<li value="{number}"><a href="#{number}" dir="auto">{_short(text)}</a></li>'
        )
        figures = "".join(TPL_FIGURE.format(content=each.picture) for each in pictures)
        heading = f'<h2 id="{number}" dir="auto" style="font-size: 1.1rem">{_shown(text)}</h2>'
        sections.append(f"<section>{heading}{figures}</section>")
    index = f"<nav><ol>{''.join(entries)}</ol></nav>" if len(entries) > 1 else ""
    return _page(index + "".join(sections))


def picture_page(picture: str) -> str:
    """A page of one picture."""
    return _page(TPL_FIGURE.format(content=picture))


def index_page(files: Mapping[str, Drawn]) -> str:
    """A list of the texts, with links to the files of their pictures."""
    entries = []
    for (number, text), named in groupby(files.items(), lambda each: each[1][:2]):
        links = " ".join(f'<a href="{escape(file)}">{escape(file)}</a>' for file, _ in named)
        entries.append(f'<li value="{number}"><p dir="auto">{_shown(text)}</p><p>{links}</p></li>')
    return _page(f"<ol>{''.join(entries)}</ol>")


def _page(content: str) -> str:
    return TPL_PAGE.format(content=content, lang="en", dir="ltr")


def _short(text: str) -> str:
    return _shown(text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…")


def _shown(text: str) -> str:
    return escape(visible(text.strip())) or "(no text)"
