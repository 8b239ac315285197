"""The test sets: documents of a treebank, with the frames and entities that others gave them."""

from collections.abc import Iterator
from itertools import accumulate, groupby
from pathlib import Path
from typing import NamedTuple

from corpora import Known, moved
from spacy.tokens import Doc
from spacy.training import iob_to_biluo, tags_to_entities
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import set_frames
from spacy_biaffine.formats.conllu.read import FORM, Sentence, read_sentences
from spacy_biaffine.formats.conllu.to_docs import DocMaker, group_sentences

NO_TOKEN = -1

ENTITIES = ("PER", "LOC", "ORG")

Entity = tuple[int, int, str]
"""First token, end token, label."""


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


def read_entities(iob2: Path) -> dict[str, list[tuple[str, str]]]:
    """Words and IOB2 tags of each sentence, by sent_id: a file of Universal NER."""
    sentences = {}
    for filled, block in groupby(iob2.read_text("utf-8").splitlines(), lambda line: bool(line)):
        if not filled:
            continue
        rows = list(block)
        words = [row.split("\t")[1:3] for row in rows if row.split("\t")[0].isdecimal()]
        (name,) = (row.partition(" = ")[2] for row in rows if row.startswith("# sent_id = "))
        sentences[name] = [(word, tag) for word, tag in words]
    return sentences


def entities_in(document: Document, known: dict[str, list[tuple[str, str]]]) -> list[Entity]:
    """The entities on a document's tokens: those that have the same characters, blanks left out.

    One that begins or ends within a token has -1 there: it can't be found, and counts as missed.
    Raises ValueError where the sentences differ in more than how they are cut into tokens.
    """
    found = []
    for start, sentence in document.starts():
        words, tags = zip(*known[sentence.sent_id], strict=True)
        ours = boundaries([cells[FORM] for cells in sentence.words])
        theirs = boundaries(words)
        if theirs[-1] != ours[-1]:
            raise ValueError(f"{sentence.place}: other characters in {sentence.sent_id}")
        tokens = {end: start + number for number, end in enumerate(ours)}
        for label, first, last in tags_to_entities(iob_to_biluo(tags)):
            if label in ENTITIES:
                ends = theirs[first], theirs[last + 1]
                found.append((*(tokens.get(end, NO_TOKEN) for end in ends), label))
    return found


def boundaries(words: list[str]) -> list[int]:
    """How many characters stand before each word and after the last, blanks left out."""
    return list(accumulate((len(word.replace(" ", "")) for word in words), initial=0))
