"""The description of the page for programs, by OpenAPI. What an endpoint does stands in its
docstring (`endpoints.py`), as Starlette's schemas have it."""

import json
from importlib.resources import files
from typing import Any

from starlette.routing import BaseRoute
from starlette.schemas import SchemaGenerator

import spacy_biaffine

PROBLEMS = {
    "400": "The text has no words, or the request can't be read.",
    "413": "The text is too long.",
    "415": "The body is of another type.",
    "500": "The pipeline failed on this text.",
    "503": "Too many texts are waiting. Header Retry-After: seconds.",
}

_TEXT = {"type": "string", "description": "What the pipeline analyses."}


def description(routes: list[BaseRoute], max_length: int) -> dict[str, Any]:
    """An object of OpenAPI 3.1. max_length: most characters of a text."""
    text = {**_TEXT, "maxLength": max_length}
    asked = {
        "type": "object",
        "required": ["text"],
        "additionalProperties": False,
        "properties": {"text": text},
    }
    error = {
        "type": "object",
        "required": ["error"],
        "properties": {"error": {"type": "string", "description": "What is wrong, in words."}},
    }
    components = {
        "schemas": {**_schemas(), "asked": asked, "error": error},
        "parameters": {"text": {"name": "text", "in": "query", "required": True, "schema": text}},
        "responses": {number: _problem(words) for number, words in PROBLEMS.items()},
    }
    base = {
        "openapi": "3.1.0",
        "info": {
            "title": "spacy-biaffine",
            "version": spacy_biaffine.__version__,
            "description": "What a spaCy pipeline makes of a text.",
        },
        "components": components,
    }
    found: dict[str, Any] = SchemaGenerator(base).get_schema(routes)
    return found


def _schemas() -> dict[str, Any]:
    """The schema of the answer, and those that it refers to."""
    text = files("spacy_biaffine").joinpath("formats/layers/schema.json").read_text("utf8")
    schema = json.loads(text.replace("#/$defs/", "#/components/schemas/"))
    parts = schema.pop("$defs")
    del schema["$schema"], schema["$id"]
    return {"layers": schema, **parts}


def _problem(words: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/error"}
    return {"description": words, "content": {"application/json": {"schema": schema}}}
