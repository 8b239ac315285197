"""What readers of semantic roles share: sentences with predicates as plain data, and errors."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from ...decode.pieces import join_pieces
from ..common.lines import UTF8, FormatError, Line, Skipped, blocks, check_encoding, numbered_lines
from ..conllu.check import check_tree
from ..conllu.read import DEPREL, HEAD, UPOS, Sentence

Block = list[Line]
"""The lines of a sentence."""

Piece = tuple[int, int]
"""First word in its sentence, from 0, and the word after the last."""

PREDICATE = ("V", "C-V")

AUXILIARIES = frozenset({"be.03", "do.01", "get.03", "have.01"})
"""Senses of PropBank that have no arguments: an auxiliary of another verb."""

# Trees that are read as none; other problems of HEAD are mistakes in the file.
_NO_TREE = ("several roots", "no root", "cycle", "self-head")


class Prop(NamedTuple):
    """A predicate and its arguments. The first piece begins with the word that is annotated."""

    predicate: list[Piece]
    sense: str | None
    roles: list[tuple[str, list[Piece]]]


class PropSentence(NamedTuple):
    """The words of a sentence as CoNLL-U has them, and its predicates in their order; None where
    the sentence is not annotated. unread: how much there is beside these, by its name."""

    sentence: Sentence
    props: list[Prop] | None
    unread: Mapping[str, int] = {}


@dataclass
class PropsReport(Skipped):
    """Counts filled while reading.

    auxiliaries: predicates left out as such. unannotated: sentences left out as such. treeless:
    sentences whose heads are no tree with one root, and were left out.
    """

    sentences: int = 0
    words: int = 0
    predicates: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    auxiliaries: int = 0
    unannotated: int = 0
    treeless: int = 0

    def rows(self) -> list[tuple[str, int]]:
        further = [
            ("words", self.words),
            ("predicates", self.predicates),
            ("arguments", self.roles.total()),
            ("labels", len(self.roles)),
            ("auxiliaries left out", self.auxiliaries),
            ("sentences without roles left out", self.unannotated),
            ("sentences without a tree", self.treeless),
        ]
        return [("sentences", self.sentences), *filter(itemgetter(1), further)]


def read_blocks(
    path: Path,
    parse: Callable[[Block], PropSentence],
    report: PropsReport,
    *,
    encoding: str = UTF8,
    skip_auxiliaries: bool,
    skip_bad: bool,
) -> Iterator[tuple[Sentence, list[Prop]]]:
    """The annotated sentences of a file, where blank lines are between them.

    Raises FormatError, also where the file holds no sentence; with skip_bad it leaves out the
    sentences that can't be read.
    """

    def sentence_of(block: Block) -> PropSentence:
        check_encoding(block)
        return parse(block)

    found = (
        parsed
        for block in blocks(numbered_lines(path, encoding))
        for parsed in report.attempt(partial(sentence_of, block), skip_bad=skip_bad)
    )
    for sentence, props, unread in found:
        report.not_kept.update(unread)
        if not sentence.words:  # comments alone
            continue
        if props is None:
            report.unannotated += 1
            continue
        if skip_auxiliaries:
            kept = [prop for prop in props if not _is_auxiliary(sentence, prop)]
            report.auxiliaries += len(props) - len(kept)
            props = kept
        report.treeless += _drop_bad_tree(sentence)
        report.sentences += 1
        report.words += len(sentence.words)
        report.predicates += len(props)
        report.roles.update(label for prop in props for label, _ in prop.roles)
        yield sentence, props
    if not report.sentences:
        raise FormatError(
            str(path),
            "no sentences",
            f"no sentence with semantic roles was found{report.reasons()}",
        )


def make_prop(token: int, sense: str | None, pieces: Iterable[tuple[str, Piece]]) -> Prop:
    """A predicate from the pieces of its column in the order of the text, V among them.

    token: the word that is annotated as predicate, in V or not.
    """
    pieces = list(pieces)
    own, others = (token, token + 1), []
    for start, end in (piece for label, piece in pieces if label in PREDICATE):
        if not start <= token < end:
            others.append((start, end))
            continue
        own = (token, end)
        if start < token:
            others.append((start, token))
    roles = join_pieces(each for each in pieces if each[0] not in PREDICATE)
    return Prop([own, *others], sense, roles)


def check_ids(block: Block, ids: Sequence[str]) -> None:
    """Raises FormatError unless words are numbered 1, 2, 3, ..."""
    for number, ((place, _), found) in enumerate(zip(block, ids, strict=True), 1):
        if found != str(number):
            detail = f"ID {found!r} where {number} is wanted; number the words 1, 2, 3, ..."
            raise FormatError(place, "ID", detail)


def check_tree_cells(block: Block, sentence: Sentence) -> None:
    """Raises FormatError for a HEAD that is no number, or one of no word."""
    heads = [cells[HEAD] for cells in sentence.words]
    problem = check_tree(heads) if heads else None
    if problem is not None and problem.reason not in _NO_TREE:
        raise FormatError(block[problem.word][0], problem.reason, problem.detail)


def check_widths(
    block: Block, rows: Sequence[Sequence[str]], fixed: int, predicates: Sequence[int]
) -> None:
    """Raises FormatError unless all rows have `fixed` columns and one for each predicate.

    predicates: their words.
    """
    wanted = fixed + len(predicates)
    widths = {len(row) for row in rows}
    if widths == {wanted}:
        return
    if len(widths) == 1 and (width := widths.pop()) >= fixed:
        words = ", ".join(str(word + 1) for word in predicates) or "none"
        raise FormatError(
            block[0][0],
            "argument columns",
            f"{width - fixed} argument columns, {len(predicates)} predicates (words: {words}) in "
            f"the sentence that begins here; each predicate needs one column, in their order (or "
            f"--blind, where there are none)",
        )
    for (place, line), row in zip(block, rows, strict=True):
        if len(row) != wanted:
            raise FormatError(
                place,
                "columns",
                f"{len(row)} columns, wanted {wanted}: {fixed} and one for each of the sentence's "
                f"{len(predicates)} predicates: {line[:60]!r}",
            )


def _is_auxiliary(sentence: Sentence, prop: Prop) -> bool:
    return sentence.words[prop.predicate[0][0]][UPOS] == "AUX" and prop.sense in AUXILIARIES


def _drop_bad_tree(sentence: Sentence) -> bool:
    """Take the heads away where they are no tree with one root; returns whether some were there."""
    heads = [cells[HEAD] for cells in sentence.words]
    if "_" not in heads and check_tree(heads) is None:
        return False
    for cells in sentence.words:
        cells[HEAD] = cells[DEPREL] = "_"
    return set(heads) != {"_"}
