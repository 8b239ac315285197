"""What tests of files with relations share."""

from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_biaffine.cli import app


def spans(doc: Doc, key: str = "entities") -> list[tuple[str, str]]:
    return [(span.text, span.label_) for span in doc.spans[key]]


def relations(doc: Doc) -> list[tuple[str, str, str]]:
    return [(each.head.text, each.label, each.tail.text) for each in doc._.relations]


def arcs(doc: Doc) -> list[tuple[int | None, int, str]]:
    return [(h and h.i, d.i, label) for h, d, label, _ in doc._.dep_graph]


def run(*arguments) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["convert-relations", *map(str, arguments)])
    return result.exit_code, result.output


def docs_in(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(Vocab()))
