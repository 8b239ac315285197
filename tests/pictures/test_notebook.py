"""`spacy_biaffine.render`: all layers in a notebook, as displaCy shows them."""

import subprocess
import sys
from types import ModuleType

import pytest
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

import spacy_biaffine
from spacy_biaffine.doc.graphs import Relation


def doc() -> Doc:
    made = Doc(Vocab(), words=["Oslo", "is", "here"], heads=[1, 1, 1], deps=["a", "root", "b"])
    city = Span(made, 0, 1, "LOC")
    made.set_ents([city])
    made._.relations = [Relation(city, Span(made, 2, 3, "X"), "in")]
    return made


def test_html() -> None:
    html = spacy_biaffine.render(doc())
    assert html is not None and html.count("<svg") == 2 and "LOC" in html
    only = spacy_biaffine.render(doc(), ["trees"])
    assert only is not None and only.count("<svg") == 1
    with pytest.raises(ValueError, match="no layers to draw: tree; there are trees"):
        spacy_biaffine.render(doc(), ["tree"])


def test_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    display = ModuleType("IPython.display")
    display.HTML = str  # type: ignore[attr-defined]
    display.display = shown.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("spacy_biaffine.pictures.notebook.is_in_jupyter", lambda: True)
    assert spacy_biaffine.render(doc()) is None
    assert "<svg" in shown[0]


def test_the_package_itself_is_light() -> None:
    code = "import sys, spacy_biaffine; print('spacy' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.split() == ["False", "False"]
