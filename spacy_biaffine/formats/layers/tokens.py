"""The tokens of an object with layers -> a Doc with all that stands on its tokens."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from spacy.attrs import (
    DEP,
    ENT_ID,
    ENT_IOB,
    ENT_KB_ID,
    ENT_TYPE,
    HEAD,
    LEMMA,
    MORPH,
    NORM,
    POS,
    SENT_START,
    TAG,
)
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..common.lines import FormatError
from .checks import Checked

COLUMNS = [
    *(NORM, TAG, HEAD, DEP, ENT_IOB, ENT_TYPE, ENT_KB_ID, ENT_ID, LEMMA, MORPH, POS, SENT_START)
]
"""Set at once: heads that are set alone derive sentence starts anew."""

_AT = {attribute: column for column, attribute in enumerate(COLUMNS)}

_TOKEN_KEYS = (
    *("start", "end", "norm", "tag", "pos", "lemma", "morph", "head", "dep", "sent_start"),
)


class TokenTable:
    """A Doc in the making: its tokens, and the attributes of them that are known."""

    def __init__(self, record: Checked, vocab: Vocab) -> None:
        self.place = record.place
        self.text = record.text("text")
        tokens = record.objects("tokens", "a token")
        self.doc = _doc(record, self.text, tokens, vocab)
        self._strings = vocab.strings
        self.values: Any = np.zeros((len(tokens), len(COLUMNS)), dtype=np.int64).view(np.uint64)
        self._starts = {token.idx: token.i for token in self.doc}
        self._ends = {token.idx + len(token): token.i + 1 for token in self.doc}
        for number, token in enumerate(tokens):
            self._fill(number, token, vocab)

    def span(self, place: Checked) -> tuple[int, int]:
        """First token and token after the last, of "start" and "end" in characters."""
        start, end = place.record.get("start"), place.record.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end:
            raise place.error(f"needs start < end in characters, not {start!r:.40}, {end!r:.40}")
        if end > len(self.text):
            raise place.error(f"[{start}, {end}) is not in the text of {len(self.text)} characters")
        if start not in self._starts or end not in self._ends:
            raise place.error(f"[{start}, {end}) {self.text[start:end]!r:.40} cuts a token")
        return self._starts[start], self._ends[end]

    def set(self, number: int, attribute: int, text: str) -> None:
        self.values[number, _AT[attribute]] = self._strings.add(text)

    def set_code(self, number: int, attribute: int, value: int) -> None:
        self.values[number, _AT[attribute]] = np.int64(value).astype(np.uint64)

    def finish(self) -> Doc:
        """The Doc with the values."""
        if len(self.doc):
            self.doc.from_array(COLUMNS, self.values)
        return self.doc

    def _fill(self, number: int, token: Checked, vocab: Vocab) -> None:
        token.only(*_TOKEN_KEYS)
        self.set(number, NORM, token.text("norm", self.doc[number].text.lower()))
        for attribute, name in ((TAG, "tag"), (LEMMA, "lemma"), (DEP, "dep")):
            self.set(number, attribute, token.text(name, ""))
        pos = token.text("pos", "")
        if pos not in POS_IDS:
            raise token.error(f"has {pos!r} as pos; wanted {', '.join(filter(None, POS_IDS))}")
        self.set_code(number, POS, POS_IDS[pos])
        if "morph" in token.record:
            self.values[number, _AT[MORPH]] = vocab.morphology.add(_features(token))
        if "head" in token.record:
            head = token.number("head", len(self.doc))
            self.set_code(number, HEAD, head - number)
        if token.record.get("sent_start", ...) is None:
            return
        if "sent_start" in token.record:
            self.set_code(number, SENT_START, 1 if token.boolean("sent_start") else -1)
        elif number == 0:  # spaCy marks the first token of any Doc
            self.set_code(number, SENT_START, 1)


def _features(token: Checked) -> str:
    morph = token.text("morph")
    if not all(name and value for name, _, value in (f.partition("=") for f in _split(morph))):
        raise token.error(f"has {morph!r:.60} as morph; wanted Case=Nom|Number=Sing, or ''")
    return morph


def _split(morph: str) -> list[str]:
    return morph.split("|") if morph else []


def _doc(record: Checked, text: str, tokens: list[Checked], vocab: Vocab) -> Doc:
    places = [(token.record.get("start"), token.record.get("end")) for token in tokens]
    doc = doc_of_tokens(text, places, vocab, record.place)
    if record.boolean("unknown_spaces"):
        doc = Doc(vocab, words=[token.text for token in doc])
    if doc.text != text:
        raise FormatError(record.place, "tokens", f"the tokens give {doc.text!r:.60}, not the text")
    return doc


def doc_of_tokens(text: str, tokens: Sequence[tuple[Any, Any]], vocab: Vocab, place: str) -> Doc:
    """A Doc of tokens by their characters. Raises FormatError where they don't give the text."""
    words, gaps, at = [], [], 0
    for number, (start, end) in enumerate(tokens):
        if type(start) is not int or type(end) is not int or not at <= start < end <= len(text):
            detail = f"a token {number} needs start < end behind the token before, in the text"
            raise FormatError(place, "tokens", f"{detail}, not {start!r:.40} and {end!r:.40}")
        gaps.append(text[at:start])
        words.append(text[start:end])
        at = end
    gaps.append(text[at:])
    if bad := [gap for gap in gaps if gap not in ("", " ")] or [gap for gap in gaps[:1] if gap]:
        detail = f"no token has {bad[0]!r:.40}; only one blank may stand between tokens"
        raise FormatError(place, "tokens", detail)
    return Doc(vocab, words=words, spaces=[bool(gap) for gap in gaps[1:]])
