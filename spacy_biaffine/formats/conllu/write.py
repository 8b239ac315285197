"""spaCy Docs -> CoNLL-U.

HEAD, DEPREL, LEMMA, UPOS, XPOS and FEATS come from the tokens. Comments, multiword tokens, empty
nodes, DEPS and MISC come from what was kept when the Doc was read from CoNLL-U. A sentence that
begins or ends elsewhere by now keeps its multiword tokens and MISC, but not DEPS, empty nodes,
``# sent_id`` and ``# text``, for they speak of another sentence.

spaCy's label ROOT is written ``root``. Words without head get ``_``.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from spacy.tokens import Doc

from ..common.atomic import whole_text
from .from_plain_docs import plain_lines
from .kept import KeptSentence, kept_sentences
from .rows import cell, heads_and_labels, token_cells
from .text import source_text
from .to_docs import normal_feats, plain_misc

_NEWDOC_OR_NEWPAR = re.compile(r"#\s*new(doc|par)\b")


def write_conllu(docs: Iterable[Doc], path: Path) -> int:
    """Write Docs to a file, under a temporary name first; returns the number of sentences.

    Raises ValueError, and leaves the file as it was, where the Docs hold no sentence.
    """
    n_sentences = 0
    with whole_text(path) as file:
        for number, doc in enumerate(docs, 1):
            text = to_conllu(doc, number)
            n_sentences += text.count("\n\n")
            file.write(text)
        if n_sentences == 0:
            raise ValueError(f"no sentences to write to {path}")
    return n_sentences


def to_conllu(doc: Doc, number: int = 1) -> str:
    """CoNLL-U text of a Doc, '' if empty. number: names the Doc in new ``# sent_id`` lines."""
    kept = kept_sentences(doc)
    lines = _kept_lines(doc, kept, number) if kept else plain_lines(doc, number)
    return "".join(line + "\n" for line in lines)


def _kept_lines(doc: Doc, kept: list[KeptSentence], number: int) -> Iterator[str]:
    cells = _kept_cells(doc, kept)
    as_read = {(sentence.start, sentence.end): sentence for sentence in kept}
    for start, end in _bounds(doc, kept):
        sentence = as_read.get((start, end))
        if sentence is None:
            yield from _new_sentence(doc, kept, cells, start, end, number)
        else:
            yield from _sentence_as_read(doc, sentence, cells)
        yield ""
    yield from kept[-1].lines("tail")


def _bounds(doc: Doc, kept: list[KeptSentence]) -> list[tuple[int, int]]:
    """Sentences as the Doc has them now. Starts inside a multiword token move to its first word."""
    if not doc.has_annotation("SENT_START"):
        return [(sentence.start, sentence.end) for sentence in kept]
    ranges = [found for sentence in kept for found in sentence.ranges()]
    moved = {i: start for start, end, _ in ranges for i in range(start, end)}
    starts = {moved.get(sent.start, sent.start) for sent in doc.sents}
    return list(pairwise([*sorted(starts), len(doc)]))


def _kept_cells(doc: Doc, kept: list[KeptSentence]) -> list[list[str]]:
    """Cells of every token; HEAD, DEPREL and ID are still to be set."""
    rows: list[list[str]] = []
    for sentence in kept:
        in_range = {i for start, end, _ in sentence.ranges() for i in range(start, end)}
        in_range.add(sentence.end - 1)
        columns = [sentence.cells(name) for name in ("misc", "upos", "feats", "deprel")]
        tokens = doc[sentence.start : sentence.end]
        for token, misc, upos, feats, deprel in zip(tokens, *columns, strict=True):
            cells = token_cells(token, 0, "_", deprel)
            cells[9] = misc or plain_misc(bool(token.whitespace_) or token.i in in_range)
            if upos and not token.pos:
                cells[3] = upos
            if feats and (normal_feats(feats) or "_") == cells[5]:
                cells[5] = feats
            rows.append(cells)
    return rows


def _sentence_as_read(doc: Doc, kept: KeptSentence, cells: list[list[str]]) -> Iterator[str]:
    yield from kept.lines("comments")
    rows = _rows(doc, cells, kept.start, kept.end, kept.data.get("root", "root"))
    if "deps" in kept.data:
        for row, deps in zip(rows, kept.cells("deps"), strict=True):
            row[8] = deps
    others = kept.others()
    for position, row in enumerate(rows):
        while others and others[0][0] == position:
            yield others.pop(0)[1]
        yield "\t".join(row)
    yield from (line for _, line in others)


def _new_sentence(
    doc: Doc, kept: list[KeptSentence], cells: list[list[str]], start: int, end: int, number: int
) -> Iterator[str]:
    for sentence in kept:
        if start <= sentence.start < end:
            yield from filter(_NEWDOC_OR_NEWPAR.match, sentence.lines("comments"))
    yield f"# sent_id = d{number}-t{start + 1}"
    yield f"# text = {cell(source_text(doc, start, end).strip())}"
    ranges = {a: (b, line) for sentence in kept for a, b, line in sentence.ranges()}
    for i, row in enumerate(_rows(doc, cells, start, end, "root"), start):
        if i in ranges:
            range_end, line = ranges[i]
            yield "\t".join([f"{i - start + 1}-{range_end - start}", *line[1:]])
        yield "\t".join(row)


def _rows(
    doc: Doc, cells: list[list[str]], start: int, end: int, root_label: str
) -> list[list[str]]:
    rows = cells[start:end]
    trees = heads_and_labels(list(doc[start:end]), root_label)
    for number, (row, (head, deprel)) in enumerate(zip(rows, trees, strict=True), 1):
        row[0], row[6] = str(number), head
        if head != "_":
            row[7] = deprel
    return rows
