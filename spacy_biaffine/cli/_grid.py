"""What the commands around experiments share."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..experiments.grid import Grid


def load_grid(file: Path, arguments: list[str]) -> "Grid":
    """Read a grid file with the --vars.NAME VALUE of the command line."""
    from spacy.cli._util import parse_config_overrides
    from wasabi import msg

    from ..experiments.grid import GridError, read_grid

    given = parse_config_overrides(list(arguments), env_var=None)
    for name in given:
        if not name.startswith("vars."):
            msg.fail(f"--{name}: only --vars.NAME can be set; put the rest into {file}", exits=1)
    try:
        return read_grid(file, {name.removeprefix("vars."): v for name, v in given.items()})
    except (GridError, OSError) as error:
        msg.fail(str(error), exits=1)
        raise
