"""``python -m spacy biaffine render``."""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..pictures.layers import DRAWN, OLD_NAMES, pictures_of
from ..pictures.pages import Drawn

if TYPE_CHECKING:
    from spacy.tokens import Doc

STANDARD_INPUT = Path("-")


Layer = Enum("Layer", {name: name for name in (*DRAWN, *OLD_NAMES)}, type=str)  # type: ignore[misc]


class Picture(str, Enum):
    """File format."""

    svg = "svg"
    png = "png"


def render(
    source: Annotated[
        Path,
        typer.Argument(metavar="IN", help=".spacy file, CoNLL-U, or with --model a text, or -"),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="NAME.html, NAME.svg, NAME.png, or a folder")
    ],
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Pipeline: draw its annotation, not that of IN"),
    ] = None,
    layers: Annotated[
        list[Layer] | None,
        typer.Option("--layer", "-l", help="What to draw; by default all that is there"),
    ] = None,
    first: Annotated[int, typer.Option("--first", min=1, help="Draw so many Docs")] = 50,
    form: Annotated[
        Picture, typer.Option("--format", "-f", help="Kind of files in a folder")
    ] = Picture.svg,
) -> None:
    """Draw trees, entities, relations, dependency graphs and frames.

    NAME.html gets all pictures, with the texts above them; a folder a file for each, and
    index.html with the texts; NAME.svg and NAME.png are for a single
    picture. Entities are marked text, which is always HTML.

    Example: python -m spacy biaffine render dev.conllu trees.html --first 10

    Example: echo "They can fish" | python -m spacy biaffine render - tree.png --layer trees --model
    training/model-best
    """
    from wasabi import msg

    try:
        if target.suffix == ".png" or form is Picture.png:
            _check_png()
        docs = list(_docs(source, model, first + 1))
        names = [layer.value for layer in layers] if layers else list(DRAWN)
        pictures = [
            Drawn(number, doc.text, f"{number:04}-{name}-{n}", picture)
            for number, doc in enumerate(docs[:first], 1)
            for name in names
            for n, picture in enumerate(pictures_of(doc, name), 1)
        ]
        if not pictures:
            raise ValueError(f"{source} has nothing to draw: no {', '.join(names)}")
        n_files = _write(pictures, target, form)
    except (ValueError, OSError, ImportError) as error:
        msg.fail(str(error), exits=1)
    if len(docs) > first:
        msg.warn(f"{source} has more Docs than were drawn. For more: --first {2 * first}")
    files = "" if n_files == 1 else f" in {n_files} files"
    msg.good(f"{target}: {len(pictures)} pictures{files}")


def _check_png() -> None:
    try:
        import resvg_py  # noqa: F401 (is it there?)
    except ImportError as error:
        raise ImportError(f'{error}. PNG needs: pip install -e ".[png]" in a clone') from None


def _docs(source: Path, model: str | None, limit: int) -> "Iterator[Doc]":
    from itertools import islice

    import spacy
    from spacy.vocab import Vocab

    from ..doc.given import give
    from ._docs import read_docs

    is_text = source == STANDARD_INPUT or source.suffix == ".txt"
    if model is None:
        if is_text:
            raise ValueError(f"{source} is a text: say which pipeline annotates it with --model")
        yield from islice(read_docs(source, Vocab()), limit)
        return
    nlp = spacy.load(model)
    if is_text:
        yield nlp(_text_of(source))
    else:
        yield from nlp.pipe(give(doc, []) for doc in islice(read_docs(source, nlp.vocab), limit))


def _text_of(source: Path) -> str:
    """Raises ValueError, with file and line, for what is no UTF-8."""
    import sys

    raw = sys.stdin.buffer.read() if source == STANDARD_INPUT else source.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        detail = f"this is no UTF-8 (byte 0x{raw[error.start]:02x}); convert it to UTF-8"
        raise ValueError(f"{source}:{line}: {detail}") from error


def _write(pictures: "list[Drawn]", target: Path, form: Picture) -> int:
    """Write them; returns the number of files. Raises ValueError where OUT can't take them."""
    from ..pictures.pages import index_page, page

    if target.suffix == ".html":
        _write_text(page(pictures), target)
        return 1
    if target.suffix in (".svg", ".png"):
        if len(pictures) > 1:
            raise ValueError(
                f"there are {len(pictures)} pictures, too many for {target}: name a folder or an "
                f".html file, or choose with --layer and --first"
            )
        ((*_, picture),) = pictures
        if not picture.startswith("<svg"):
            raise ValueError(f"entities are drawn as HTML: name an .html file, not {target}")
        _write_picture(picture, target)
        return 1
    if target.suffix:
        raise ValueError(f"{target}: wanted NAME.html, NAME.svg, NAME.png, or a folder")
    files = {
        f"{drawn.name}.{form.value if drawn.picture.startswith('<svg') else 'html'}": drawn
        for drawn in pictures
    }
    for name, drawn in files.items():
        _write_picture(drawn.picture, target / name)
    _write_text(index_page(files), target / "index.html")
    return len(files) + 1


def _write_picture(picture: str, file: Path) -> None:
    from ..formats.common.atomic import whole_bytes
    from ..pictures.pages import picture_page
    from ..pictures.png import to_png

    if file.suffix == ".png":
        with whole_bytes(file) as image:
            image.write(to_png(picture))
    else:
        _write_text(picture_page(picture) if file.suffix == ".html" else picture, file)


def _write_text(text: str, file: Path) -> None:
    from ..formats.common.atomic import whole_text

    with whole_text(file) as out:
        out.write(text)
