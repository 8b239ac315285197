"""What is written: how Docs become a part of the output, and parts the whole."""

import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from spacy.tokens import Doc, DocBin

from ..formats.conllu.api import to_conllu
from ..formats.entities.api import entities_record
from ..formats.props.api import to_conll05, to_conll09
from ..formats.relations.api import ENTITIES, spert_record
from .records import KEYS


class Packer(Protocol):
    """Collects the Docs of one part."""

    def add(self, doc: Doc, number: int) -> None:
        """Take a Doc, which has this number in all input, from 1. Raises ValueError where the form
        can't hold it."""

    def data(self) -> bytes:
        """The part."""


class DocBinPacker:
    """Packs Docs to a .spacy file."""

    def __init__(self) -> None:
        self._docbin = DocBin()

    def add(self, doc: Doc, number: int) -> None:
        self._docbin.add(doc)

    def data(self) -> bytes:
        return self._docbin.to_bytes()


@dataclass(frozen=True)
class TextForm:
    """A form made of text.

    write: the text of a Doc and its number. opening, between, closing: what frames the texts.
    """

    write: Callable[[Doc, int], str]
    opening: str = ""
    between: str = ""
    closing: str = ""

    def join(self, parts: Iterable[Path], file: BinaryIO) -> None:
        """Write parts one after the other."""
        file.write(self.opening.encode())
        written = False
        for part in parts:
            if part.stat().st_size:
                file.write(self.between.encode() if written else b"")
                written = True
                with part.open("rb") as source:
                    shutil.copyfileobj(source, file)
        file.write(self.closing.encode())


class TextPacker:
    """Packs Docs by a `TextForm`."""

    def __init__(self, form: TextForm) -> None:
        self._form = form
        self._texts: list[str] = []

    def add(self, doc: Doc, number: int) -> None:
        self._texts.append(self._form.write(doc, number))

    def data(self) -> bytes:
        return self._form.between.join(self._texts).encode()


SPACY = "spacy"

FORMS = (SPACY, "conllu", "entities", "spert", "conll05", "conll09")

_SUFFIXES = {".spacy": SPACY, ".conllu": "conllu", ".jsonl": "entities", ".json": "spert"}


def form_of(target: Path) -> str:
    """The form that a file's name asks for. Raises ValueError where it asks for none."""
    if target.suffix not in _SUFFIXES:
        raise ValueError(
            f"{target}: its form can't be told by its name. End it in {', '.join(_SUFFIXES)}, or "
            f"say --form, one of {', '.join(FORMS)}"
        )
    return _SUFFIXES[target.suffix]


def text_form(name: str, spans_key: str | None) -> TextForm:
    """One of `FORMS` but SPACY. spans_key: the group of entities; None for doc.ents, or for spert
    its usual group, if there is one."""
    if name == "entities":
        return TextForm(lambda doc, _: _line(_with_keys(doc, entities_record(doc, spans_key))))
    if name == "spert":
        key = ENTITIES if spans_key is None else spans_key
        record = TextForm(lambda doc, _: _json(spert_record(doc, key)), "[\n", ",\n", "\n]\n")
        return record
    if name == "conllu":
        return TextForm(lambda doc, number: _some(to_conllu(doc, number)))
    one_doc = {"conll05": to_conll05, "conll09": to_conll09}[name]
    return TextForm(lambda doc, _: _some(one_doc(doc)))


def packer(name: str, spans_key: str | None) -> Packer:
    """An empty packer for one of `FORMS`."""
    return DocBinPacker() if name == SPACY else TextPacker(text_form(name, spans_key))


def _some(sentences: str) -> str:
    if not sentences:
        raise ValueError("the text has no words, and this form has no place for it")
    return sentences


def _with_keys(doc: Doc, record: dict[str, Any]) -> dict[str, Any]:
    """A record with the other keys that its line had in the input."""
    return {**doc.user_data.get(KEYS, {}), **record}


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False)


def _line(record: dict[str, Any]) -> str:
    return _json(record) + "\n"
