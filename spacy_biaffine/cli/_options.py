"""Options that several commands have."""

from typing import Annotated

import typer

Lang = Annotated[str, typer.Option("--lang", "-l", help="Language code")]
MaxDocs = Annotated[
    int, typer.Option("--max-docs", min=1, help="Docs to a file; more make a folder of shards")
]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out what can't be read, and list it")
]
