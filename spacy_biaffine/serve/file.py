"""Files that are sent with the form."""

import re
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from spacy.tokens import Doc
from spacy.vocab import Vocab
from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser

from ..doc.given import give
from ..formats.common.lines import FormatError
from ..formats.conllu.api import docs_from_conllu

_CONLLU = re.compile(r"\s*(#.*\n)*\d[\d.-]*(\t[^\t\n]+){9}\n")
"""How a CoNLL-U file begins."""


@dataclass(frozen=True)
class File:
    """A file as text."""

    name: str
    text: str

    @property
    def is_conllu(self) -> bool:
        return self.name.lower().endswith(".conllu") or _CONLLU.match(self.text) is not None

    def words(self, vocab: Vocab) -> Doc:
        """The words of a CoNLL-U file and nothing else. Raises HTTPException with file and line."""
        try:
            docs = [give(doc, []) for doc in docs_from_conllu(self.text, vocab, name=self.name)]
        except FormatError as error:
            raise HTTPException(400, str(error)) from None
        doc = Doc.from_docs(docs)
        assert doc is not None  # a file without sentences is an error
        return doc


async def form_parts(headers: Headers, body: bytes) -> tuple[list[tuple[str, str]], File | None]:
    """The fields of a form, multipart/form-data, and its file, None where none was chosen.

    Raises HTTPException for what is none, for more than one file, and for a file that is no UTF-8.
    """

    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    try:
        form = await MultiPartParser(headers, stream(), max_files=1, max_fields=20).parse()
    except (MultiPartException, KeyError) as error:
        detail = getattr(error, "message", "it has no boundary")
        raise HTTPException(400, f"The form can't be read: {detail}") from None
    fields, file = [], None
    for name, value in form.multi_items():
        if not isinstance(value, UploadFile):
            fields.append((name, value))
        elif value.filename:
            file = _decoded(value.filename, await value.read())
    await form.close()
    return fields, file


def _decoded(name: str, raw: bytes) -> File:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        detail = f"this is no UTF-8 (byte 0x{raw[error.start]:02x}); convert it to UTF-8"
        raise HTTPException(400, f"{name}:{line}: {detail}") from None
    return File(name, text.replace("\r\n", "\n"))
