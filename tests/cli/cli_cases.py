"""Pipelines and calls that the tests of several commands share."""

from functools import lru_cache
from typing import Any

import spacy
from factories import FACTORIES, TOK2VEC, examples_of, gold_docs
from spacy.cli._util import app
from spacy.language import Language
from thinc.api import fix_random_seed
from typer.testing import CliRunner

import spacy_biaffine.cli  # noqa: F401  adds the commands to spaCy's


@lru_cache
def pipeline() -> Language:
    """Every component, called by its kind, with weights but untrained. Tests leave it as it is."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    for factory in FACTORIES:
        model = {**factory.model, "tok2vec": TOK2VEC}
        nlp.add_pipe(factory.name, name=factory.kind, config={**factory.scored, "model": model})
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    return nlp


def call(command: str, *arguments: Any, **options: Any) -> tuple[int, str]:
    """Exit code and output, on one line since messages are wrapped."""
    result = CliRunner().invoke(app, ["biaffine", command, *map(str, arguments)], **options)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())
