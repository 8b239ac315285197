"""Predicates that are given: read from Docs, and written back with their roles."""

from collections.abc import Mapping, Sequence

import numpy as np
from spacy.tokens import Doc

from ..doc.graphs import Frame, frames_of
from ..gold.roles import frames_in_tokens
from ..types import Ints


def predicates_on(docs: Sequence[Doc], key: str) -> Ints:
    """The tokens, counted over all Docs, that are predicates of their frames."""
    offsets = np.cumsum([0, *map(len, docs)])[:-1].tolist()
    found = [
        frame.predicate + offset
        for doc, offset in zip(docs, offsets, strict=True)
        for frame in frames_in_tokens(doc, key)
        if frame.predicate >= 0
    ]
    return np.array(found, dtype=np.int64)


def as_given(doc: Doc, frames: Mapping[int, Frame], key: str) -> list[Frame]:
    """The frames that are on the Doc, with the roles that were found, and the sense where it has
    none. Only the first frame of a token gets them."""
    rest = dict(frames)
    merged = []
    for given, in_tokens in zip(frames_of(doc, key), frames_in_tokens(doc, key), strict=True):
        found = rest.pop(in_tokens.predicate, None)
        roles = found.roles if found else ()
        sense = given.sense or (found.sense if found else None)
        merged.append(given._replace(sense=sense, roles=roles))
    return merged
