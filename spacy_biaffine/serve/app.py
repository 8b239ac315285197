"""The web application: one page with a form, and what a pipeline makes of the text in it."""

from collections.abc import Callable
from urllib.parse import parse_qs

from spacy.language import Language
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from ..formats.conllu.api import to_conllu
from .examples import examples_of
from .page import analysis, links, message, model_card, page
from .worker import Worker

MAX_LENGTH = 2_000
"""Characters of a text."""

HEADERS = {
    # No scripts at all, and nothing from elsewhere. displaCy writes styles into its elements.
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

FORM = "application/x-www-form-urlencoded"

_BYTES = 12
"""Most bytes of a character in a form: four, each written %XX."""


def make_app(load: Callable[[], Language], *, max_length: int = MAX_LENGTH) -> Starlette:
    """The application. load: gives the pipeline; called once. max_length: characters of a text."""
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
        exception_handlers={HTTPException: refuse, Exception: fail},
    )


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
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _BYTES * max_length + len("text="):
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
