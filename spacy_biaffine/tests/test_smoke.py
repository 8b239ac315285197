"""Is the installed package whole? Every module, every entry point, and one parse."""

import pkgutil
from importlib import import_module
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

import spacy_biaffine

MODULES = [m.name for m in pkgutil.walk_packages(spacy_biaffine.__path__, "spacy_biaffine.")]
ENTRY_POINTS = [
    entry
    for entry in distribution("spacy-biaffine").entry_points
    if entry.group.startswith(("spacy_", "thinc_"))
]


@pytest.mark.parametrize("name", MODULES)
def test_module_imports(name: str) -> None:
    """A module that needs an extra which is not installed is skipped."""
    try:
        import_module(name)
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "spacy_biaffine":
            raise
        pytest.skip(f"needs {error.name}")


@pytest.mark.parametrize("entry", ENTRY_POINTS, ids=lambda entry: entry.name)
def test_entry_point_resolves(entry: EntryPoint) -> None:
    assert callable(entry.load())


def test_typed() -> None:
    assert Path(spacy_biaffine.__path__[0], "py.typed").exists()


def test_parse() -> None:
    """From nothing to a parse, without any import of the parser."""
    nlp = spacy.blank("en")
    nlp.add_pipe("norm_biaffine_parser")
    words = ["Birds", "sing", ".", "They", "fly", "."]
    heads = [1, 1, 1, 4, 4, 4]
    deps = ["nsubj", "root", "punct"] * 2
    gold = Doc(nlp.vocab, words=words, heads=heads, deps=deps)
    example = Example(Doc(nlp.vocab, words=words), gold)
    sgd = nlp.initialize(lambda: [example])
    for _ in range(3):
        losses = nlp.update([example], sgd=sgd)
    assert losses["norm_biaffine_parser"] > 0

    doc = nlp("Birds sing. They fly.")
    assert {token.dep_ for token in doc} <= {"nsubj", "root", "punct"}
    assert all(sent.root.head == sent.root for sent in doc.sents)
    loaded = spacy.blank("en")
    loaded.add_pipe("norm_biaffine_parser")
    loaded.from_bytes(nlp.to_bytes())
    assert loaded("Birds sing. They fly.").to_json() == doc.to_json()
