"""The web application: one page with a form, and what a pipeline makes of the text in it."""

import asyncio
from collections.abc import Callable, Collection
from urllib.parse import parse_qs

from spacy.language import Language
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..formats.conllu.api import to_conllu
from .examples import examples_of
from .guard import Guard
from .page import analysis, links, message, model_card, page
from .worker import Busy, Worker

MAX_LENGTH = 2_000
"""Characters of a text."""

HEADERS = {
    # No scripts at all, and nothing from elsewhere. displaCy writes styles into its elements.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    # Without it browsers hide the Origin of the page's own form.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}

FORM = "application/x-www-form-urlencoded"

SECONDS = 10.0
"""How long the body of a request may take to arrive."""

_BYTES = 12
"""Most bytes of a character in a form: four, each written %XX."""


def make_app(
    load: Callable[[], Language], *, max_length: int = MAX_LENGTH, names: Collection[str] = ()
) -> Starlette:
    """The application.

    load: gives the pipeline; called once. max_length: characters of a text. names: under which
    hosts the page may be asked for, beside localhost and addresses in numbers; see `Guard`.
    """
    worker = Worker(load, analysis)
    meta = worker.nlp.meta
    title = f"{meta['lang']}_{meta['name']} {meta['version']}: {', '.join(worker.nlp.pipe_names)}"

    examples = examples_of(meta["lang"])
    card = model_card(meta)

    def respond(status: int, text: str = "", below: str = "", **headers: str) -> Response:
        content = page(title, max_length, text, below, examples=examples, card=card)
        return HTMLResponse(content, status_code=status, headers={**HEADERS, **headers})

    async def answer(text: str) -> Response:
        if not text.strip():
            return respond(400, text, message("The text has no words."))
        return respond(200, text, links(text) + await worker.run(text))

    async def show(request: Request) -> Response:
        if "text" not in request.query_params:
            return respond(200)
        return await answer(_query_text(request, max_length))

    async def analyse(request: Request) -> Response:
        return await answer(await _text_of(request, max_length))

    async def conllu(request: Request) -> Response:
        given = _query_text(request, max_length)
        if not given.strip():
            raise HTTPException(400, "The text has no words.")
        text = await worker.run(given, to_conllu)
        file = {"Content-Disposition": 'attachment; filename="analysis.conllu"'}
        return PlainTextResponse(text, headers={**HEADERS, **file})

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok", "pipeline": title}, headers=HEADERS)

    async def wait(request: Request, error: Exception) -> Response:
        text = "Too many texts are waiting. Try again in a moment."
        return respond(503, below=message(text), **{"Retry-After": "2"})

    async def refuse(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return respond(error.status_code, below=message(error.detail), **(error.headers or {}))

    async def fail(request: Request, error: Exception) -> Response:
        return respond(500, below=message("The pipeline failed on this text. The log says why."))

    return Starlette(
        routes=[
            Route("/", show, methods=["GET"]),
            Route("/", analyse, methods=["POST"]),
            Route("/analysis.conllu", conllu, methods=["GET"]),
            Route("/health", health, methods=["GET"]),
        ],
        exception_handlers={HTTPException: refuse, Busy: wait, Exception: fail},
        middleware=[Middleware(Guard, names={"localhost", *names})],
    )


async def _body_of(request: Request, most: int) -> bytes | None:
    """The body, None for one of more bytes."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            return None
    return body


def _query_text(request: Request, max_length: int) -> str:
    """The text in the address. Raises HTTPException for none, and for one that is too long."""
    text = request.query_params.get("text", "")
    if len(text) > max_length:
        raise HTTPException(414, f"The text is too long: at most {max_length:,} characters.")
    return text


async def _text_of(request: Request, max_length: int) -> str:
    """The text in the form. Raises HTTPException for one that is too long, and for other bodies."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise HTTPException(415, f"Send the text as the field 'text' of a form, {FORM}.")
    too_long = HTTPException(413, f"The text is too long: at most {max_length:,} characters.")
    try:
        body = await asyncio.wait_for(_body_of(request, _BYTES * max_length + 5), SECONDS)
    except asyncio.TimeoutError:
        raise HTTPException(408, "The text took too long to arrive.") from None
    if body is None:
        raise too_long
    try:
        fields = parse_qs(body.decode("utf8", "replace"), errors="replace", max_num_fields=1)
    except ValueError:
        raise HTTPException(400, "The form has more fields than 'text'.") from None
    # Browsers send line ends as CR LF, and count each as one character.
    text = fields.get("text", [""])[0].replace("\r\n", "\n")
    if len(text) > max_length:
        raise too_long
    return text
