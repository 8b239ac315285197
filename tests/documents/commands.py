"""Shell commands are taken apart by the parsers of the programs that they name, and not run."""

import configparser
import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any

import spacy
import srsly
from spacy.cli._util import app
from spacy.util import registry
from thinc.api import Config
from typer.main import get_command

from .pages import ROOT

UNCHECKED = {".", "cd", "echo", "git", "hf", "mkdir", "mv", "pytest", "sphinx-build"}
"""Programs of others, whose arguments are taken on trust."""

PYTHON_MODULES = {"build", "venv", "http.server", "spacy_huggingface_hub"}

PIP_OPTIONS = {"-c", "-e", "-q", "-U", "--no-deps", "--upgrade"}

OURS = ("assets", "benchmarks", "configs", "docs", "experiments", "scripts", "tests")
"""Folders whose files a command can't make: what is named there must be there."""

MADE = ("assets/UD_", "experiments/work")

CHECKED = ("python -m ", "spacy project ", "python scripts/", "python benchmarks/", "pip install ")
"""How code within a line begins that is a command."""


class BadCommandError(AssertionError):
    """A command that would not run."""


def check_script(text: str) -> None:
    """Check every command of a block. Raises BadCommandError."""
    commands = list(commands_of(text))
    if not commands:
        raise BadCommandError("there is no command in it")
    for command in commands:
        check_command(command)


def check_span(text: str) -> None:
    """Check code within a line that begins like a command; arguments may be missing."""
    if text.startswith(CHECKED) and "..." not in text:
        for command in commands_of(text):
            check_command(command, whole=False)


