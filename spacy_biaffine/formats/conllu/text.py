"""The text that a Doc from CoNLL-U was cut from."""

import re

from spacy.tokens import Doc

from .kept import KeptSentence, kept_sentences

_SPACES = re.compile(r"(?:^|\|)Spaces(After|Before)=([^|]*)")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(.))")
_ESCAPED = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|"}


def source_text(doc: Doc, start: int = 0, end: int | None = None) -> str:
    """The text of doc[start:end] as it was written.

    Unlike ``doc.text``, multiword tokens have their surface form, and MISC's SpacesBefore and
    SpacesAfter are put in, but for the end of the Doc, where ``doc.text`` has no space either.
    """
    forms: dict[int, tuple[int, str]] = {}
    spaces: dict[tuple[str, int], str] = {}
    for sentence in kept_sentences(doc):
        forms.update({first: (stop, cells[1]) for first, stop, cells in sentence.ranges()})
        spaces.update(_written_spaces(sentence))
    parts = []
    token = start
    end = len(doc) if end is None else end
    while token < end:
        stop, form = forms.get(token, (token + 1, doc[token].text))
        after = doc[stop - 1].whitespace_
        if stop < len(doc):
            after = spaces.get(("After", stop - 1), after)
        parts += [spaces.get(("Before", token), ""), form, after]
        token = stop
    return "".join(parts)


def _written_spaces(sentence: KeptSentence) -> dict[tuple[str, int], str]:
    """By ('After', last token) and ('Before', first token) of a word or multiword token."""
    found = {}
    cells = [(i, i + 1, misc) for i, misc in enumerate(sentence.cells("misc"), sentence.start)]
    in_ranges = [(start, end, row[9]) for start, end, row in sentence.ranges()]
    for start, end, misc in [*cells, *in_ranges]:
        for side, value in _SPACES.findall(misc):
            found[side, end - 1 if side == "After" else start] = _unescape(value)
    return found


def _unescape(value: str) -> str:
    """UDPipe's escapes: \\s \\t \\n \\r \\p \\\\, and \\u00A0."""
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPED.get(m[2], m[2]), value)
