"""Parts of configs are put into spaCy's default one, and all that they name is made, but for
components that come from pipelines which are not installed."""

import re
from typing import Any

from spacy.schemas import ConfigSchemaInit, ConfigSchemaTraining
from spacy.util import get_installed_models, get_lang_class, load_model_from_config, registry
from thinc.api import Config

SECTIONS = {"paths", "system", "nlp", "components", "corpora", "training", "initialize"}

FIXED = {"system", "nlp", "training", "initialize"}
"""Sections whose settings are all in spaCy's default config."""


def check_config(text: str) -> None:
    """Raises what spaCy or Thinc raises on a config that they can't read, and AssertionError."""
    given = Config().from_str(with_parents(text), interpolate=False)
    assert given, "there is nothing in it"
    assert set(given) <= SECTIONS, f"sections {set(given) - SECTIONS}"
    config = Config(get_lang_class("en").default_config).copy()
    for section in set(given) & FIXED:
        unknown = set(given[section]) - set(config[section])
        assert not unknown, f"[{section}] has no {unknown}"
    config["paths"] |= {"train": "train.spacy", "dev": "dev.spacy"}
    config = config.merge(given)
    components: dict[str, Any] = config["components"]
    named = given.get("nlp", {}).get("pipeline", list(components))
    listed = given.get("training", {})
    for name in (
        *named,
        *listed.get("frozen_components", ()),
        *listed.get("annotating_components", ()),
    ):
        assert name in components, f"there is no [components.{name}]"
    for name, block in list(components.items()):
        if "source" in block:
            assert set(block) <= {"source", "component", "replace_listeners"}, block
            block["source"] = _installed(block["source"])
            if block["source"] is None:
                del components[name]
    config["nlp"]["pipeline"] = [name for name in named if name in components]
    nlp = load_model_from_config(config, auto_fill=True)
    assert nlp.pipe_names == config["nlp"]["pipeline"]
    filled = config.interpolate()
    registry.resolve(filled["corpora"])
    registry.resolve(filled["training"], schema=ConfigSchemaTraining)
    registry.resolve(filled["initialize"], schema=ConfigSchemaInit)


def with_parents(text: str) -> str:
    """A part of a config, headed by the sections of a config that it lies in. Deeper ones than
    those it must have itself."""
    sections = re.findall(r"^\[(.+)\]$", text, re.MULTILINE)
    missing = {section.partition(".")[0] for section in sections} - set(sections)
    return "".join(f"[{section}]\n" for section in sorted(missing)) + text


def _installed(name: str) -> str | None:
    """An installed pipeline of that name; others may have put an ending of their own to it."""
    return next((each for each in get_installed_models() if each.startswith(name)), None)
