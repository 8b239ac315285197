"""The web application: a page with a form and what a pipeline makes of the text in it, and the same
for programs."""

from collections.abc import Callable, Collection

from spacy.language import Language
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route

from .endpoints import Endpoints
from .guard import Guard
from .worker import Busy, Worker

MAX_LENGTH = 2_000
"""Characters of a text."""


def make_app(
    load: Callable[[], Language], *, max_length: int = MAX_LENGTH, names: Collection[str] = ()
) -> Starlette:
    """The application.

    load: gives the pipeline; called once. max_length: characters of a text. names: under which
    hosts the page may be asked for, beside localhost and addresses in numbers; see `Guard`.
    """
    ends = Endpoints(Worker(load), max_length)
    return Starlette(
        routes=[
            Route("/", ends.show, methods=["GET"], include_in_schema=False),
            Route("/", ends.analyse, methods=["POST"], include_in_schema=False),
            Route("/api", ends.api, methods=["GET"]),
            Route("/api", ends.api_of_body, methods=["POST"]),
            Route("/analysis.conllu", ends.conllu, include_in_schema=False),
            Route("/analysis.json", ends.json, include_in_schema=False),
            Route("/analysis.svg", ends.svg, include_in_schema=False),
            Route("/openapi.json", ends.openapi, include_in_schema=False),
            Route("/health", ends.health, include_in_schema=False),
        ],
        exception_handlers={HTTPException: ends.refuse, Busy: ends.wait, Exception: ends.fail},
        middleware=[Middleware(Guard, names={"localhost", *names})],
    )
