"""What a request asks for."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from spacy.tokens import Doc
from spacy.vocab import Vocab
from starlette.exceptions import HTTPException
from starlette.requests import Request

from ..formats.common.json_text import json_value
from .file import File, form_parts
from .views import VIEWS

FORM = "application/x-www-form-urlencoded"

PARTS = "multipart/form-data"

JSON = "application/json"

SECONDS = 10.0
"""How long the body of a request may take to arrive."""

_BYTES = 12
"""Most bytes of a character: four, each written %XX in a form; \\uXXXX twice in JSON."""

_FILE_BYTES = 100
"""Most bytes of a file by character of its text."""

_KEYS = 4_000
"""Most bytes of a body beside its text."""


@dataclass(frozen=True)
class Asked:
    """A text, or the words of a file; and the layers to show, none for all."""

    text: str
    layers: Sequence[str] = ()
    words: Callable[[Vocab], Doc] | None = None


def wants_json(request: Request) -> bool:
    """Whether a program asks, and not a browser."""
    accepted = request.headers.get("accept", "")
    return request.url.path == "/api" or (JSON in accepted and "text/html" not in accepted)


def asked_by_address(request: Request, max_length: int) -> Asked:
    """Raises HTTPException for a text without words, for one that is too long, and for layers that
    are unknown."""
    text = request.query_params.get("text", "")
    check_length(text, max_length, 414)
    _check_words(text)
    return Asked(text, _checked_layers(request.query_params.getlist("layer")))


async def asked_by_form(request: Request, max_length: int) -> Asked:
    """Raises HTTPException as `asked_by_address`, and for what is no form or no text."""
    kind = _media_type(request)
    if kind == FORM:
        body = await _body(request, _BYTES, max_length)
        fields, file = _fields(body), None
    elif kind == PARTS:
        body = await _body(request, _FILE_BYTES, max_length)
        fields, file = await form_parts(request.headers, body)
    else:
        raise HTTPException(415, f"Send the text as the field 'text' of a form, {FORM}.")
    texts = [value for name, value in fields if name == "text"]
    layers = [value for name, value in fields if name == "layer"]
    if len(texts) > 1 or len(texts) + len(layers) < len(fields):
        raise HTTPException(400, "The form has more fields than one 'text' and some 'layer'.")
    layers = _checked_layers(layers)
    if file is not None:
        return _asked_by_file(file, layers, max_length)
    # Browsers send line ends as CR LF, and count each as one character.
    text = "".join(texts).replace("\r\n", "\n")
    check_length(text, max_length, 413)
    return Asked(text, layers)


async def asked_by_json(request: Request, max_length: int) -> Asked:
    """Of an object of JSON, {"text": ...}. Raises HTTPException for other bodies."""
    if _media_type(request) != JSON:
        raise HTTPException(415, f'Send {{"text": "..."}} as {JSON}.')
    body = await _body(request, _BYTES, max_length)
    try:
        asked = json_value(body.decode("utf8"))
    except ValueError as error:
        raise HTTPException(400, f"The body can't be read: {error}.") from None
    if not isinstance(asked, dict) or list(asked) != ["text"] or not isinstance(asked["text"], str):
        raise HTTPException(400, 'Send an object with one key, {"text": "..."}.')
    check_length(asked["text"], max_length, 413)
    _check_words(asked["text"])
    return Asked(asked["text"])


def check_length(text: str, max_length: int, status: int) -> None:
    """Raises HTTPException for a text that is too long."""
    if len(text) > max_length:
        raise HTTPException(status, f"The text is too long: at most {max_length:,} characters.")


def _asked_by_file(file: File, layers: Sequence[str], max_length: int) -> Asked:
    if not file.is_conllu:
        check_length(file.text, max_length, 413)
        return Asked(file.text, layers)

    def words(vocab: Vocab) -> Doc:
        doc = file.words(vocab)
        check_length(doc.text, max_length, 413)
        return doc

    return Asked("", layers, words)


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _fields(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(
            body.decode("utf8", "replace"),
            keep_blank_values=True,
            errors="replace",
            max_num_fields=1 + len(VIEWS),
        )
    except ValueError:
        raise HTTPException(400, "The form has more fields than 'text' and 'layer'.") from None


def _checked_layers(layers: list[str]) -> list[str]:
    unknown = [name for name in layers if name not in VIEWS]
    if unknown:
        raise HTTPException(400, f"There is no layer '{unknown[0]}', only {', '.join(VIEWS)}.")
    return list(dict.fromkeys(layers))


def _check_words(text: str) -> None:
    if not text.strip():
        raise HTTPException(400, "The text has no words.")


async def _body(request: Request, by_character: int, max_length: int) -> bytes:
    """Raises HTTPException for a body of more bytes, and for one that is slow."""
    most = by_character * max_length + _KEYS
    try:
        body = await asyncio.wait_for(_at_most(request, most), SECONDS)
    except asyncio.TimeoutError:
        raise HTTPException(408, "The text took too long to arrive.") from None
    if body is None:
        at_most = f"{max_length:,} characters, and files {most:,} bytes"
        raise HTTPException(413, f"The text is too long: at most {at_most}.")
    return body


async def _at_most(request: Request, most: int) -> bytes | None:
    """The body, None for one of more bytes."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return body
