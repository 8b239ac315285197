"""Sentences to try a pipeline on."""

from importlib import import_module

MOST = 3


def examples_of(lang: str) -> list[str]:
    """A few of the sentences that spaCy brings for a language, none where it has none."""
    try:
        sentences = import_module(f"spacy.lang.{lang}.examples").sentences
    except (ImportError, AttributeError):
        return []
    return list(sentences[:MOST])
