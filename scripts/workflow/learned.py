"""What a config learns: the annotation that its corpus must carry, and what brings it there."""

import importlib.util
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spacy.tokens import Doc
from thinc.api import Config
from wasabi import msg

from spacy_biaffine.doc.given import PREDICATES
from spacy_biaffine.doc.labels import labels_on
from spacy_biaffine.doc.layers import BY_NAME
from spacy_biaffine.doc.scores import entities_of
from spacy_biaffine.formats.common.docbin import read_docbin
from spacy_biaffine.formats.common.language import vocab_for
from spacy_biaffine.formats.forms import FORMS, names_of

PACKAGE = "package:"


@dataclass(frozen=True)
class Gold:
    """Annotation of one kind.

    on: whether a Doc has some. source: where it comes from, for the user. layer: it stands beside
    the trees of a treebank, in *-layers-*.jsonl or in DEPS, and not in the columns that tell trees.
    """

    name: str
    on: Callable[[Doc], bool]
    source: str
    layer: bool = False


def _gold(name: str, layer: str, source: str, *, beside: bool = True) -> Gold:
    """Gold of a layer. source: what else than forms brings it."""
    forms = names_of([form for form in FORMS if layer in form.holds], "or")
    return Gold(
        name,
        lambda doc: BY_NAME[layer].is_on(doc) and BY_NAME[layer].count(doc) > 0,
        f"They come with {source}, and with --vars.form {forms}",
        layer=beside,
    )


LAYERS = "*-layers-train.jsonl beside a treebank (convert-relations --layers)"

TREES = _gold("dependency trees", "trees", "a treebank (*-ud-train.conllu)", beside=False)
RELATIONS = _gold("relations", "relations", LAYERS)
ARCS = _gold("dependency graphs", "dep_graph", "a treebank whose column DEPS is filled")
FRAMES = _gold("frames of semantic roles", "frames", LAYERS)
WORD_FRAMES = _gold(
    "frames with arguments that are words beside others",
    "word_frames",
    "python -m spacy biaffine convert IN OUT --form propbank --word-frames",
)


def labels(target: str) -> Gold:
    """Labels of tokens."""
    if target == "ent":
        return entities(None)
    return Gold(
        f"labels of the target '{target}'",
        lambda doc: bool(labels_on(doc, target)),
        "tag, pos and morph are the columns XPOS, UPOS and FEATS of a treebank, of which some may "
        "be empty. For another one: --vars.set components.label_attention_tagger.target=pos",
    )


def entities(spans_key: str | None) -> Gold:
    """Entities in a span group, or in doc.ents."""
    place = "doc.ents" if spans_key is None else f"doc.spans['{spans_key}']"
    gold = _gold(f"entities in {place}", "entities", LAYERS)
    source = gold.source
    if spans_key is not None:
        source += f". Files converted by hand need --spans-key {spans_key}"
    return replace(gold, on=lambda doc: bool(entities_of(doc, spans_key)), source=source)


def _of_graph(graph: Mapping[str, Any]) -> list[Gold]:
    if graph.get("@misc") == "spacy-biaffine.TokenGraph.v1":
        return [ARCS]
    return [entities(graph.get("spans_key")), RELATIONS]


BY_FACTORY: dict[str, Callable[[Mapping[str, Any]], list[Gold]]] = {
    "norm_biaffine_parser": lambda block: [TREES],
    "label_attention_tagger": lambda block: [labels(block.get("target", "tag"))],
    "global_pointer_ner": lambda block: [entities(block.get("spans_key"))],
    "norm_biaffine_graph_parser": lambda block: _of_graph(block.get("graph", {})),
    "syntax_srl": lambda block: [WORD_FRAMES if block.get("word_frames") else FRAMES],
}
"""What a component learns, by the block of its config."""

BY_LAYER: dict[str, Gold] = {
    "heads": TREES,
    **{name: labels(name) for name in ("tag", "pos", "morph")},
    "ents": entities(None),
    PREDICATES: FRAMES,
}
"""What a corpus reader can give."""


class Learned:
    """What a config file says of its data; settings replace its own."""

    def __init__(self, path: Path, settings: Mapping[str, str] | None = None) -> None:
        config = Config().from_disk(path, interpolate=False, overrides=dict(settings or {}))
        components = config.get("components", {})
        blocks = [components[name] for name in config["nlp"]["pipeline"] if name in components]
        self.path = path
        self.lang: str = config["nlp"]["lang"]
        self.encoder: str = config.get("paths", {}).get("encoder") or ""
        reader = config.get("corpora", {}).get("train", {})
        self.given: list[str] = reader.get("given") or []
        self.golds = [
            gold
            for block in blocks
            if block.get("factory") in BY_FACTORY
            for gold in BY_FACTORY[block["factory"]](block)
        ]
        keys = [block.get("graph", block).get("spans_key") for block in blocks]
        self.spans_key: str | None = next(filter(None, keys), None)

    @property
    def reads_layers(self) -> bool:
        """Whether a treebank's trees and tags are not enough."""
        return any(gold.layer for gold in self._wanted())

    def check_corpus(self, files: Iterable[Path], lang: str) -> None:
        """Stop where none of a file's Docs has the annotation."""
        vocab = vocab_for(lang)
        for file in files:
            for gold in self._wanted():
                if not any(map(gold.on, read_docbin(file, vocab))):
                    wanted = f"{self.path} needs {gold.name}"
                    msg.fail(f"{wanted}, and {file} has none", gold.source, exits=1)

    def check_encoder(self, encoder: str) -> None:
        """Stop where an encoder is read from a package that is not here. encoder: another one."""
        name = encoder or self.encoder
        package = name.removeprefix(PACKAGE).partition("/")[0]
        wanted = [package, "transformers"] if name.startswith(PACKAGE) else []
        absent = [each for each in wanted if importlib.util.find_spec(each) is None]
        if absent:
            msg.fail(
                f"{self.path} needs the package {' and '.join(absent)}, not installed here",
                "First: spacy project run encoder. For another encoder: --vars.encoder FOLDER",
                exits=1,
            )

    def _wanted(self) -> list[Gold]:
        return self.golds + [BY_LAYER[name] for name in self.given if name in BY_LAYER]
