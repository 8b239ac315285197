"""The pages of the documentation, and the code, tables and links on them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[2]

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

OTHERS = [
    ROOT / name
    for name in ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "assets/README.md")
]
"""Pages whose links are checked and whose code is not."""

MARKDOWN = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, its language, its text, the text of a block without language
    right below it (what it prints)."""

    place: str
    line: int
    language: str
    text: str
    output: str | None


@dataclass(frozen=True)
class Table:
    """A table of settings: the code in its first heading, and its rows as (names, default)."""

    place: str
    name: str
    rows: list[tuple[list[str], str]]


def name_of(page: Path) -> str:
    """The page as it is called in messages."""
    return page.relative_to(ROOT).as_posix() if page.is_relative_to(ROOT) else page.name


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks but directives of Sphinx, and but those that are printed by others."""
    tokens = _tokens(page)
    blocks = []
    for number, token in enumerate(tokens):
        if token.type != "fence" or token.info.startswith("{") or _is_output(tokens, number):
            continue
        output = tokens[number + 1].content if _is_output(tokens, number + 1) else None
        line = _line(token)
        place = f"{name_of(page)}:{line}"
        blocks.append(Block(place, line, token.info.strip(), token.content, output))
    return blocks


def code_spans(page: Path) -> Iterator[tuple[str, str]]:
    """(place, text) of code within a line."""
    for token in _tokens(page):
        for child in token.children or ():
            if child.type == "code_inline":
                yield f"{name_of(page)}:{_line(token)}", child.content


def links_of(page: Path) -> Iterator[tuple[str, str]]:
    """(place, target) of links and pictures."""
    for token in _tokens(page):
        for child in token.children or ():
            target = child.attrGet("href") or child.attrGet("src")
            if target:
                yield f"{name_of(page)}:{_line(token)}", str(target)


def anchors_of(page: Path) -> set[str]:
    """What links can name on a page: its headings, as GitHub writes them."""
    tokens = _tokens(page)
    titles = [after for token, after in pairwise(tokens) if _opens(token)]
    texts = ("".join(child.content for child in title.children or ()) for title in titles)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in texts}


def tables_of(page: Path) -> Iterator[Table]:
    """Tables whose first heading is the code of a component or of a registered function."""
    rows: list[list[Token]] = []
    for token in _tokens(page):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(token)
        elif token.type == "table_close":
            names = _codes(rows[0][0])
            if len(names) == 1 and len(rows[0]) == 3 and rows[0][1].content == "default":
                settings = [(_codes(row[0]), row[1].content.replace("`", "")) for row in rows[1:]]
                yield Table(f"{name_of(page)}:{_line(rows[0][0])}", names[0], settings)
            rows = []


def _tokens(page: Path) -> list[Token]:
    return MARKDOWN.parse(page.read_text(encoding="utf-8"))


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0


def _is_output(tokens: list[Token], number: int) -> bool:
    """Whether a token is a fence without a language right below Python code."""
    if not 0 < number < len(tokens) or tokens[number].type != "fence" or tokens[number].info:
        return False
    return tokens[number - 1].type == "fence" and tokens[number - 1].info == "python"


def _opens(token: Token) -> bool:
    return token.type == "heading_open"


def _codes(token: Token) -> list[str]:
    return [child.content for child in token.children or () if child.type == "code_inline"]
