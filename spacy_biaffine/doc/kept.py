"""Groups of `doc.spans` in which this package keeps what spaCy has no place for.

DocBin, `to_bytes`, `copy` and the workers of `nlp.pipe(n_process=2)` keep span groups with their
attrs, without any setting. `Doc.retokenize` knows nothing of them, and a span that then reaches
past the Doc's end, or ends inside a token, would keep the whole Doc from being written. So nothing
is kept as spans on its own tokens: places are written in characters, which no merge and no split
changes, and are looked up on the tokens that are there when they are read.

What can't be found on these tokens any more counts as absent, never as none, with one warning.
"""

import warnings
from collections.abc import Mapping
from typing import Any

from spacy.tokens import Doc, SpanGroup

PREFIX = "spacy_biaffine."

MERGED = (
    "tokens were merged or split (by Doc.retokenize, merge_entities, merge_noun_chunks ...) after "
    "it was written: merge before"
)

CHANGED = "spans of its group were added, removed or changed"

CHARACTERS = "characters"
"""In the attrs of a group: what `end_of` was."""

PLACES = "places"
"""In the attrs of a group: first character, the one after the last, and more of each span."""


class UnreadableError(ValueError):
    """Something that is kept can't be found on the Doc's tokens; says why."""


def group_name(name: str) -> str:
    """The key in `doc.spans`: one that users are unlikely to have."""
    return PREFIX + name


def kept_group(doc: Doc, key: str) -> SpanGroup | None:
    """The group of this key, or that of an earlier version; None without one."""
    return doc.spans.get(key, doc.spans.get(key.removeprefix(PREFIX)))


def end_of(doc: Doc) -> int:
    """The number of characters, without blanks behind the last token."""
    return doc[-1].idx + len(doc[-1]) if len(doc) else 0


def check_text(doc: Doc, attrs: Mapping[str, Any]) -> None:
    """Raise UnreadableError where the text is no longer that in which the places were counted.

    DocBin does not keep the spaces of a Doc made without them: a token that was split gets one.
    """
    if doc.has_unknown_spaces and attrs.get(CHARACTERS, end_of(doc)) != end_of(doc):
        raise UnreadableError(MERGED)


def warn_absent(what: str, cause: UnreadableError | str) -> None:
    """Say that something on a Doc can't be read. Python shows equal warnings once."""
    warnings.warn(f"{what} can't be read and counts as absent: {cause}.", UserWarning, stacklevel=1)
