"""The documentation as a site: `sphinx-build -W --keep-going docs build/docs`."""

import re
from importlib.metadata import distribution
from importlib.metadata import version as version_of
from typing import Any

project = "spacy-biaffine"
author = "The spacy-biaffine developers"
version = release = version_of("spacy-biaffine")
copyright = f"{author}, MIT licence"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_heading_anchors = 4
smartquotes = False

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True

html_theme = "furo"
html_title = f"spacy-biaffine {release}"
html_copy_source = False

CODE = re.compile(r"(``.+?``|`[^`]+`)", re.DOTALL)

SETTING = re.compile(r"((?:\w+, )*\w+): ")
"""How a line begins that tells of parameters: `arc_size, label_size: widths`."""


REGISTERED = {
    entry.value.replace(":", "."): entry.name
    for entry in distribution("spacy-biaffine").entry_points
    if entry.group.startswith(("spacy_", "thinc_"))
}
"""What a config calls a function, by its place."""


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", to_restructured_text)
    app.connect("autodoc-skip-member", skip_tuple_fields)


def skip_tuple_fields(*event: Any) -> bool | None:
    """Leave out the fields of named tuples, whose docstrings say nothing."""
    return True if type(event[3]).__name__ == "_tuplegetter" else None


def to_restructured_text(*event: Any) -> None:
    """Rewrite a docstring in place: above it the registered name, code between single backticks,
    lines that tell of parameters as a list, and what is set in by blanks as it stands."""
    name: str = event[2]
    lines: list[str] = event[-1]
    written = [f"In a config: ``{REGISTERED[name]}``", ""] if name in REGISTERED else []
    for paragraph in "\n".join(lines).strip().split("\n\n"):
        written += _paragraph(paragraph)
    lines[:] = written


def _paragraph(text: str) -> list[str]:
    if text.startswith("    "):
        return ["::", "", *text.splitlines(), ""]
    written: list[str] = []
    in_list = False
    for line, escaped in zip(text.splitlines(), _escaped(text).splitlines(), strict=True):
        setting = SETTING.match(line) if line[:1].islower() else None
        if setting:
            names = ", ".join(f"``{name}``" for name in setting[1].split(", "))
            meaning = escaped.partition(": ")[2]
            written += [*([] if in_list else [""]), f"- {names}: {meaning}"]
            in_list = True
        elif in_list and line.startswith(" "):
            written.append(f"  {escaped.strip()}")
        else:
            written += [*([""] if in_list else []), escaped]
            in_list = False
    return [*written, ""]


def _escaped(text: str) -> str:
    parts = CODE.split(text)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = f"\\ ``{part.strip('`')}``\\ "
        else:
            parts[number] = re.sub(r"([\\*_|])", r"\\\1", part)
    return "".join(parts)
