"""A pipeline's annotation against gold Docs: every layer that both have, each by its scorer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from ..doc.graphs import DEP_GRAPH, FRAMES, RELATIONS, WORD_FRAMES, has_graph
from ..doc.labels import label_of
from ..doc.layers import entity_groups, has_sentences
from .arcs import score_relation_arcs
from .entities import score_entities
from .graphs import score_dep_graph, score_relations
from .labels import score_tagger
from .roles import score_roles
from .trees import score_parser

Scores = dict[str, Any]


@dataclass(frozen=True)
class Layer:
    """A layer of annotation.

    is_on: whether a Doc has it. score: its scores, by the names that training logs show.
    given: what corpus readers call it.
    """

    name: str
    is_on: Callable[[Doc], bool]
    score: Callable[[list[Example]], Scores]
    given: str | None = None


@dataclass
class Evaluation:
    """What came out.

    scores: by layer. annotated: how many gold Docs have each layer that was scored.
    unwritten: layers that only gold Docs have. without_gold: layers that only predicted Docs have.
    """

    scores: dict[str, Scores] = field(default_factory=dict)
    annotated: dict[str, int] = field(default_factory=dict)
    unwritten: list[str] = field(default_factory=list)
    without_gold: list[str] = field(default_factory=list)


def evaluate(
    examples: Sequence[Example],
    *,
    tokenized: bool = False,
    given: Iterable[str] = (),
    extensions: Iterable[str] = (),
    arcs_of: Iterable[str | None] = (),
) -> Evaluation:
    """Score annotated Examples, layer by layer.

    tokenized: the tokens were predicted too. given: layers that stood on the Docs before, which are
    not scored. extensions: names of token extensions that hold labels. arcs_of: where the entities
    are, a span group or None for doc.ents, whose relations were kept as arcs between words too.
    """
    examples = list(examples)
    given, found = set(given), Evaluation()
    for layer in _layers(examples, tokenized, extensions, arcs_of):
        n_gold = sum(layer.is_on(example.reference) for example in examples)
        is_predicted = any(layer.is_on(example.predicted) for example in examples)
        if layer.given in given:
            continue
        if n_gold and is_predicted:
            found.scores[layer.name] = layer.score(examples)
            found.annotated[layer.name] = n_gold
        elif n_gold:
            found.unwritten.append(layer.name)
        elif is_predicted:
            found.without_gold.append(layer.name)
    return found


def _layers(
    examples: list[Example],
    tokenized: bool,
    extensions: Iterable[str],
    arcs_of: Iterable[str | None],
) -> list[Layer]:
    docs = [doc for example in examples for doc in (example.reference, example.predicted)]
    groups = sorted({key for doc in docs for key in entity_groups(doc)})
    relations = partial(has_graph, key=RELATIONS)
    layers = [
        Layer("sentences", has_sentences, _part(score_parser, "sents_"), "sents"),
        Layer("tags", _has("TAG"), _part(partial(score_tagger, target="tag"), "tag_"), "tag"),
        Layer(
            "parts of speech",
            _has("POS"),
            _part(partial(score_tagger, target="pos"), "pos_"),
            "pos",
        ),
        Layer(
            "features",
            _has_features,
            _part(partial(score_tagger, target="morph"), "morph_"),
            "morph",
        ),
        *(_extension(name) for name in extensions),
        Layer("trees", _has("DEP"), _part(score_parser, "dep_"), "heads"),
        Layer("entities", _has("ENT_IOB"), _part(score_entities, "ents_"), "ents"),
        *(_group(key) for key in groups),
        Layer("relations", relations, _part(score_relations, "relations_")),
        *(_arcs(key) for key in arcs_of),
        Layer("dependency graphs", partial(has_graph, key=DEP_GRAPH), score_dep_graph),
        Layer("frames", partial(has_graph, key=FRAMES), score_roles),
        Layer(
            "frames of words",
            partial(has_graph, key=WORD_FRAMES),
            partial(score_roles, word_frames=True),
        ),
    ]
    if tokenized:
        layers.insert(0, Layer("tokens", _knows_text, Scorer.score_tokenization))
    return layers


def _knows_text(doc: Doc) -> bool:
    return not doc.has_unknown_spaces


def _has_features(doc: Doc) -> bool:
    return any(str(token.morph) for token in doc)


def _has(attribute: str) -> Callable[[Doc], bool]:
    return lambda doc: doc.has_annotation(attribute)


def _part(score: Callable[..., Scores], prefix: str) -> Callable[[list[Example]], Scores]:
    """Those of the scores whose names begin so."""
    return lambda examples: {
        name: value for name, value in score(examples).items() if name.startswith(prefix)
    }


def _extension(name: str) -> Layer:
    target = f"_.{name}"
    return Layer(
        target,
        lambda doc: any(label_of(token, target) for token in doc),
        _part(partial(score_tagger, target=target), f"{name}_"),
    )


def _group(key: str) -> Layer:
    score = partial(score_entities, spans_key=key, set_ents=False)
    return Layer(f"spans {key}", lambda doc: key in doc.spans, _part(score, f"spans_{key}_"))


def _arcs(spans_key: str | None) -> Layer:
    score = partial(score_relation_arcs, spans_key=spans_key)
    is_on = partial(has_graph, key=RELATIONS)
    return Layer("arcs of relations", is_on, _part(score, "relation_arcs_"))
