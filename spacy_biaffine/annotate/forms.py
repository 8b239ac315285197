"""How Docs become a part of the output, and parts the whole: .spacy, and the forms of the table."""

import shutil
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

from spacy.tokens import Doc, DocBin

from ..formats.convert.kept import kept_and_lost
from ..formats.form import Form
from ..formats.forms import LAYERS_JSON, WRITTEN, form_named, form_to_write
from ..formats.options import SPANS_KEY

SPACY = "spacy"

FORMS = (SPACY, *(name for form in WRITTEN for name in (form.name, *form.aliases)))
"""What can be written, by all names."""


class Packer(Protocol):
    """Collects the Docs of one part. lost: how much of each layer has no place in it."""

    lost: Counter[str]

    def add(self, doc: Doc, number: int) -> None:
        """Take a Doc, which has this number in all input, from 1. Raises ValueError where the form
        can't hold it."""

    def data(self) -> bytes:
        """The part."""


class DocBinPacker:
    """Packs Docs to a .spacy file."""

    def __init__(self) -> None:
        self._docbin = DocBin()
        self.lost: Counter[str] = Counter()

    def add(self, doc: Doc, number: int) -> None:
        self._docbin.add(doc)

    def data(self) -> bytes:
        return self._docbin.to_bytes()


class TextPacker:
    """Packs Docs as text. spans_key: the group of entities; None for the form's own choice."""

    def __init__(self, form: Form, spans_key: str | None) -> None:
        self._form = form
        self._spans_key = spans_key
        self.lost: Counter[str] = Counter()
        has_key = spans_key is not None and SPANS_KEY in form.write_options
        self._options = {SPANS_KEY.name: spans_key} if has_key else {}
        self._texts: list[str] = []

    def add(self, doc: Doc, number: int) -> None:
        assert self._form.write is not None
        text = self._form.write(doc, number, **self._options)
        if not text:
            raise ValueError("the text has no words, and this form has no place for it")
        self._texts.append(text)
        self.lost.update(kept_and_lost(doc, self._form, self._spans_key)[1])

    def data(self) -> bytes:
        return self._form.between.join(self._texts).encode()


def packer(name: str, spans_key: str | None) -> Packer:
    """An empty packer for one of `FORMS`."""
    return DocBinPacker() if name == SPACY else TextPacker(form_named(name), spans_key)


def join_texts(form: Form, parts: Iterable[Path], file: BinaryIO) -> None:
    """Write parts, each as of a `TextPacker`, one after the other."""
    file.write(form.opening.encode())
    written = False
    for part in parts:
        if part.stat().st_size:
            file.write(form.between.encode() if written else b"")
            written = True
            with part.open("rb") as source:
                shutil.copyfileobj(source, file)
    file.write(form.closing.encode())


def form_of(target: Path) -> str:
    """The form that a file's name asks for; all layers in .jsonl. Raises ValueError for none."""
    form = LAYERS_JSON if target.suffix == ".jsonl" else form_to_write(target)
    if form is None and target.suffix != ".spacy":
        endings = ", ".join([".spacy", *(form.suffix for form in WRITTEN if form.suffix)])
        raise ValueError(
            f"{target}: its form can't be told by its name. End it in {endings}, or say --form, "
            f"one of {', '.join(FORMS)}"
        )
    return SPACY if form is None else form.name
