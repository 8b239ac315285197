"""The table of all file forms, and what finds a form by its name or by a file.

How a form is added stands in `form.py`.
"""

from collections.abc import Iterable
from pathlib import Path

from .conllu.forms import CONLLU, CONLLU_PLUS
from .entities.forms import CLUENER, COLUMNS, JSON, LABELS
from .form import Form
from .layers.forms import LAYERS_JSON, SPACY_JSON
from .props.forms import CONLL05, CONLL09, CONLL12, PROPBANK, UP
from .relations.forms import CONLL04, ERFGC, GRAPH, SCIERC, SPERT, TREEBANK
from .tools.forms import BRAT, DOCCANO, LABEL_STUDIO, PRODIGY, WEBANNO

FORMS = (
    CONLLU,
    CONLLU_PLUS,
    JSON,
    LAYERS_JSON,
    SPACY_JSON,
    CLUENER,
    COLUMNS,
    LABELS,
    SPERT,
    SCIERC,
    CONLL04,
    ERFGC,
    GRAPH,
    TREEBANK,
    PROPBANK,
    CONLL05,
    CONLL09,
    UP,
    CONLL12,
    PRODIGY,
    DOCCANO,
    LABEL_STUDIO,
    BRAT,
    WEBANNO,
)
"""All forms but .spacy, in the order in which help and docs show them."""

WRITTEN = tuple(form for form in FORMS if form.write)
"""Those that can be written to a file."""

OUTPUTS = tuple(form for form in FORMS if form.write or form.files)
"""Those that can be written, to a file or to a folder."""


def form_named(name: str) -> Form:
    """The form of this name. Raises ValueError where there is none."""
    for form in FORMS:
        if name in (form.name, *form.aliases):
            return form
    raise ValueError(f"unknown form {name!r}; there are {names_of(FORMS)}")


def form_of(path: Path) -> Form | None:
    """The form of a file or folder that leaves no doubt; None where it does.

    Raises ValueError where several forms fit.
    """
    fitting = [form for form in FORMS if form.fits and form.fits(path)]
    if len(fitting) > 1:
        raise ValueError(f"{path} may be {names_of(fitting, 'or')}: say which by --form")
    return fitting[0] if fitting else None


def looks_like(path: Path, form: Form) -> str:
    """For an error of reading a file or folder as one form: which other form it seems to be."""
    found = [each.name for each in FORMS if each.fits and each.fits(path)]
    if not found or form.name in found:
        return ""
    return f". It looks like {' or '.join(found)}, which `convert --form {found[0]}` reads"


def form_to_write(path: Path) -> Form | None:
    """The form that the name of an output asks for; None for none or for several."""
    asked = [form for form in WRITTEN if form.suffix and path.name.endswith(form.suffix)]
    longest = [
        form for form in asked if len(form.suffix or "") == max(len(f.suffix or "") for f in asked)
    ]
    return longest[0] if len(longest) == 1 else None


def names_of(forms: Iterable[Form], word: str = "and") -> str:
    """For a message: 'json, cluener and columns'."""
    *most, last = [form.name for form in forms]
    return f"{', '.join(most)} {word} {last}" if most else last
