"""Which layers of annotation a Doc has."""

from spacy.tokens import Doc

from .graphs import DEP_GRAPH, FRAMES, RELATIONS, WORD_FRAMES
from .scores import ENT_SCORES, TOKEN_LABELS, TOKEN_SCORES

KEPT = {TOKEN_SCORES, TOKEN_LABELS, ENT_SCORES, RELATIONS, FRAMES, WORD_FRAMES, DEP_GRAPH, "conllu"}
"""Span groups in which this package keeps other things than entities."""


def entity_groups(doc: Doc) -> list[str]:
    """The span groups that hold entities, nested ones too."""
    return [key for key in doc.spans if key not in KEPT]


def has_sentences(doc: Doc) -> bool:
    """Whether sentence starts are marked; spaCy takes any Doc of one token for marked."""
    return doc.has_annotation("DEP" if len(doc) == 1 else "SENT_START")
