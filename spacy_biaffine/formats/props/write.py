"""Docs with frames -> CoNLL-2005 and CoNLL-2009.

Blank tokens are left out. What lies outside of the predicate's sentence can't be written in either
form, and is left out too.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from spacy.tokens import Doc, Span, Token

from ...decode.pieces import labels_of_pieces
from ...doc.graphs import FRAMES, WORD_FRAMES, Frame, frames_of, has_graph
from ..common.atomic import whole_text
from ..conllu.rows import cell, heads_and_labels
from .brackets import write_brackets
from .conll05 import NONE
from .read import PREDICATE, Piece
from .to_docs import frames_of_words

Numbers = dict[int, int]
"""The place in its sentence, from 0, of each word, by its number in the Doc."""


def write_conll05(docs: Iterable[Doc], path: Path) -> int:
    """Write word, lemma of the predicate and brackets; returns the number of sentences.

    The official scorer reads all columns but the first: ``cut -f 2-``.
    Raises ValueError for predicates and arguments that brackets can't show, and where the Docs hold
    no sentence; the file is then as it was.
    """
    return _write(docs, path, to_conll05)


def write_conll09(docs: Iterable[Doc], path: Path) -> int:
    """Write the 14 columns of CoNLL-2009 and the roles; returns the number of sentences.

    Roles are those of doc._.word_frames, and where a Doc is not annotated with these, of
    doc._.frames. Annotated and predicted columns are the same. A role stands on the word of each of
    its spans whose head lies outside of the span. Raises ValueError as `write_conll05`.
    """
    return _write(docs, path, to_conll09)


def to_conll05(doc: Doc) -> str:
    """A Doc as `write_conll05` writes it, '' if it has no words. Raises ValueError as there."""
    return _text(doc, FRAMES, _conll05_rows)


def to_conll09(doc: Doc) -> str:
    """A Doc as `write_conll09` writes it, '' if it has no words. Raises ValueError as there."""
    return _text(doc, WORD_FRAMES if has_graph(doc, WORD_FRAMES) else FRAMES, _conll09_rows)


def _write(docs: Iterable[Doc], path: Path, text_of: Callable[[Doc], str]) -> int:
    n_sentences = 0
    with whole_text(path) as file:
        for doc in docs:
            text = text_of(doc)
            n_sentences += text.count("\n\n")
            file.write(text)
        if not n_sentences:
            raise ValueError(f"no sentences to write to {path}")
    return n_sentences


def _text(
    doc: Doc, key: str, rows_of: Callable[[list[Token], list[Frame]], list[list[str]]]
) -> str:
    lines = []
    for words, frames in _sentences(doc, key):
        lines += ["\t".join(row) for row in rows_of(words, frames)]
        lines.append("")
    return "".join(line + "\n" for line in lines)


def _sentences(doc: Doc, key: str) -> Iterator[tuple[list[Token], list[Frame]]]:
    """The words of each sentence and its frames, in the order of their predicates."""
    starts = {token.i for token in doc if token.is_sent_start} | {0}
    frames = sorted(frames_of(doc, key), key=_token_of)
    for one, other in pairwise(frames):
        if _token_of(one) == _token_of(other):
            raise ValueError(
                f"Two predicates stand on {doc[_token_of(one)].text!r} (token {_token_of(one)} of "
                f"{doc.text[:60]!r}); the format has one a word. Take one out of doc._.{key}."
            )
    for start, end in pairwise([*sorted(starts), len(doc)]):
        words = [token for token in doc[start:end] if not token.is_space]
        if words:
            yield words, [frame for frame in frames if start <= _token_of(frame) < end]


def _conll05_rows(words: list[Token], frames: list[Frame]) -> list[list[str]]:
    numbers = {token.i: number for number, token in enumerate(words)}
    marked = {numbers[_token_of(frame)] for frame in frames}
    columns = [
        [cell(token.text) for token in words],
        [_lemma(token) if number in marked else NONE for number, token in enumerate(words)],
        *(_brackets(frame, numbers) for frame in frames),
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _brackets(frame: Frame, numbers: Numbers) -> list[str]:
    pieces = _labelled(PREDICATE[0], _predicate_spans(frame), numbers)
    for role in frame.roles:
        pieces += _labelled(role.label, role.spans, numbers)
    pieces.sort(key=lambda piece: piece[1])
    for (label, (_, end)), (other, (start, _)) in pairwise(pieces):
        if start < end:
            doc = frame.predicate[0].doc
            raise ValueError(
                f"{label} and {other} of {frame.predicate[0].text!r} in {doc.text[:60]!r} overlap; "
                f"brackets can't show that. Take one out of doc._.frames."
            )
    return write_brackets(pieces, len(numbers))


def _conll09_rows(words: list[Token], frames: list[Frame]) -> list[list[str]]:
    numbers = {token.i: number for number, token in enumerate(words)}
    senses = {numbers[_token_of(frame)]: cell(frame.sense or "") for frame in frames}
    rows = []
    for number, (token, (head, deprel)) in enumerate(
        zip(words, heads_and_labels(words, "ROOT"), strict=True)
    ):
        values = [cell(token.lemma_), cell(token.tag_), cell(str(token.morph)), head, deprel or "_"]
        row = [str(number + 1), cell(token.text), *(v for value in values for v in (value, value))]
        rows.append([*row, "Y" if number in senses else "_", senses.get(number, "_")])
    for frame in frames:
        column = _role_words(frame, numbers)
        for number, row in enumerate(rows):
            row.append(column.get(number, "_"))
    return rows


def _role_words(frame: Frame, numbers: Numbers) -> dict[int, str]:
    """The role of each word that has one."""
    column: dict[int, str] = {}
    for role in frames_of_words([frame])[0].roles:
        for label, (word, _) in _labelled(role.label, role.spans, numbers):
            if word in column:
                span = role.spans[0]
                raise ValueError(
                    f"{column[word]} and {label} of {frame.predicate[0].text!r} stand on one word "
                    f"({span.text!r} in {span.doc.text[:60]!r}). Take one out of the Doc's frames."
                )
            column[word] = cell(label)
    return column


def _token_of(frame: Frame) -> int:
    return frame.predicate[0].start


def _lemma(token: Token) -> str:
    lemma = cell(token.lemma_ or token.text.lower())
    return "_" if lemma == NONE else lemma


def _predicate_spans(frame: Frame) -> list[Span]:
    """The predicate's spans; one that ends where the first one begins is joined to it."""
    first, *others = frame.predicate
    for span in others:
        if span.end == first.start:
            rest = [other for other in others if other is not span]
            return [first.doc[span.start : first.end], *rest]
    return [first, *others]


def _labelled(label: str, spans: Iterable[Span], numbers: Numbers) -> list[tuple[str, Piece]]:
    """Labels and pieces of one argument, in the order of the text, without whitespace.

    Raises ValueError for one that reaches out of the sentence.
    """
    pieces = []
    for span in sorted(spans, key=lambda span: span.start):
        if any(token.i not in numbers and not token.is_space for token in span):
            raise ValueError(
                f"{label} {span.text!r:.60} reaches out of the sentence of its predicate, which "
                f"the format can't show. Take it out of the Doc's frames, or join the sentences."
            )
        inside = [numbers[i] for i in range(span.start, span.end) if i in numbers]
        if inside:
            pieces.append((inside[0], inside[-1] + 1))
    return list(zip(labels_of_pieces(label, len(pieces)), pieces, strict=True)) if pieces else []
