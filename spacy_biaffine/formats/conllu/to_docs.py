"""CoNLL-U sentences -> spaCy Docs.

Words become tokens. ``_`` stays missing: TAG, POS and LEMMA are unset, and a word without HEAD has
no DEP, so that ``token.has_head()`` is False. Such a word is attached to its sentence's root,
without label, since spaCy derives sentence starts from the roots whenever it loads a Doc. A word
with HEAD but without DEPREL has the label ``_``. FEATS ``_`` of a word that has UPOS means "no
features".
"""

import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc
from spacy.vocab import Vocab

from .kept import keep
from .read import DEPREL, DEPS, FEATS, FORM, HEAD, LEMMA, MISC, UPOS, XPOS, Sentence

_ATTRS = ["LEMMA", "POS", "TAG", "MORPH", "HEAD", "DEP"]
# spaCy reads HEAD and SENT_START as signed numbers from its unsigned arrays.
_MINUS_ONE = 2**64 - 1


def group_sentences(
    sentences: Iterable[Sentence], *, n_sents: int = 1, by_doc: bool = False, by_deps: bool = False
) -> Iterator[list[Sentence]]:
    """Sentences of one Doc each: n_sents of them, or (by_doc) all up to the next ``# newdoc``.

    A group never goes across ``# newdoc``. A sentence without a root stands alone or with its like,
    since in a Doc spaCy could not tell where it starts. by_deps: so does a sentence without DEPS,
    whose graph is unknown, since a graph is there for all of a Doc or not at all.
    """
    if n_sents < 1:
        raise ValueError(f"n_sents is {n_sents}; it must be 1 or more")
    if by_doc and n_sents != 1:
        raise ValueError("n_sents and by_doc exclude each other; give one of them")
    group: list[Sentence] = []
    for sentence in sentences:
        full = len(group) == n_sents and not by_doc
        if group and (
            full or sentence.starts_doc or not _go_together(group[-1], sentence, by_deps)
        ):
            yield group
            group = []
        group.append(sentence)
    if group:
        yield group


def _go_together(left: Sentence, right: Sentence, by_deps: bool) -> bool:
    if by_deps and _has_deps(left) != _has_deps(right):
        return False
    with_root = [any(cells[HEAD] == "0" for cells in s.words) for s in (left, right)]
    if all(with_root):
        return True
    return all(cells[HEAD] == "_" for s in (left, right) for cells in s.words)


def _has_deps(sentence: Sentence) -> bool:
    return any(cells[DEPS] != "_" for cells in sentence.words)


