"""Files -> records, each of which becomes one Doc; and what can't become one.

A record holds its text as it was written, so that a bad one is found where Docs are made, and can
be put down whole. Until then bytes that are no UTF-8 are lone surrogates (as by surrogateescape).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..formats.common.docbin import docs_in
from ..formats.common.json_text import check_characters, json_value
from ..formats.conllu.read import ConlluError, ReadReport, Sentence, parse_sentences
from ..formats.conllu.to_docs import DocMaker, group_sentences
from ..formats.entities.json_offsets import KEYS
from ..formats.layers.read import from_layers_json
from ..formats.layers.write import FORMAT


class Bad(NamedTuple):
    """A record that gave no Doc: FILE:LINE, what is wrong, and the record as it was written."""

    place: str
    reason: str
    text: str


class Record(Protocol):
    """What becomes one Doc. It can be sent to another process."""

    @property
    def place(self) -> str:
        """FILE:LINE, where it begins."""

    @property
    def text(self) -> str:
        """As it was written."""

    def doc(self, nlp: Language) -> Doc:
        """A Doc, yet to be annotated. Raises ValueError, and whatever spaCy does."""


@dataclass(frozen=True)
class PlainText:
    """A text, to be tokenized."""

    place: str
    text: str

    def doc(self, nlp: Language) -> Doc:
        check_characters(self.text)
        return nlp.make_doc(self.text)


@dataclass(frozen=True)
class JsonLine:
    """An object with the key "text", or one of the form "layers", whose tokens stay."""

    place: str
    text: str

    def doc(self, nlp: Language) -> Doc:
        check_characters(self.text)
        record = json_value(self.text)
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise ValueError('a line must be an object with a string as "text"')
        if record.get("format") == FORMAT:
            return from_layers_json(record, nlp.vocab, self.place)
        doc = nlp.make_doc(record.pop("text"))
        if record:
            doc.user_data[KEYS] = record
        return doc


@dataclass(frozen=True)
class ConlluSentences:
    """Sentences of one Doc. Its tokens are the words; what is annotated already stays on them."""

    sentences: list[Sentence]

    @property
    def place(self) -> str:
        return self.sentences[0].place

    @property
    def text(self) -> str:
        return "\n\n".join("\n".join(_lines_of(sentence)) for sentence in self.sentences)

    def doc(self, nlp: Language) -> Doc:
        check_characters(self.text)
        return DocMaker(nlp.vocab).make(self.sentences)


@dataclass(frozen=True)
class StoredDoc:
    """A Doc from a .spacy file."""

    place: str
    text: str
    data: bytes

    def doc(self, nlp: Language) -> Doc:
        return Doc(nlp.vocab).from_bytes(self.data)


Records = Iterator[Record | Bad]


def read_records(path: Path, *, by_doc: bool) -> Records:
    """The records of a file, by its suffix, one of `READERS`.

    .txt: a text is a line, also an empty one; by_doc: the whole file. .jsonl: an object a line;
    blank lines are skipped. .conllu: a Doc is a sentence; by_doc: all up to the next ``# newdoc``.
    .spacy: the Docs. Raises OSError where the file can't be read.
    """
    return READERS[path.suffix](path, by_doc)


def _texts(path: Path, by_doc: bool) -> Records:
    if not by_doc:
        yield from (PlainText(f"{path}:{number}", line) for number, line in _lines(path))
        return
    text = path.read_bytes().decode("utf-8", "surrogateescape").removeprefix("\ufeff")
    yield PlainText(f"{path}:1", text)


def _objects(path: Path, by_doc: bool) -> Records:
    for number, line in _lines(path):
        if line.strip():
            yield JsonLine(f"{path}:{number}", line)


def _sentences(path: Path, by_doc: bool) -> Records:
    report = ReadReport()
    lines = (line for _, line in _lines(path))
    sentences = parse_sentences(lines, str(path), report, skip_bad=True)
    try:
        for group in group_sentences(sentences, by_doc=by_doc):
            yield from _left_out(report)
            yield ConlluSentences(group)
    except ConlluError as error:  # there is no sentence, or none that is valid
        if not report.errors:
            yield Bad(str(path), str(error), "")
    yield from _left_out(report)


def _left_out(report: ReadReport) -> Iterator[Bad]:
    while report.errors:
        error = report.errors.pop(0)
        place, _, reason = str(error).partition(": ")
        yield Bad(place, reason, error.block)


def _docs(path: Path, by_doc: bool) -> Records:
    try:
        for number, doc in enumerate(docs_in(path, Vocab()), 1):
            yield StoredDoc(f"{path}: Doc {number}", doc.text, doc.to_bytes())
    except ValueError as error:
        yield Bad(str(path), str(error), "")


READERS: dict[str, Callable[[Path, bool], Records]] = {
    ".txt": _texts,
    ".jsonl": _objects,
    ".conllu": _sentences,
    ".spacy": _docs,
}


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines without their ends, numbered from 1. Only a newline ends a line."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            line = raw.decode("utf-8", "surrogateescape")
            if number == 1:
                line = line.removeprefix("\ufeff")
            yield number, line.removesuffix("\n").removesuffix("\r")


def _lines_of(sentence: Sentence) -> Iterator[str]:
    yield from sentence.comments
    others = list(sentence.others)
    for position, cells in enumerate(sentence.words):
        while others and others[0][0] <= position:
            yield others.pop(0)[1]
        yield "\t".join(cells)
    yield from (line for _, line in others)
