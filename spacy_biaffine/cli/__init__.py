"""``python -m spacy biaffine ...``: spaCy imports this through its ``spacy_cli`` entry point.

Commands import their heavy parts when they run, so that ``python -m spacy --help`` stays quick.
"""

import typer
from spacy.cli._util import app as spacy_app

from .annotate import annotate
from .attention import attention
from .convert import convert as convert_command
from .convert_entities import convert_entities
from .convert_labels import convert_labels
from .convert_relations import convert_relations
from .convert_roles import convert_roles
from .evaluate import evaluate
from .experiment import CONTEXT, experiment
from .render import render
from .report import report
from .serve import serve
from .tune_threshold import tune_threshold

app = typer.Typer(
    name="biaffine",
    help="Data, training, evaluation and pictures of spacy-biaffine.",
    no_args_is_help=True,
)
app.command("annotate")(annotate)
app.command("attention")(attention)
app.command("convert")(convert_command)
app.command("convert-entities")(convert_entities)
app.command("convert-labels")(convert_labels)
app.command("convert-relations")(convert_relations)
app.command("convert-roles")(convert_roles)
app.command("evaluate")(evaluate)
app.command("experiment", context_settings=CONTEXT)(experiment)
app.command("render")(render)
app.command("report", context_settings=CONTEXT)(report)
app.command("serve")(serve)
app.command("tune-threshold")(tune_threshold)

spacy_app.add_typer(app)
