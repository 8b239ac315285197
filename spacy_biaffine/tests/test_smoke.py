"""Is the installed package whole? Every module, every entry point, and one parse."""

import pickle
import pkgutil
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, distribution
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, Span, Token
from spacy.tokens.underscore import Underscore
from spacy.training import Example

import spacy_biaffine
from spacy_biaffine.doc.scores import register_token_label

MODULES = [m.name for m in pkgutil.walk_packages(spacy_biaffine.__path__, "spacy_biaffine.")]
ENTRY_POINTS = [
    entry
    for entry in distribution("spacy-biaffine").entry_points
    if entry.group.startswith(("spacy_", "thinc_"))
]
FUNCTIONS = [entry for entry in ENTRY_POINTS if entry.group != "spacy_cli"]


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


@pytest.mark.parametrize("entry", FUNCTIONS, ids=lambda entry: entry.name)
def test_entry_point_can_be_pickled(entry: EntryPoint) -> None:
    """As spawned processes get it."""
    assert pickle.loads(pickle.dumps(entry.load())) is entry.load()


def test_extensions_can_be_pickled() -> None:
    """spaCy sends every extension to every process that it spawns, whatever that needs."""
    for name in MODULES:
        with suppress(ModuleNotFoundError):  # of an extra
            import_module(name)
    register_token_label("label_of_this_test")
    registered = [
        (kind.__name__, name, function)
        for kind in (Doc, Span, Token)
        for name, functions in extensions_of(kind).items()
        for function in functions[1:]
        if module_of(function).startswith("spacy_biaffine")
    ]
    Token.remove_extension("label_of_this_test")
    assert {("Doc", "relations"), ("Span", "ent_score"), ("Token", "head_prob")} <= {
        (kind, name) for kind, name, _ in registered
    }
    for kind, name, function in registered:
        try:
            pickle.dumps(function)
        except (AttributeError, pickle.PicklingError) as error:
            pytest.fail(f"{kind}._.{name}: {error}")


def extensions_of(kind: type) -> dict[str, tuple]:
    """By name: default, method, getter, setter."""
    attribute = f"{kind.__name__.lower()}_extensions"
    return getattr(Underscore, attribute)


def module_of(function: object) -> str:
    """Where a function, or that in a partial, is from."""
    return getattr(getattr(function, "func", function), "__module__", "")


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