class DocMaker:
    """Makes Docs that share a Vocab; remembers what it has warned of."""

    def __init__(self, vocab: Vocab) -> None:
        self.vocab = vocab
        self._feats: dict[str, int] = {}
        self._unknown_upos: set[str] = set()
        self._has_warned_of_feats = False

    def make(self, sentences: list[Sentence]) -> Doc:
        """One Doc of the sentences, with what the tokens can't say kept in doc.spans["conllu"]."""
        words: list[str] = []
        spaces: list[bool] = []
        rows: list[list[int]] = []
        bounds: list[tuple[int, int]] = []
        for sentence in sentences:
            bounds.append((len(words), len(words) + len(sentence.words)))
            words += [cells[FORM] for cells in sentence.words]
            spaces += _spaces(sentence)
            rows += self._rows(sentence)
        spaces[-1] = False
        doc = Doc(self.vocab, words=words, spaces=spaces)
        table: Any = numpy.array(rows, dtype=numpy.uint64)
        doc.from_array(list(_ATTRS), table)
        starts: Any = numpy.full(len(words), _MINUS_ONE, dtype=numpy.uint64)
        starts[[start for start, _ in bounds]] = 1
        doc.from_array("SENT_START", starts)
        kept = [
            self._leftovers(sentence, spaces[start:end])
            for sentence, (start, end) in zip(sentences, bounds, strict=True)
        ]
        keep(doc, bounds, kept)
        return doc

    def _rows(self, sentence: Sentence) -> list[list[int]]:
        add = self.vocab.strings.add
        root = next((i for i, cells in enumerate(sentence.words) if cells[HEAD] == "0"), None)
        rows = []
        for i, cells in enumerate(sentence.words):
            lemma = cells[LEMMA]
            head = cells[HEAD]
            if head == "_":
                offset, dep = (0 if root is None else root - i), 0
            else:
                offset, dep = (int(head) - 1 - i if head != "0" else 0), add(cells[DEPREL])
            rows.append(
                [
                    add(lemma) if lemma != "_" or cells[FORM] == "_" else 0,
                    self._pos(cells[UPOS]),
                    add(cells[XPOS]) if cells[XPOS] != "_" else 0,
                    self._morph(cells[FEATS]) if cells[FEATS] + cells[UPOS] != "__" else 0,
                    offset % 2**64,
                    dep,
                ]
            )
        return rows

    def _pos(self, upos: str) -> int:
        if upos == "_":
            return 0
        if upos not in POS_IDS and upos not in self._unknown_upos:
            if not self._unknown_upos:
                warnings.warn(
                    f"UPOS {upos!r} is unknown to spaCy: token.pos stays empty there, and the value"
                    " is kept for writing CoNLL-U (warned once for all such values)",
                    stacklevel=2,
                )
            self._unknown_upos.add(upos)
        return POS_IDS.get(upos, 0)

    def _morph(self, feats: str) -> int:
        if feats not in self._feats:
            known = normal_feats(feats)
            if known is None and not self._has_warned_of_feats:
                warnings.warn(
                    f"FEATS {feats!r:.60} are none that spaCy can hold: token.morph stays "
                    "unset there, and the value is kept for writing CoNLL-U (warned once for all "
                    "such values)",
                    stacklevel=2,
                )
                self._has_warned_of_feats = True
            self._feats[feats] = 0 if known is None else self.vocab.strings.add(known)
        return self._feats[feats]

    def _leftovers(self, sentence: Sentence, spaces: list[bool]) -> dict[str, Any]:
        words = sentence.words
        last = len(words) - 1
        in_range = {i for start, end, _ in sentence.ranges() for i in range(start, end)}
        columns = {
            "misc": [
                _unless(cells[MISC], plain_misc(spaces[i] or i == last or i in in_range))
                for i, cells in enumerate(words)
            ],
            "upos": [_unless(c[UPOS], c[UPOS] if c[UPOS] in POS_IDS else "_") for c in words],
            "feats": [_unless(c[FEATS], normal_feats(c[FEATS]) or "_") for c in words],
            "deprel": [c[DEPREL] if c[HEAD] == "_" != c[DEPREL] else "" for c in words],
        }
        data: dict[str, Any] = {k: "\t".join(v) for k, v in columns.items() if any(v)}
        if _has_deps(sentence):
            data["deps"] = "\t".join(cells[DEPS] for cells in words)
        if sentence.comments:
            data["comments"] = "\n".join(sentence.comments)
        if sentence.others:
            data["others"] = [list(other) for other in sentence.others]
        if any(cells[HEAD] == "0" and cells[DEPREL] == "ROOT" for cells in words):
            data["root"] = "ROOT"
        if sentence.tail:
            data["tail"] = "\n".join(sentence.tail)
        return data


def plain_misc(space_after: bool) -> str:
    """The MISC cell that says no more than whether a space follows."""
    return "_" if space_after else "SpaceAfter=No"


@lru_cache(maxsize=100_000)
def normal_feats(feats: str) -> str | None:
    """FEATS as spaCy's MorphAnalysis orders them, '_' for none; None where spaCy can't hold it."""
    if feats == "_":
        return "_"
    pairs: dict[str, str] = {}
    for feature in feats.split("|"):
        name, _, value = feature.partition("=")
        # spaCy takes "pos" for its own attribute and would turn the value into a number.
        if feature.count("=") != 1 or not name or not value or name.upper() == "POS":
            return None
        pairs[name] = ",".join(sorted(value.split(",")))
    return "|".join(sorted(f"{name}={value}" for name, value in pairs.items()))


def _unless(cell: str, said_by_token: str) -> str:
    return "" if cell == said_by_token else cell


def _spaces(sentence: Sentence) -> list[bool]:
    """Whether a space follows each word: never inside a multiword token, whose own line decides."""
    spaces = [_space_after(cells[MISC]) for cells in sentence.words]
    for start, end, cells in sentence.ranges():
        spaces[start:end] = [False] * (end - start)
        spaces[end - 1] = _space_after(cells[MISC])
    return spaces


def _space_after(misc: str) -> bool:
    return misc == "_" or "SpaceAfter=No" not in misc.split("|")
