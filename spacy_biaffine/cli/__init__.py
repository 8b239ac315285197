"""``python -m spacy biaffine ...``: spaCy imports this through its ``spacy_cli`` entry point.

Commands import their heavy parts when they run, so that ``python -m spacy --help`` stays quick.
"""

import typer
from spacy.cli._util import app as spacy_app

from .annotate import annotate
from .attention import attention
from .convert import COMMANDS, function_of
from .evaluate import evaluate
from .experiment import CONTEXT, experiment
from .render import render
from .report import report
from .serve import serve
from .train import CONTEXT as TRAIN_CONTEXT
from .train import train
from .tune_threshold import tune_threshold

app = typer.Typer(
    name="biaffine",
    help="Data, training, evaluation and pictures of spacy-biaffine.",
    no_args_is_help=True,
)
app.command("annotate")(annotate)
app.command("attention")(attention)
for command in COMMANDS:
    app.command(command.name)(function_of(command))
app.command("evaluate")(evaluate)
app.command("experiment", context_settings=CONTEXT)(experiment)
app.command("render")(render)
app.command("report", context_settings=CONTEXT)(report)
app.command("serve")(serve)
app.command("train", context_settings=TRAIN_CONTEXT)(train)
app.command("tune-threshold")(tune_threshold)

spacy_app.add_typer(app)
