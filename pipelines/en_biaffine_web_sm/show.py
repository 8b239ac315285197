"""Print what a pipeline finds in twenty everyday sentences, beside another one, to read by hand.

python show.py PIPELINE --beside en_core_web_sm
python show.py PIPELINE --file texts.txt    # a text a line
"""

import argparse
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import spacy
from predictions import EVERYDAY
from spacy.tokens import Doc


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline", help="name or folder")
    parser.add_argument("--beside", help="another pipeline; its words are the same")
    parser.add_argument("--file", type=Path, default=EVERYDAY)
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    texts = args.file.read_text("utf-8").splitlines()
    docs = list(nlp.pipe(texts))
    others: list[Doc] = []
    if args.beside:
        other = spacy.load(args.beside)
        others = list(other.pipe(Doc(other.vocab, words=words(doc)) for doc in docs))
    for number, (doc, beside) in enumerate(zip_longest(docs, others), 1):
        print(f"\n{number}. {doc.text}\n")
        columns = [tree(doc), *([tree(beside)] if beside else [])]
        for row in zip(*columns, strict=True):
            print("   " + "  |  ".join(row))
        for each in filter(None, (doc, beside)):
            print("   entities:", ", ".join(f"{ent.text} ({ent.label_})" for ent in each.ents))
        for line in frames(doc):
            print(f"   {line}")


def words(doc: Doc) -> list[str]:
    return [token.text for token in doc]


def tree(doc: Doc) -> Iterator[str]:
    """A line for each word; "/" begins a sentence."""
    for token in doc:
        start = "/" if token.is_sent_start else " "
        head = "-" if token.head.i == token.i else token.head.text
        yield (
            f"{start}{token.text:<14.14} {token.lemma_:<12.12} {token.tag_:<5} {token.pos_:<6} "
            f"{token.dep_:<13.13} {head:<14.14}"
        )


def frames(doc: Doc) -> Iterator[str]:
    for frame in doc._.frames:
        predicate = " ".join(span.text for span in frame.predicate)
        roles = "; ".join(
            f"{role.label}: {' ... '.join(span.text for span in role.spans)}"
            for role in frame.roles
        )
        yield f"{predicate} ({frame.sense})  {roles}"


if __name__ == "__main__":
    main()
