"""Layers of a gold Doc on a new Doc, before any component runs."""

from collections.abc import Iterable, Sequence
from typing import Any

from spacy.tokens import Doc

from .graphs import FRAMES, WORD_FRAMES, Frame, frames_of, has_graph, set_frames
from .layers import LAYERS

GIVEN = {name: attributes for layer in LAYERS for name, attributes in layer.attributes.items()}
"""Attributes of tokens by the names of what can be given."""

PREDICATES = "predicates"
"""What can be given too: the predicates of frames, without senses and roles."""


def give(reference: Doc, given: Sequence[str]) -> Doc:
    """A new Doc with the reference's tokens and the given layers alone."""
    words: Any = reference.to_array("ORTH")
    spaces: Any = None
    if not reference.has_unknown_spaces:
        spaces = reference.to_array("SPACY").astype(bool)
    doc = Doc(reference.vocab, words=words, spaces=spaces)
    # Heads before sentence starts: setting heads derives the starts anew.
    for name in sorted(set(given) - {PREDICATES}):
        values: Any = reference.to_array(GIVEN[name])
        doc.from_array(GIVEN[name], values)
    if PREDICATES in given:
        for key in (FRAMES, WORD_FRAMES):
            if has_graph(reference, key):
                set_frames(doc, _bare_predicates(doc, frames_of(reference, key)), key)
    return doc


def check_given(given: Iterable[str]) -> None:
    """Raises ValueError for names that are not in `GIVEN`, nor `PREDICATES`."""
    known = [*GIVEN, PREDICATES]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise ValueError(f"unknown layers in 'given': {unknown}; known: {known}")


def _bare_predicates(doc: Doc, frames: Iterable[Frame]) -> list[Frame]:
    spans = [tuple(doc[span.start : span.end] for span in frame.predicate) for frame in frames]
    return [Frame(each, None, ()) for each in spans]
