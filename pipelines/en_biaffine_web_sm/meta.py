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

SOURCES = [
    {
        "name": "UD_English-EWT 2.16",
        "url": "https://github.com/UniversalDependencies/UD_English-EWT",
        "license": "CC BY-SA 4.0",
        "author": "Silveira, Dozat, de Marneffe, Bowman, Connor, Bauer, Manning",
    },
    {
        "name": "PropBank release, English Web Treebank",
        "url": "https://github.com/propbank/propbank-release",
        "license": "CC BY-SA 4.0",
        "author": "Pradhan, Bonn, Myers, Conger, O'Gorman, Gung, Wright-Bettner, Palmer",
    },
    {
        "name": "Broad Twitter Corpus",
        "url": "https://github.com/GateNLP/broad_twitter_corpus",
        "license": "CC BY 4.0",
        "author": "Derczynski, Bontcheva, Roberts",
    },
    {
        "name": "WNUT 2017",
        "url": "https://github.com/leondz/emerging_entities_17",
        "license": "CC BY 4.0",
        "author": "Derczynski, Nichols, van Erp, Limsopatham",
    },
    {
        "name": "all-MiniLM-L6-v2",
        "url": "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2",
        "license": "Apache-2.0",
        "author": "Wang, Wei, Dong, Bao, Yang, Zhou; Reimers, Gurevych",
    },
]

DESCRIPTION = (
    "English from the web: sentences, trees, tags, morphology, lemmas, entities (PER, LOC, ORG) "
    "and semantic roles of PropBank, on four tuned layers of MiniLM."
)


def describe(nlp: Language, name: str, release: str, metrics: Path | None) -> None:
    """Fill in meta.json, and take the paths of the machine it was trained on out of config.cfg."""
    nlp.meta |= {
        "name": name,
        "version": release,
        "description": DESCRIPTION,
        "author": "The spacy-biaffine developers",
        "license": "CC BY-SA 4.0",
        "spacy_version": SPACY,
        "sources": SOURCES,
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
    """The figures on gold tokens: "UD_English-EWT LAS" and so on."""
    return {
        f"{treebank} {name}": round(figure["value"], 4)
        for treebank, found in metrics.items()
        if isinstance(found, dict)
        for name, figure in found["gold tokens"].items()
    }
