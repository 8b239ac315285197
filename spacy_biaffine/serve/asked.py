"""What a request asks for."""

import asyncio
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request

from ..formats.common.json_text import json_value

FORM = "application/x-www-form-urlencoded"

JSON = "application/json"

SECONDS = 10.0
"""How long the body of a request may take to arrive."""

_BYTES = 12
"""Most bytes of a character: four, each written %XX in a form; \\uXXXX twice in JSON."""

_KEYS = 200
"""Most bytes of a body beside its text."""


def wants_json(request: Request) -> bool:
    """Whether a program asks, and not a browser."""
    accepted = request.headers.get("accept", "")
    return request.url.path == "/api" or (JSON in accepted and "text/html" not in accepted)


def query_text(request: Request, max_length: int) -> str:
    """The text in the address. Raises HTTPException for none, and for one that is too long."""
    text = request.query_params.get("text", "")
    _check_length(text, max_length, 414)
    _check_words(text)
    return text


async def form_text(request: Request, max_length: int) -> str:
    """The text in a form. Raises HTTPException for one that is too long, and for other bodies."""
    if _media_type(request) != FORM:
        raise HTTPException(415, f"Send the text as the field 'text' of a form, {FORM}.")
    body = await _body(request, max_length)
    try:
        fields = parse_qs(body.decode("utf8", "replace"), errors="replace", max_num_fields=1)
    except ValueError:
        raise HTTPException(400, "The form has more fields than 'text'.") from None
    # Browsers send line ends as CR LF, and count each as one character.
    text = fields.get("text", [""])[0].replace("\r\n", "\n")
    _check_length(text, max_length, 413)
    return text


async def json_text(request: Request, max_length: int) -> str:
    """The text in an object of JSON, {"text": ...}. Raises HTTPException for other bodies."""
    if _media_type(request) != JSON:
        raise HTTPException(415, f'Send {{"text": "..."}} as {JSON}.')
    body = await _body(request, max_length)
    try:
        asked = json_value(body.decode("utf8"))
    except ValueError as error:
        raise HTTPException(400, f"The body can't be read: {error}.") from None
    if not isinstance(asked, dict) or list(asked) != ["text"] or not isinstance(asked["text"], str):
        raise HTTPException(400, 'Send an object with one key, {"text": "..."}.')
    _check_length(asked["text"], max_length, 413)
    _check_words(asked["text"])
    return asked["text"]


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _check_length(text: str, max_length: int, status: int) -> None:
    if len(text) > max_length:
        raise HTTPException(status, f"The text is too long: at most {max_length:,} characters.")


def _check_words(text: str) -> None:
    if not text.strip():
        raise HTTPException(400, "The text has no words.")


async def _body(request: Request, max_length: int) -> bytes:
    """Raises HTTPException for a body that is too long for any text, and for one that is slow."""
    try:
        body = await asyncio.wait_for(_at_most(request, _BYTES * max_length + _KEYS), SECONDS)
    except asyncio.TimeoutError:
        raise HTTPException(408, "The text took too long to arrive.") from None
    if body is None:
        raise HTTPException(413, f"The text is too long: at most {max_length:,} characters.")
    return body


async def _at_most(request: Request, most: int) -> bytes | None:
    """The body, None for one of more bytes."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return body
