"""Entities of Universal NER on the sentences of a treebank."""

from collections.abc import Iterator
from itertools import accumulate, groupby
from pathlib import Path

from spacy.training import iob_to_biluo, tags_to_entities

from spacy_biaffine.formats.conllu.read import FORM, Sentence

NO_TOKEN = -1

ENTITIES = ("PER", "LOC", "ORG")

Entity = tuple[int, int, str]
"""First token, end token, label."""

Tagged = dict[str, list[tuple[str, str]]]
"""Words and IOB2 tags of each sentence, by sent_id."""


def read_entities(iob2: Path) -> Tagged:
    """A file of Universal NER."""
    sentences = {}
    for filled, block in groupby(iob2.read_text("utf-8").splitlines(), lambda line: bool(line)):
        if not filled:
            continue
        rows = list(block)
        words = [row.split("\t")[1:3] for row in rows if row.split("\t")[0].isdecimal()]
        (name,) = (row.partition(" = ")[2] for row in rows if row.startswith("# sent_id = "))
        sentences[name] = [(word, tag) for word, tag in words]
    return sentences


def entities_on(sentence: Sentence, known: Tagged, start: int = 0) -> Iterator[Entity]:
    """The entities on a sentence's words, which are numbered from start: those that have the same
    characters, blanks left out.

    One that begins or ends within a word has -1 there. Raises ValueError where the sentences
    differ in more than how they are cut into words.
    """
    words, tags = zip(*known[sentence.sent_id], strict=True)
    ours = _boundaries([cells[FORM] for cells in sentence.words])
    theirs = _boundaries(words)
    if theirs[-1] != ours[-1]:
        raise ValueError(f"{sentence.place}: other characters in {sentence.sent_id}")
    tokens = {end: start + number for number, end in enumerate(ours)}
    for label, first, last in tags_to_entities(iob_to_biluo(tags)):
        if label in ENTITIES:
            ends = theirs[first], theirs[last + 1]
            yield (*(tokens.get(end, NO_TOKEN) for end in ends), label)


def _boundaries(words: list[str]) -> list[int]:
    """How many characters stand before each word and after the last, blanks left out."""
    return list(accumulate((len(word.replace(" ", "")) for word in words), initial=0))
