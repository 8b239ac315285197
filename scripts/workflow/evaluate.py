"""Scores on the test split."""

import argparse
import re
from collections.abc import Iterable, Mapping
from typing import Any

import spacy
import srsly
from spacy.training import Corpus
from wasabi import msg

from .commands import check_gpu
from .place import Place

TITLES = {
    "dep_uas": "UAS",
    "dep_las": "LAS",
    "dep_las_nopunct": "LAS, no punct",
    "sents_f": "sentence F",
    "ents_p": "entities P",
    "ents_r": "entities R",
    "ents_f": "entities F",
    "relations_p": "relations P",
    "relations_r": "relations R",
    "relations_f": "relations F",
    "dep_graph_elas": "ELAS",
    "predicates_f": "predicates F",
    "senses_acc": "senses",
    "roles_p": "roles P",
    "roles_r": "roles R",
    "roles_f": "roles F",
}
"""What is shown, in this order. All scores are in the file."""

FURTHER = re.compile(r"spans_.*(?<!macro)_[prf]|(?!token_|senses_).*_acc")
"""Scores with names from the config: of span groups, and of the tagger's targets."""


def evaluate(args: argparse.Namespace) -> None:
    """Score on gold tokens, as training does on dev, and on plain text."""
    check_gpu(args.gpu_id)
    place = Place(args)
    split = place.evaluation_split()
    if args.gpu_id >= 0:
        spacy.require_gpu(args.gpu_id)
    nlp = spacy.load(place.model)
    reader = dict(nlp.config["corpora"]["dev"], path=str(place.corpus_file(split)))
    corpora = {"gold tokens": spacy.registry.resolve({"dev": reader})["dev"]}
    given = reader.get("given") or []
    if given:
        msg.info(f"As in training, gold {', '.join(given)} are given on gold tokens")
    if set(given) <= {"sents"}:  # a text has no other layers
        corpora["plain text"] = Corpus(place.corpus_file(split))
    scores = {}
    for name, corpus in corpora.items():
        msg.text(f"Reading {place.name} {split}, {name} ...")
        scores[name] = nlp.evaluate(list(corpus(nlp)))
    place.metrics.parent.mkdir(parents=True, exist_ok=True)
    srsly.write_json(place.metrics, {key.replace(" ", "_"): s for key, s in scores.items()})
    columns = columns_of(scores["gold tokens"])
    rows = [(name, *(_percent(s.get(c)) for c in columns.values())) for name, s in scores.items()]
    msg.table(rows, header=("", *columns), divider=True, aligns=("l", *("r" for _ in columns)))
    msg.good(f"All scores, and those of each label: {place.metrics}")


def columns_of(scores: Mapping[str, Any]) -> dict[str, str]:
    """Titles of the scores that are shown -> their names."""
    further: Iterable[str] = filter(FURTHER.fullmatch, scores)
    columns = {title: name for name, title in TITLES.items() if name in scores}
    return columns | {name: name for name in further}


def _percent(score: float | None) -> str:
    return "-" if score is None else f"{score:.1%}"
