"""What can be in the user's folder, and the commands that convert it.

    *-ud-train.conllu ...           a treebank, with *-layers-train.jsonl ... beside it or not
    train.spacy ...                 Docs that were converted by hand
    anything with train in its name files of a form that the user names

Beside train there are dev and test, as far as present.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spacy_biaffine.formats.common.language import language_of
from spacy_biaffine.formats.convert.treebank import SPLITS, find_splits
from spacy_biaffine.formats.forms import FORMS, form_named, names_of
from spacy_biaffine.formats.options import SPANS_KEY

from .learned import TREES, Learned

Command = list[object]


@dataclass(frozen=True)
class Options:
    """What the user can say about conversions. form: its name, and options of its converter."""

    form: list[str]
    n_sents: int
    merge_mwt: bool
    skip_bad: bool


@dataclass(frozen=True)
class Source:
    """The files of each split.

    kind: for the user. lang: by the names of the files, if they tell. name: for a package, without
    language. commands: what converts them to SPLIT.spacy in a folder, for a language; none where
    they are .spacy already.
    """

    kind: str
    files: dict[str, Path]
    lang: str | None
    name: str
    commands: Callable[[Path, str], list[Command]]


def find_source(folder: Path, options: Options, learned: Learned) -> Source:
    """What is in a folder. Raises ValueError where it is nothing that a conversion knows."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder: --vars.treebank names one with a corpus")
    if options.form:
        return _form(folder, options, learned)
    docs = {split: path for split in SPLITS if (path := _docbin(folder, split)).exists()}
    if docs:
        return Source(f"Docs in {folder}", docs, None, _name_of(folder), lambda to, lang: [])
    try:
        files = find_splits(folder)
    except ValueError as error:
        raise ValueError(
            f"{error}, and for train.spacy. For other files say what they are: --vars.form, one "
            f"of {names_of(FORMS, 'or')} (docs/projects.md)"
        ) from error
    return _treebank(folder, files, options, learned)


def _docbin(folder: Path, split: str) -> Path:
    """NAME.spacy, or a folder of shards."""
    file = folder / f"{split}.spacy"
    shards = file.with_suffix("")
    return shards if any(shards.glob("*.spacy")) else file


def _treebank(folder: Path, files: dict[str, Path], options: Options, learned: Learned) -> Source:
    some_file = next(iter(files.values()))
    found = language_of(some_file)
    common = some_file.name.partition("-ud-")[0]
    name = common if found == "xx" else common.partition("_")[2] or common

    sizes = ["--n-sents", options.n_sents] if options.n_sents else ["--by-doc"]

    def trees(to: Path, lang: str) -> list[Command]:
        switches = ["--merge-mwt"] * options.merge_mwt + ["--skip-bad"] * options.skip_bad
        language = ["--lang", lang] if lang != found else []
        return [["biaffine", "convert", folder, to, *sizes, *switches, *language]]

    def layers(to: Path, lang: str) -> list[Command]:
        if options.merge_mwt or options.skip_bad:
            raise ValueError(
                f"{learned.path} reads layers beside the trees, which count all words of all "
                f"sentences: merge_mwt and skip_bad are for trees alone"
            )
        key = ["--spans-key", learned.spans_key] if learned.spans_key else []
        # A parser learns where sentences end; all else reads them one by one.
        docs = sizes if TREES in learned.golds else []
        commands: list[Command] = []
        for split, file in files.items():
            beside = file.with_name(f"{common}-layers-{split}.jsonl")
            layer = ["--layers", beside] if beside.exists() else []
            form = ["--form", "conllu", *layer, *key, *docs, "--lang", lang]
            commands.append(["biaffine", "convert-relations", file, to / f"{split}.spacy", *form])
        return commands

    commands = layers if learned.reads_layers else trees
    return Source(f"Treebank {common}", files, found, name, commands)


def _form(folder: Path, options: Options, learned: Learned) -> Source:
    name, *further = options.form
    form = form_named(name)
    files = {}
    for split in SPLITS:
        found = sorted(path for path in folder.iterdir() if split in path.name.lower())
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise ValueError(f"several files for {split} in {folder}: {names}; leave one there")
        if found:
            files[split] = found[0]
    if not files:
        raise ValueError(f"no file in {folder} has train, dev or test in its name")

    def commands(to: Path, lang: str) -> list[Command]:
        words = ["--form", form.name, *further]
        if learned.spans_key and SPANS_KEY in form.options and "--spans-key" not in further:
            words += ["--spans-key", learned.spans_key]
        words += ["--lang", lang, *["--skip-bad"] * options.skip_bad]
        return [
            ["biaffine", "convert", file, to / f"{split}.spacy", *words]
            for split, file in files.items()
        ]

    return Source(f"Files of the form '{form.name}'", files, None, _name_of(folder), commands)


def _name_of(folder: Path) -> str:
    return folder.resolve().name.lower()
