"""Replace the trees and tags of corpora by those that a pipeline predicts, and keep the rest.

So a role labeller is trained and tested on trees as it will get them. Sentences stay as they are,
and so do entities, frames and all other span groups. A parser knows its own training data: for the
best likeness, let it parse parts of them that it was not trained on. Without a tagger in the
pipeline the Docs have no tags.

python scripts/parse_corpus.py PIPELINE DIR PARSED    # each .spacy file of DIR
"""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_biaffine.doc.given import give
from spacy_biaffine.formats.common.docbin import read_docbin, write_docbin

PREDICTED = ["HEAD", "DEP", "TAG"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pipeline", help="folder or name of a pipeline with a parser")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    nlp = spacy.load(args.pipeline)
    for path in sorted(args.source.glob("*.spacy")):
        docs = read_docbin(path, nlp.vocab)
        written = write_docbin(parsed(nlp, docs), args.target / path.name)
        print(*written)


def parsed(nlp: Language, docs: Iterable[Doc]) -> Iterator[Doc]:
    """The Docs with the pipeline's heads, labels and tags, within their own sentences."""
    for predicted, doc in nlp.pipe(((give(doc, ["sents"]), doc) for doc in docs), as_tuples=True):
        doc.from_array(PREDICTED, predicted.to_array(PREDICTED))
        yield doc


if __name__ == "__main__":
    main()