def commands_of(text: str) -> Iterator[list[str]]:
    """The words of each command, without what joins it to others, and without redirection."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in lexer:
            if set(word) <= set("|&;"):
                yield words
                words = []
            elif set(word) <= set("<>"):
                next(lexer)
            else:
                words.append(word)
        if words:
            yield words


def check_command(words: list[str], *, whole: bool = True) -> None:
    """Check one command. whole: its arguments must be there. Raises BadCommandError."""
    for word in words:
        check_path(word)
    program, *arguments = words
    if words[:3] == ["python", "-m", "spacy"]:
        check_spacy(words[3:], whole=whole)
    elif program == "spacy":
        check_spacy(arguments, whole=whole)
    elif program == "pip":
        _check_pip(arguments)
    elif words[:2] == ["python", "-m"] and words[2].startswith("benchmarks."):
        _check_own_script(f"{words[2].replace('.', '/')}/__main__.py", *words[3:])
    elif words[:2] == ["python", "-m"]:
        if words[2] not in PYTHON_MODULES:
            raise BadCommandError(f"what is python -m {words[2]}?")
    elif program == "python" and arguments[0].endswith(".py"):
        _check_own_script(*arguments)
    elif program not in UNCHECKED:
        raise BadCommandError(f"no test knows the program {program!r}")


def check_path(text: str) -> None:
    """A path within the folders of the repository leads to something; it may have a `*`."""
    path = text.partition("=")[2] or text
    if not re.fullmatch(r"[\w./*-]+", path) or not path.startswith(tuple(f"{o}/" for o in OURS)):
        return
    folders = (ROOT, ROOT / "experiments")  # grids name configs by their own place
    if not path.startswith(MADE) and not any(any(f.glob(path.rstrip("/"))) for f in folders):
        raise BadCommandError(f"there is no {path}")


def check_spacy(words: list[str], *, whole: bool) -> None:
    """Check a command of spaCy, ours included, by the parser that will read it."""
    command, names, words = _find(words)
    if command is None:
        return
    settings = command.context_settings
    overrides: dict[str, str] = {}
    if settings.get("ignore_unknown_options"):
        words, overrides = _without_overrides(words)
    context = command.context_class(command, info_name=names[-1], **settings)
    try:
        values, left, _ = command.make_parser(context).parse_args(words)
    except Exception as error:
        if not hasattr(error, "format_message"):  # of click, or of the click within typer
            raise
        raise BadCommandError(f"{' '.join(names)}: {error.format_message()}") from error
    if left:
        raise BadCommandError(f"{' '.join(names)}: too much: {left}")
    for parameter in command.params:
        value = values.get(parameter.name)
        given = value is not None and type(value).__name__ != "Sentinel" and value != ()
        if whole and not given and parameter.required:
            raise BadCommandError(f"{' '.join(names)}: {parameter.name} is missing")
        if given and whole and not _can_be(parameter, value):
            raise BadCommandError(f"{' '.join(names)}: {parameter.name} can't be {value!r}")
    _check_overrides(names, values, overrides)


@cache
def _spacy_command() -> Any:
    registry.cli.get_all()
    return get_command(app)


def _find(words: list[str]) -> tuple[Any, list[str], list[str]]:
    """The command that words call, its names, and the words that are left. None for a group."""
    command, names = _spacy_command(), ["spacy"]
    while hasattr(command, "commands"):
        if not words:
            return None, names, words
        if words[0] not in command.commands:
            if words == ["--help"]:
                return None, names, []
            raise BadCommandError(f"{' '.join(names)} has no command {words[0]!r}")
        command = command.commands[words[0]]
        names, words = [*names, words[0]], words[1:]
    return command, names, words


def _can_be(parameter: Any, value: Any) -> bool:
    kind = getattr(parameter, "type_descriptor", None) or parameter.type
    choices = {str(getattr(each, "value", each)) for each in getattr(kind, "choices", None) or ()}
    values = set(value if isinstance(value, list) else [value])
    return not choices or values <= choices


def _without_overrides(words: list[str]) -> tuple[list[str], dict[str, str]]:
    """Words but settings of a config (`--training.max_steps 10`), and those."""
    left, overrides = [], {}
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name.startswith("--") and "." in name:
            overrides[name[2:]] = value if equals else next(rest, "true")
        else:
            left.append(word)
    return left, overrides


def _check_overrides(names: list[str], values: dict[str, Any], overrides: dict[str, str]) -> None:
    if names[1:3] == ["project", "run"]:
        _check_project(str(values.get("subcommand")), overrides)
        return
    for key in ("config_path", "file", "path"):
        path = ROOT / str(values.get(key))
        if path.suffix == ".cfg" and path.is_file():
            _check_settings(path, overrides)
        if path.suffix == ".yml" and path.is_file():
            variables = (srsly.read_yaml(path) or {}).get("vars") or {}
            for name in overrides:
                if name.removeprefix("vars.") not in variables:
                    raise BadCommandError(f"{path.name} has no {name}")


def _check_settings(path: Any, settings: dict[str, str]) -> None:
    """Settings that the config has, or that a component or a function in it takes."""
    config = Config().from_disk(path, interpolate=False)
    for name in settings:
        section: Any = config
        *sections, last = name.split(".")
        for each in sections:
            section = section.get(each) if isinstance(section, dict) else None
        if section is None:
            raise BadCommandError(f"{path.name} has no section for {name}")
        open_ended = any(key.startswith("@") or key == "factory" for key in section)
        if last not in section and not open_ended:
            raise BadCommandError(f"{path.name} has no {name}")


def _check_project(step: str, overrides: dict[str, str]) -> None:
    project = srsly.read_yaml(ROOT / "project.yml")
    steps = {each["name"] for each in project["commands"]} | set(project["workflows"])
    if step != "None" and step not in steps:
        raise BadCommandError(f"project.yml has no step {step!r}")
    for name in overrides:
        if not name.startswith("vars.") or name[5:] not in project["vars"]:
            raise BadCommandError(f"project.yml has no {name}")
    config = ROOT / overrides.get("vars.config", project["vars"]["config"])
    if not config.is_file():
        raise BadCommandError(f"there is no {config.name}")
    settings = dict(each.split("=", 1) for each in overrides.get("vars.set", "").split())
    _check_settings(config, settings)


def _check_pip(words: list[str]) -> None:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    extras = set(parser["options.extras_require"])
    if not words or words[0] != "install":
        raise BadCommandError("pip does what but install?")
    for word in words[1:]:
        if word.startswith("-") and word not in PIP_OPTIONS:
            raise BadCommandError(f"pip install has no {word}")
        ours = re.fullmatch(r"\.\[(.+)\]", word)
        if word.startswith("spacy-biaffine"):
            raise BadCommandError("no index has spacy-biaffine")
        for extra in ours[1].split(",") if ours else ():
            if extra.strip() not in extras:
                raise BadCommandError(f"setup.cfg has no extra {extra!r}")
    if "constraints.txt" in words and not (ROOT / "constraints.txt").is_file():
        raise BadCommandError("there is no constraints.txt")


def _check_own_script(path: str, *words: str) -> None:
    """Options of a script are looked up in its source."""
    if not (ROOT / path).is_file():
        raise BadCommandError(f"there is no {path}")
    source = (ROOT / path).read_text(encoding="utf-8")
    for word in words:
        if word.startswith("--") and f'"{word.partition("=")[0]}"' not in source:
            raise BadCommandError(f"{path} has no option {word}")


assert spacy.cli  # the commands register themselves on import
