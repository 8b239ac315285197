"""What a packaged pipeline says about itself."""

from collections.abc import Iterator
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language

PACKAGE = "package:"

SPACY = ">=3.8.2,<3.9"
"""The versions that the plugin works with; spaCy would name its own and later ones."""

NAMES = {
    "UPOS": "pos_acc",
    "XPOS": "tag_acc",
    "FEATS": "morph_acc",
    "Lemmas": "lemma_acc",
    "UAS": "dep_uas",
    "LAS": "dep_las",
    "Sentences": "sents_f",
    "Entities": "ents_f",
    "Predicates": "predicates_f",
    "Senses of predicates found": "senses_acc",
    "Arguments": "roles_f",
}
"""Figures as evaluate.py and as spaCy calls them."""


def describe(
    nlp: Language, name: str, release: str, about: Path | None, metrics: Path | None
) -> None:
    """Fill in meta.json, and take the paths of the machine it was trained on out of config.cfg.

    about: a meta.json with description, licence and sources; without, there are none.
    """
    nlp.meta |= (srsly.read_json(about) if about else {}) | {
        "name": name,
        "version": release,
        "spacy_version": SPACY,
        "requirements": requirements(nlp),
        "performance": performance(srsly.read_json(metrics)) if metrics else {},
    }
    paths = nlp.config["paths"]
    for key, value in paths.items():
        if value and not value.startswith(PACKAGE):
            paths[key] = None if key == "cache" else Path(value).name


def requirements(nlp: Language) -> list[str]:
    """The plugin, and packages whose wordpieces the pipeline reads, as they are installed here."""
    ours = version("spacy-biaffine")
    major, minor, *_ = ours.split(".")
    encoders = list(encoders_in(nlp.config.interpolate()["components"]))
    extra = "[transformers]" if encoders else ""
    tuned = [each["name"] for each in encoders if "Tuned" in each["@architectures"]]
    modules = {name.removeprefix(PACKAGE).partition("/")[0] for name in tuned if PACKAGE in name}
    distributions = packages_distributions()
    return [
        f"spacy-biaffine{extra}>={ours},<{major}.{int(minor) + 1}",
        *(f"{each}=={version(each)}" for module in modules for each in distributions[module]),
    ]


def encoders_in(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The settings of pretrained encoders."""
    if "Transformer.v" in block.get("@architectures", "") and "name" in block:
        yield block
    for value in block.values():
        if isinstance(value, dict):
            yield from encoders_in(value)


def performance(metrics: dict[str, Any]) -> dict[str, float]:
    """The figures on gold tokens of the first treebank, by spaCy's names."""
    treebank = next(found for found in metrics.values() if isinstance(found, dict))
    found = treebank["gold tokens"]
    return {
        name: round(found[figure]["value"], 4) for figure, name in NAMES.items() if figure in found
    }
