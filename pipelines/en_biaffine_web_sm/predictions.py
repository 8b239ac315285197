"""What a pipeline finds in a text, as plain data.

python predictions.py PIPELINE OUT.json    # in the sentences of everyday.txt
"""

import sys
from pathlib import Path
from typing import Any

import spacy
import srsly
from spacy.language import Language

from spacy_biaffine import to_layers_json

EVERYDAY = Path(__file__).parent / "everyday.txt"
SCORES = ("score", "token_scores")


def everyday() -> list[str]:
    """Twenty sentences of news, mail, chat, questions and lists."""
    return EVERYDAY.read_text("utf-8").splitlines()


def predictions(nlp: Language, texts: list[str]) -> list[dict[str, Any]]:
    """All layers of each text, with scores."""
    return [to_layers_json(doc) for doc in nlp.pipe(texts)]


def without_scores(value: Any) -> Any:
    """The same data without scores, whose last digits differ from one machine to another."""
    if isinstance(value, dict):
        return {key: without_scores(each) for key, each in value.items() if key not in SCORES}
    return [without_scores(each) for each in value] if isinstance(value, list) else value


if __name__ == "__main__":
    name, out = sys.argv[1:]
    srsly.write_json(out, predictions(spacy.load(name), everyday()))
