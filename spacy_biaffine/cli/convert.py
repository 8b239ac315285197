"""``python -m spacy biaffine convert``, and the commands ``convert-*`` for some of the forms."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ..formats.form import Form
from ..formats.forms import FORMS, OUTPUTS, form_of, names_of
from ..formats.options import Option
from ._options import MaxDocs, SkipBad


class Command(NamedTuple):
    """A command that converts. what: the layer that it is about. forms: by the names that --form
    takes. intro, back: of its help, what it is for and how to convert back. layers: names of those
    of which one must be in what it reads."""

    name: str
    what: str
    forms: Mapping[str, Form]
    intro: str
    back: str
    layers: tuple[str, ...] = ()


_BY_NAME = {form.name: form for form in FORMS}

COMMANDS = (
    Command(
        "convert",
        "trees",
        _BY_NAME,
        "Convert files of any form to .spacy files for training, back, and to other forms.\n\n"
        "A UD treebank folder gives train.spacy, dev.spacy and test.spacy, as far as present.",
        "corpus/dev.spacy dev.conllu",
    ),
    Command(
        "convert-entities",
        "entities",
        {name: _BY_NAME[name] for name in ("json", "cluener", "columns")},
        "Convert files with entities to .spacy files for training, and back to JSON lines.",
        "dev.spacy dev.jsonl --spans-key sc",
        ("entities", "spans"),
    ),
    Command(
        "convert-labels",
        "labels",
        {"labels": _BY_NAME["labels"]},
        "Convert a file with a token and its label a line to .spacy files for training a tagger.",
        "",
    ),
    Command(
        "convert-relations",
        "relations",
        {
            **{name: _BY_NAME[name] for name in ("spert", "scierc", "conll04", "graph")},
            "conllu": _BY_NAME["conllu-layers"],
        },
        "Convert files with relations and other graphs to .spacy files, and back to SpERT's JSON.",
        "dev.spacy dev.json",
        ("relations", "dep_graph"),
    ),
    Command(
        "convert-roles",
        "roles",
        {name: _BY_NAME[name] for name in ("propbank", "conll05", "conll09", "up")},
        "Convert files with semantic roles to .spacy files with doc._.frames, and back.",
        "dev.spacy dev.txt --form conll05",
        ("frames", "word_frames"),
    ),
)


def function_of(command: Command) -> Callable[..., None]:
    """What Typer makes the command of: its signature and its help come from the forms."""

    def run(**given: Any) -> None:
        _run(command, **given)

    parameters = _parameters(command)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__doc__ = _help(command)
    return run


def _run(
    command: Command,
    sources: list[Path],
    target: Path,
    *,
    lang: str | None,
    skip_bad: bool,
    max_docs: int,
    form: Enum | None = None,
    to: Enum | None = None,
    **given: Any,
) -> None:
    from wasabi import msg

    from ..formats.convert.plan import plan
    from ..formats.convert.run import convert
    from ._summary import docs_bar, show_summary

    options = {name: value for name, value in given.items() if value is not None}
    try:
        chosen = _chosen(command, sources, target, form)
        for job in plan(sources, target, chosen, to=None if to is None else to.value):
            result = convert(
                job,
                options,
                lang=lang,
                skip_bad=skip_bad,
                max_docs=max_docs,
                wanted=command.layers,
                progress=docs_bar,
            )
            names = " ".join(map(str, job.sources))
            bad, is_whole = result.report.errors, result.is_whole
            show_summary(names, result.files, result.rows(), bad, is_whole=is_whole)
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)


def _chosen(command: Command, sources: list[Path], target: Path, named: Enum | None) -> Form | None:
    """The form that is named, or the only one there is; None where files say it.

    Raises ValueError where they say none of the command's.
    """
    forms = command.forms
    name = next(iter(forms)) if len(forms) == 1 else named and named.value
    reads_docs = all(source.suffix == ".spacy" or source.is_dir() for source in sources)
    written = [form for form in forms.values() if form.write]
    if not reads_docs and command.name != "convert":
        if written and target.suffix and target.suffix != ".spacy":
            raise ValueError(
                f"{target} must end in .spacy; {command.what} are written as --form "
                f"{names_of(written, 'or')}"
            )
        if name is None and (found := form_of(sources[0])) not in forms.values():
            own = names_of(forms.values(), "or")
            if found is None:
                raise ValueError(f"say what IN is: --form {own}; see --help")
            raise ValueError(
                f"{sources[0]} looks like {found.name}, which `convert` reads; this command reads "
                f"{own}"
            )
    return None if name is None else forms[name]


def _parameters(command: Command) -> list[inspect.Parameter]:
    options = [option for form in command.forms.values() for option in _options_of(form)]
    inputs = typer.Argument(metavar="IN...", help="Files of one form, or a folder; or .spacy")
    output = typer.Argument(metavar="OUT", help="NAME.spacy, another file, or a folder")
    fixed: dict[str, tuple[Any, Any]] = {
        "sources": (Annotated[list[Path], inputs], inspect.Parameter.empty),
        "target": (Annotated[Path, output], inspect.Parameter.empty),
    }
    if len(command.forms) > 1:
        asked = typer.Option("--form", help="What IN is, if in doubt, or OUT of .spacy; see below")
        fixed["form"] = (Annotated[_enum("Form", command.forms) | None, asked], None)
    if command.name == "convert":
        asked = typer.Option("--to", help="What OUT is; by default as its name says")
        names = ["spacy", *(form.name for form in OUTPUTS)]
        fixed["to"] = (Annotated[_enum("To", names) | None, asked], None)
    fixed |= {option.name: (_annotated(option, command), None) for option in dict.fromkeys(options)}
    fixed["lang"] = (
        Annotated[
            str | None,
            typer.Option("--lang", "-l", help="Language code; by default from the name, else xx"),
        ],
        None,
    )
    fixed |= {"skip_bad": (SkipBad, False), "max_docs": (MaxDocs, 100_000)}
    return [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
        )
        for name, (annotation, default) in fixed.items()
    ]


def _options_of(form: Form) -> tuple[Option, ...]:
    return (*form.options, *form.write_options)


def _annotated(option: Option, command: Command) -> Any:
    names = [name for name, form in command.forms.items() if option in _options_of(form)]
    of = "" if len(names) == len(command.forms) else f"{', '.join(names)}: "
    declared = typer.Option(*option.written, help=f"{of}{option.help}", min=option.least)
    return Annotated[option.kind | None, declared]


def _enum(name: str, values: Iterable[str]) -> Any:
    return Enum(name, {value: value for value in values}, type=str)


def _help(command: Command) -> str:
    call = f"python -m spacy biaffine {command.name}"
    forms = [
        f"{name}: {form.title}. Example: {call} {_renamed(form, name, command)}"
        for name, form in command.forms.items()
    ]
    back = [f"Back: {call} {command.back}"] if command.back else []
    return "\n\n".join([command.intro, *forms, *back])


def _renamed(form: Form, name: str, command: Command) -> str:
    """The example of a form, with --form as this command takes it."""
    if len(command.forms) == 1:
        return form.example.replace(f" --form {form.name}", "")
    return form.example.replace(f"--form {form.name}", f"--form {name}")
