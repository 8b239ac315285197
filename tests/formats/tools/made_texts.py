"""Docs with entities, nested ones too, and relations between them, made by chance."""

import random

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import Relation, set_relations
from spacy_biaffine.formats.relations.to_docs import ENTITIES

WORDS = [
    "Oslo",
    "Bank",
    "of",
    "x",
    "émigré",
    "𝔘nion",
    "#1",
    "a|b",
    "[c]",
    "_",
    "*",
    "\\",
    "\\n",
    "->",
    '"q"',
]
LABELS = ["ORG", "PER-x", "a_b", "c|d", "e[1]", "*"]


def made_docs(number: int, vocab: Vocab, seed: int = 0, size: int = 12) -> list[Doc]:
    chance = random.Random(seed)
    return [_made(chance, vocab, chance.randrange(1, size + 1)) for _ in range(number)]


def _made(chance: random.Random, vocab: Vocab, size: int) -> Doc:
    words = [chance.choice(WORDS) for _ in range(size)]
    spaces = [chance.random() < 0.8 for _ in range(size - 1)]
    starts = [i == 0 or chance.random() < 0.2 for i in range(size)]
    doc = Doc(vocab, words=words, spaces=[*spaces, False], sent_starts=starts)
    places = {tuple(sorted(chance.sample(range(size + 1), 2))) for _ in range(chance.randrange(6))}
    spans = [Span(doc, start, end, chance.choice(LABELS)) for start, end in sorted(places)]
    doc.spans[ENTITIES] = sorted(spans, key=lambda span: (span.start, -span.end))
    pairs = {(chance.choice(spans), chance.choice(spans)) for _ in range(4)} if spans else set()
    pairs = {(head, tail) for head, tail in pairs if head != tail}
    set_relations(doc, [Relation(head, tail, chance.choice(LABELS)) for head, tail in pairs])
    return doc


def content(doc: Doc) -> tuple[list[str], set, set]:
    """Words, entities and relations of a Doc."""
    entities = {(span.start, span.end, span.label_) for span in doc.spans.get(ENTITIES, ())}
    relations = {
        (each.head.start, each.head.end, each.tail.start, each.tail.end, each.label)
        for each in doc._.relations
    }
    return [token.text for token in doc], entities, relations
