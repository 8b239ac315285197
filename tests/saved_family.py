"""A small pipeline of all five components, saved by one version and read by the later ones.

python tests/saved_family.py    # saves that of the present version, and what it predicts

The pipeline of a version is saved once, with its release, and kept as it is.
"""

from pathlib import Path
from typing import Any

import spacy
import srsly
from factories import FACTORIES, TOK2VEC, bare, examples_of, gold_docs, train
from spacy.language import Language
from thinc.api import fix_random_seed

from spacy_biaffine import __version__

SAVED = Path(__file__).parent / "fixtures"
EXPECTED = "expected.json"

SMALL = {**TOK2VEC, "width": 8, "embed_size": 40}
CHARACTERS = {
    "@architectures": "spacy-biaffine.CharWordBiLSTM.v1",
    "word_size": 12,
    "char_size": 8,
    "char_hidden": 8,
}
READS_TREES = {
    "@architectures": "spacy-biaffine.SynG2GLayers.v1",
    "size": 8,
    "layers": 1,
    "heads": 2,
    "tok2vec": SMALL,
}
MODELS: dict[str, dict[str, Any]] = {
    "trees": {"lstm_hidden": 8, "arc_size": 8, "label_size": 8},
    "tags": {"tok2vec": CHARACTERS, "lstm_hidden": 8},
    "entities": {"lstm_hidden": 8, "head_size": 8},
    "relations": {"lstm_hidden": 8, "tagger_size": 0},  # between the entities that are on the Doc
    "roles": {"tok2vec": READS_TREES},
}
"""Kind of a factory to settings of its model."""

PARTS = {each.kind: each for each in FACTORIES if each.kind in MODELS}


def make() -> Language:
    """A pipeline that knows the gold Docs by heart."""
    fix_random_seed(0)
    nlp = spacy.blank("xx")
    for kind, settings in MODELS.items():
        PARTS[kind].add_to(nlp, **{"tok2vec": SMALL, **settings})
    nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
    train(nlp, 200, annotates=nlp.pipe_names[:3])
    return nlp


def predictions(nlp: Language) -> dict[str, Any]:
    """What each component finds in the gold Docs, and how sure it is of it, as plain JSON."""
    docs = list(nlp.pipe(map(bare, gold_docs(nlp.vocab))))
    found = {
        kind: [{"found": part.read(doc), "scores": part.scores(doc).tolist()} for doc in docs]
        for kind, part in PARTS.items()
    }
    return srsly.json_loads(srsly.json_dumps(found))


def save() -> Path:
    """Returns the folder. Raises FileExistsError where this version has one."""
    folder = SAVED / f"family-{__version__}"
    folder.mkdir(parents=True)
    nlp = make()
    nlp.to_disk(folder)
    srsly.write_json(folder / EXPECTED, predictions(nlp))
    return folder


if __name__ == "__main__":
    folder = save()
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 1000:.0f} kB")
