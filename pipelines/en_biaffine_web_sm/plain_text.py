"""A treebank's plain text through a pipeline, scored by the script of CoNLL 2018."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from gold import Document
from spacy.language import Language

from spacy_biaffine.formats.conllu.api import write_conllu

TEXT, PARAGRAPH = "# text = ", "# newpar"


def score_plain_text(nlp: Language, documents: list[Document], gold: Path) -> dict[str, float]:
    """F1 of words, sentences, tags, lemmas and trees, 0 to 1, from the text alone.

    gold: the file that the documents were read from. Needs the command udeval of the package
    udtools.
    """
    docs = nlp.pipe(map(text_of, documents))
    with tempfile.TemporaryDirectory() as folder:
        predicted = Path(folder, "predicted.conllu")
        write_conllu(docs, predicted)
        return official_scores(gold, predicted)


def text_of(document: Document) -> str:
    """Sentences with a blank between them, an empty line between paragraphs."""
    return "".join(pieces(document)).strip()


def pieces(document: Document) -> Iterator[str]:
    for sentence in document.sentences:
        if any(comment.startswith(PARAGRAPH) for comment in sentence.comments):
            yield "\n\n"
        texts = [line.removeprefix(TEXT) for line in sentence.comments if line.startswith(TEXT)]
        if len(texts) != 1:
            raise ValueError(f"{sentence.place}: a sentence without its line {TEXT!r}")
        yield texts[0] + " "


def official_scores(gold: Path, predicted: Path) -> dict[str, float]:
    """F1 of each metric. Raises ValueError where the script fails."""
    command = ["udeval", "--no-enhanced", "--verbose", "--counts", gold, predicted]
    answer = subprocess.run(command, capture_output=True, encoding="utf-8")
    if answer.returncode:
        raise ValueError(f"udeval failed:\n{answer.stderr}{answer.stdout}")
    rows = [line.split("|") for line in answer.stdout.splitlines()[2:]]
    counts = {name.strip(): tuple(map(int, cells[:3])) for name, *cells in rows}
    return {name: 2 * right / (wanted + found) for name, (right, wanted, found) in counts.items()}
