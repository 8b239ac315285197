"""The HEAD column of one sentence is a tree with one root, as far as it is annotated; its column
DEPS is read here too."""

import re
from dataclasses import dataclass

_EDGE = re.compile(r"(0|[1-9]\d{0,8})(\.[1-9]\d{0,8})?:(.+)", re.ASCII | re.DOTALL)


@dataclass(frozen=True)
class Problem:
    """What is wrong, at which word (index from 0)."""

    word: int
    reason: str
    detail: str


def check_tree(heads: list[str]) -> Problem | None:
    """First problem of a HEAD column, or None. ``_`` (not annotated) is no problem anywhere."""
    numbers: list[int | None] = []
    for word, head in enumerate(heads):
        problem = _head_problem(word, head, len(heads))
        if problem is not None:
            return problem
        numbers.append(None if head == "_" else int(head))
    roots = [word for word, head in enumerate(numbers) if head == 0]
    if len(roots) > 1:
        listed = ", ".join(str(word + 1) for word in roots)
        detail = f"several roots (words {listed} have HEAD 0); allowed: one; split the sentence"
        return Problem(roots[1], "several roots", detail)
    cycle = _find_cycle(numbers)
    if not roots and None not in numbers:
        detail = "no root (no word has HEAD 0); allowed: one; give the sentence a root"
        return Problem(cycle[0], "no root", detail)
    if cycle:
        listed = " -> ".join(str(word + 1) for word in [*cycle, cycle[0]])
        detail = f"cycle in HEAD: {listed}; every word must lead to the root"
        return Problem(cycle[0], "cycle", detail)
    return None


def split_deps(cell: str, n_words: int) -> list[tuple[str, str]]:
    """Heads ("5", "5.1", "0" for the root) and labels in a cell of DEPS. Raises ValueError."""
    pairs = []
    for item in cell.split("|") if cell != "_" else ():
        match = _EDGE.fullmatch(item)
        if match is None or int(match[1]) > n_words:
            raise ValueError(
                f"DEPS {item!r:.60} is not HEAD:LABEL with HEAD from 0 to {n_words} or an empty "
                f"node"
            )
        pairs.append((match[1] + (match[2] or ""), match[3]))
    return pairs


def _head_problem(word: int, head: str, n_words: int) -> Problem | None:
    if head == "_":
        return None
    remedy = f"allowed: 0 (root) to {n_words}, or _ if not annotated"
    if not (head.isascii() and head.removeprefix("-").isdigit()):
        return Problem(word, "HEAD not a number", f"HEAD {head!r} is not a number; {remedy}")
    if len(head) > 9 or not 0 <= int(head) <= n_words:
        return Problem(word, "HEAD out of range", f"HEAD {head} is out of range; {remedy}")
    if head != str(int(head)):
        return Problem(word, "HEAD not a number", f"HEAD {head!r} has leading zeros; {remedy}")
    if int(head) == word + 1:
        detail = f"HEAD {head} of word {word + 1} is the word itself; {remedy}"
        return Problem(word, "self-head", detail)
    return None


def _find_cycle(heads: list[int | None]) -> list[int]:
    """Words (from 0) of one cycle, or []. heads: 1-based, 0 is the root, None not annotated."""
    done = [False] * len(heads)
    for start in range(len(heads)):
        path: dict[int, None] = {}
        word = start
        while not done[word] and word not in path:
            path[word] = None
            head = heads[word]
            if not head:
                break
            word = head - 1
        else:
            if word in path:
                words = list(path)
                return words[words.index(word) :]
        for seen in path:
            done[seen] = True
    return []
