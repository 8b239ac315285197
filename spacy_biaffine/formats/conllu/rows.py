"""Tokens of one sentence -> CoNLL-U cells."""

import re

from spacy.tokens import Token

_LINE_BREAKERS = re.compile(r"[\t\n]+")


def cell(value: str) -> str:
    """A value as a cell: ``_`` where empty, tabs and newlines as one blank."""
    return _LINE_BREAKERS.sub(" ", value) or "_"


def token_cells(token: Token, number: int, head: str, deprel: str) -> list[str]:
    """All ten columns as far as the token knows them; DEPS and MISC are ``_``."""
    return [
        str(number),
        cell(token.text),
        cell(token.lemma_),
        token.pos_ or "_",
        cell(token.tag_),
        cell(str(token.morph)),
        head,
        cell(deprel),
        "_",
        "_",
    ]


def heads_and_labels(words: list[Token], root_label: str) -> list[tuple[str, str]]:
    """HEAD and DEPREL of the words of one sentence, as one tree.

    A head that is no word of the sentence (a whitespace token) is stepped over. Where that leaves
    several roots, the first stays and the others hang on it as ``dep``.
    root_label: written for spaCy's ROOT.
    """
    numbers = {word.i: number for number, word in enumerate(words, 1)}
    result = []
    root = 0
    for word in words:
        if not word.has_head():
            result.append(("_", "_"))
            continue
        head = _head_among(word, numbers)
        if head:
            result.append((str(head), word.dep_))
        elif root:
            result.append((str(root), "dep"))
        else:
            root = numbers[word.i]
            own = word.head.i == word.i and word.dep_ != "ROOT"
            result.append(("0", word.dep_ if own else root_label))
    return result


def _head_among(word: Token, numbers: dict[int, int]) -> int:
    """Number of the nearest ancestor in the sentence, 0 where there is none."""
    head = word.head
    passed: set[int] = set()
    while head.i not in numbers and head.i not in passed:  # a file may have heads in a circle
        passed.add(head.i)
        head = head.head
    return 0 if head.i == word.i else numbers.get(head.i, 0)
