"""What the page answers. Below the line of three dashes a docstring is YAML, of OpenAPI."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spacy.tokens import Doc
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from ..formats.conllu.api import to_conllu
from ..formats.layers.write import layers_text
from ..pictures.layers import DRAWN
from ..pictures.stacked import stacked
from .asked import JSON, Asked, asked_by_address, asked_by_form, asked_by_json, wants_json
from .examples import examples_of
from .openapi import description
from .page import links, message, model_card, page, shown
from .worker import Worker

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
    # The page for browsers, JSON for programs.
    "Vary": "Accept",
}


class Endpoints:
    """Answers of the page with one pipeline. max_length: characters of a text."""

    def __init__(self, worker: Worker, max_length: int) -> None:
        meta = worker.nlp.meta
        self.title = (
            f"{meta['lang']}_{meta['name']} {meta['version']}: {', '.join(worker.nlp.pipe_names)}"
        )
        self._worker = worker
        self._max_length = max_length
        self._examples = examples_of(meta["lang"])
        self._card = model_card(meta)

    async def show(self, request: Request) -> Response:
        """The page, with the analysis of the text in the address; for programs JSON."""
        if wants_json(request):
            return await self.api(request)
        if "text" not in request.query_params:
            return self._page(200)
        return await self._analysed(asked_by_address(request, self._max_length))

    async def analyse(self, request: Request) -> Response:
        """The page with the analysis of the text or the file in the form; for programs JSON."""
        asked = await asked_by_form(request, self._max_length)
        if asked.words is None and not asked.text.strip():
            return self._problem(request, 400, "The text has no words.")
        if wants_json(request):
            return await self._json(asked)
        return await self._analysed(asked)

    async def api(self, request: Request) -> Response:
        """All layers of the text in the address.
        ---
        summary: All layers of a text
        operationId: layersOfAddress
        parameters:
          - $ref: "#/components/parameters/text"
        responses:
          "200":
            description: The text with its layers
            content: {application/json: {schema: {$ref: "#/components/schemas/layers"}}}
          "400": {$ref: "#/components/responses/400"}
          "414": {$ref: "#/components/responses/413"}
          "500": {$ref: "#/components/responses/500"}
          "503": {$ref: "#/components/responses/503"}
        """
        return await self._json(asked_by_address(request, self._max_length))

    async def api_of_body(self, request: Request) -> Response:
        """All layers of the text in the body.
        ---
        summary: All layers of a text
        operationId: layersOfBody
        requestBody:
          required: true
          content: {application/json: {schema: {$ref: "#/components/schemas/asked"}}}
        responses:
          "200":
            description: The text with its layers
            content: {application/json: {schema: {$ref: "#/components/schemas/layers"}}}
          "400": {$ref: "#/components/responses/400"}
          "413": {$ref: "#/components/responses/413"}
          "415": {$ref: "#/components/responses/415"}
          "500": {$ref: "#/components/responses/500"}
          "503": {$ref: "#/components/responses/503"}
        """
        return await self._json(await asked_by_json(request, self._max_length))

    async def conllu(self, request: Request) -> Response:
        """The analysis as a CoNLL-U file."""
        return await self._file(request, "conllu", to_conllu, "text/plain")

    async def json(self, request: Request) -> Response:
        """The analysis as a file of JSON."""
        return await self._file(request, "json", layers_text, JSON)

    async def svg(self, request: Request) -> Response:
        """Pictures of the analysis, those of one layer or all, below each other."""
        layers = asked_by_address(request, self._max_length).layers

        def draw(doc: Doc) -> str:
            names = layers or DRAWN
            return stacked(p for name in names if name in DRAWN for p in DRAWN[name](doc))

        return await self._file(request, "svg", draw, "image/svg+xml")

    async def openapi(self, request: Request) -> Response:
        """The description of `api`."""
        found = description(request.app.routes, self._max_length)
        return JSONResponse(found, headers=HEADERS)

    async def health(self, request: Request) -> Response:
        """Whether the page runs, and with which pipeline."""
        return JSONResponse({"status": "ok", "pipeline": self.title}, headers=HEADERS)

    async def wait(self, request: Request, error: Exception) -> Response:
        """The answer where the worker is busy."""
        text = "Too many texts are waiting. Try again in a moment."
        return self._problem(request, 503, text, **{"Retry-After": "2"})

    async def refuse(self, request: Request, error: Exception) -> Response:
        """The answer to requests that are refused."""
        assert isinstance(error, HTTPException)
        return self._problem(request, error.status_code, error.detail, **(error.headers or {}))

    async def fail(self, request: Request, error: Exception) -> Response:
        """The answer where the pipeline raised an error."""
        text = "The pipeline failed on this text. The log says why."
        return self._problem(request, 500, text)

    def _page(self, status: int, below: str = "", **more: Any) -> Response:
        content = page(
            self.title,
            self._max_length,
            below=below,
            examples=self._examples,
            card=self._card,
            **more,
        )
        return HTMLResponse(content, status_code=status, headers=HEADERS)

    def _problem(self, request: Request, status: int, text: str, **headers: str) -> Response:
        if wants_json(request):
            return JSONResponse({"error": text}, status, headers={**HEADERS, **headers})
        response = self._page(status, message(text))
        response.headers.update(headers)
        return response

    async def _analysed(self, asked: Asked) -> Response:
        found = await self._worker.run(
            asked.words or asked.text, partial(shown, layers=asked.layers)
        )
        # The words of a file can't be told by an address.
        way = links(asked.text, asked.layers) if asked.words is None else ""
        return self._page(
            200, way + found.sections, text=found.text, layers=asked.layers, rules=found.rules
        )

    async def _json(self, asked: Asked) -> Response:
        found = await self._worker.run(asked.words or asked.text, layers_text)
        return Response(found, media_type=JSON, headers=HEADERS)

    async def _file(
        self, request: Request, suffix: str, read: Callable[[Doc], str], media_type: str
    ) -> Response:
        found = await self._worker.run(asked_by_address(request, self._max_length).text, read)
        if not found:
            raise HTTPException(404, "The analysis has nothing of this kind.")
        file = {"Content-Disposition": f'attachment; filename="analysis.{suffix}"'}
        return Response(found, media_type=media_type, headers={**HEADERS, **file})
