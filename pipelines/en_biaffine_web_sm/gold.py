"""The test sets: documents of a treebank, with the frames and entities that others gave them."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from corpora import Known, moved
from entities import Entity, Tagged, entities_on
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import set_frames
from spacy_biaffine.formats.conllu.read import Sentence, read_sentences
from spacy_biaffine.formats.conllu.to_docs import DocMaker, group_sentences


class Document(NamedTuple):
    """A document with its trees, tags and lemmas, and the sentences that it is made of."""

    doc: Doc
    sentences: list[Sentence]

    def starts(self) -> Iterator[tuple[int, Sentence]]:
        """Each sentence and its first token."""
        start = 0
        for sentence in self.sentences:
            yield start, sentence
            start += len(sentence.words)


def test_file(treebank: Path) -> Path:
    """Raises ValueError where a folder has no test file, or several."""
    files = sorted(treebank.glob("*-ud-test.conllu"))
    if len(files) != 1:
        raise ValueError(f"{treebank}: wanted one file *-ud-test.conllu, found {len(files)}")
    return files[0]


def read_documents(conllu: Path, vocab: Vocab) -> list[Document]:
    """The documents of a file, as "# newdoc" parts them."""
    maker = DocMaker(vocab)
    groups = group_sentences(read_sentences(conllu), by_doc=True)
    return [Document(maker.make(group), group) for group in groups]


def give_frames(document: Document, known: dict[str, Known]) -> set[int]:
    """Put the known frames on the Doc. Returns the tokens of the sentences that have them."""
    set_frames(document.doc, list(moved(document.doc, document.sentences, known)))
    return {
        start + number
        for start, sentence in document.starts()
        for number in range(len(sentence.words))
        if sentence.sent_id in known
    }


def entities_in(document: Document, known: Tagged) -> list[Entity]:
    """The entities on a document's tokens.

    One that begins or ends within a token has -1 there: it can't be found, and counts as missed.
    """
    return [
        entity
        for start, sentence in document.starts()
        for entity in entities_on(sentence, known, start)
    ]
