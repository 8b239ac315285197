"""A pipeline's annotation against gold Docs: every layer that both have, each by its scorer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from spacy.scorer import Scorer
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..doc.labels import label_of
from ..doc.layers import BY_NAME, entity_groups
from .arcs import score_relation_arcs
from .entities import score_entities
from .graphs import score_dep_graph, score_relations
from .labels import score_tagger
from .roles import score_roles
from .trees import score_parser

Scores = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """A layer of annotation, or a part of one, that has scores of its own.

    is_on: whether a Doc has it. score: its scores, by the names that training logs show.
    given: what corpus readers call it. group: the span group that it is.
    """

    name: str
    is_on: Callable[[Doc], bool]
    score: Callable[[list[Example]], Scores]
    given: str | None = None
    group: str | None = None

    def repeats_entities(self, examples: Iterable[Example]) -> bool:
        """Whether it is a group of gold spans that are all in doc.ents, as converters make it."""
        docs = [example.reference for example in examples]
        return self.group is not None and all(
            {_key(span) for span in doc.spans.get(self.group, ())} <= set(map(_key, doc.ents))
            for doc in docs
        )


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
    for part in _parts(examples, tokenized, extensions, arcs_of):
        n_gold = sum(part.is_on(example.reference) for example in examples)
        is_predicted = any(part.is_on(example.predicted) for example in examples)
        if part.given in given:
            continue
        if n_gold and is_predicted:
            found.scores[part.name] = part.score(examples)
            found.annotated[part.name] = n_gold
        elif n_gold and not part.repeats_entities(examples):
            found.unwritten.append(part.name)
        elif is_predicted:
            found.without_gold.append(part.name)
    return found


def _parts(
    examples: list[Example],
    tokenized: bool,
    extensions: Iterable[str],
    arcs_of: Iterable[str | None],
) -> list[Part]:
    """In the order of `doc.layers.LAYERS`."""
    docs = [doc for example in examples for doc in (example.reference, example.predicted)]
    groups = sorted({key for doc in docs for key in entity_groups(doc)})
    return [
        *([Part("tokens", _knows_text, Scorer.score_tokenization)] if tokenized else []),
        _whole("sentences", _starting("sents_", score_parser), given="sents"),
        _labels("tags", "tag", _has("TAG")),
        _labels("parts of speech", "pos", _has("POS")),
        _labels("features", "morph", _has_features),
        *(_extension(name) for name in extensions),
        _whole("trees", _starting("dep_", score_parser), given="heads"),
        _whole("entities", _starting("ents_", score_entities), given="ents"),
        *(_group(key) for key in groups),
        _whole("relations", _starting("relations_", score_relations)),
        *(_arcs(key) for key in arcs_of),
        _whole("dep_graph", score_dep_graph, "dependency graphs"),
        _whole("frames", score_roles),
        _whole("word_frames", partial(score_roles, word_frames=True), "frames of words"),
    ]


def _whole(
    layer: str,
    score: Callable[[list[Example]], Scores],
    name: str | None = None,
    *,
    given: str | None = None,
) -> Part:
    return Part(name or layer, BY_NAME[layer].is_on, score, given)


def _labels(name: str, target: str, is_on: Callable[[Doc], bool]) -> Part:
    score = partial(score_tagger, target=target)
    return Part(name, is_on, _starting(f"{target}_", score), target)


def _knows_text(doc: Doc) -> bool:
    return not doc.has_unknown_spaces


def _has_features(doc: Doc) -> bool:
    return any(str(token.morph) for token in doc)


def _has(attribute: str) -> Callable[[Doc], bool]:
    return lambda doc: doc.has_annotation(attribute)


def _starting(prefix: str, score: Callable[..., Scores]) -> Callable[[list[Example]], Scores]:
    """Those of the scores whose names begin so."""
    return lambda examples: {
        name: value for name, value in score(examples).items() if name.startswith(prefix)
    }


def _extension(name: str) -> Part:
    target = f"_.{name}"
    return Part(
        target,
        lambda doc: any(label_of(token, target) for token in doc),
        _starting(f"{name}_", partial(score_tagger, target=target)),
    )


def _group(key: str) -> Part:
    score = partial(score_entities, spans_key=key, set_ents=False)
    scores = _starting(f"spans_{key}_", score)
    return Part(f"spans {key}", lambda doc: key in doc.spans, scores, group=key)


def _key(span: Span) -> tuple[int, int, int]:
    return span.start, span.end, span.label


def _arcs(spans_key: str | None) -> Part:
    score = _starting("relation_arcs_", partial(score_relation_arcs, spans_key=spans_key))
    return Part("arcs of relations", BY_NAME["relations"].is_on, score)
