"""A toy form, the example of CONTRIBUTING.md: a sentence a line, words as word/TAG."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.formats.common.lines import FormatError, Skipped, numbered_lines
from spacy_biaffine.formats.form import Form, each_file


def read_slashes(path: Path, vocab: Vocab, *, skip_bad: bool, report: Skipped) -> Iterator[Doc]:
    """A Doc for each line. Raises FormatError, with file and line."""
    for place, line in numbered_lines(path):
        if line.strip():
            yield from report.attempt(partial(_doc, place, line, vocab), skip_bad=skip_bad)


def _doc(place: str, line: str, vocab: Vocab) -> Doc:
    pairs = [word.rpartition("/") for word in line.split()]
    for word, _, tag in pairs:
        if not word or not tag:
            raise FormatError(place, "tag", f"{word + tag!r} is no word/TAG")
    return Doc(vocab, words=[word for word, _, _ in pairs], tags=[tag for _, _, tag in pairs])


def slashes_text(doc: Doc, number: int) -> str:
    """The line of a Doc. Raises ValueError for a tag with a slash, which could not be told."""
    if any("/" in token.tag_ for token in doc):
        raise ValueError(f"Doc {number} has a tag with a slash")
    return " ".join(f"{token.text}/{token.tag_}" for token in doc if not token.is_space) + "\n"


SLASHES = Form(
    name="slashes",
    title="A sentence a line, words as word/TAG",
    holds=("tags",),
    sample={"a.slashes": "Rain/NN fell/VBD\n"},
    example="a.slashes a.spacy",
    fits=lambda path: path.suffix == ".slashes",
    read=each_file(read_slashes),
    write=slashes_text,
    suffix=".slashes",
)
