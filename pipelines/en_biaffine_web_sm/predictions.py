"""What a pipeline finds in a text, as plain data.

python predictions.py PIPELINE OUT.json    # in the sentences of everyday.txt
"""

import sys
from pathlib import Path
from typing import Any

import spacy
import srsly
from spacy.language import Language
from spacy.tokens import Doc

EVERYDAY = Path(__file__).parent / "everyday.txt"


def everyday() -> list[str]:
    """Twenty sentences of news, mail, chat, questions and lists."""
    return EVERYDAY.read_text("utf-8").splitlines()


def predictions(nlp: Language, texts: list[str]) -> list[dict[str, Any]]:
    return [layers(doc) for doc in nlp.pipe(texts)]


def layers(doc: Doc) -> dict[str, Any]:
    """All layers, spans by first token and end."""
    return {
        "words": [token.text for token in doc],
        "sentences": [sent.start for sent in doc.sents],
        "heads": [token.head.i for token in doc],
        "labels": [token.dep_ for token in doc],
        "tags": [token.tag_ for token in doc],
        "pos": [token.pos_ for token in doc],
        "morph": [str(token.morph) for token in doc],
        "lemmas": [token.lemma_ for token in doc],
        "entities": [[ent.start, ent.end, ent.label_] for ent in doc.ents],
        "frames": [
            {
                "predicate": [[span.start, span.end] for span in frame.predicate],
                "sense": frame.sense,
                "roles": [
                    [role.label, [[span.start, span.end] for span in role.spans]]
                    for role in frame.roles
                ],
            }
            for frame in doc._.frames
        ],
    }


if __name__ == "__main__":
    name, out = sys.argv[1:]
    srsly.write_json(out, predictions(spacy.load(name), everyday()))
