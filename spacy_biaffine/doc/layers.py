"""The layers of annotation that a Doc can have: one table for all that lists them.

A form of files names the layers that it holds (`formats/form.py`), corpus readers give them
(`given.py`), `scoring/evaluation.py` scores them, `pictures/layers.py` draws them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from spacy.tokens import Doc

from .graphs import DEP_GRAPH, FRAMES, RELATIONS, WORD_FRAMES, graph_of, has_graph
from .kept import PREFIX
from .old_graphs import is_old_graph

GRAPHS = (RELATIONS, DEP_GRAPH, FRAMES, WORD_FRAMES)

OLD_NAMES = {"token_scores", "token_labels", "ent_scores", "conllu"}
"""Span groups in which earlier versions have kept other things than entities, beside graphs."""


@dataclass(frozen=True)
class Layer:
    """A layer of annotation.

    title: what is counted. is_on: whether a Doc is annotated with it. count: how much there is.
    attributes: those of tokens that it is made of, by the names that corpus readers give them
    under; empty for one in a span group.
    """

    name: str
    title: str
    is_on: Callable[[Doc], bool]
    count: Callable[[Doc], int]
    attributes: Mapping[str, list[int | str]] = field(default_factory=dict)


def entity_groups(doc: Doc) -> list[str]:
    """The span groups that hold entities, nested ones too."""
    return [key for key in doc.spans if not _is_kept(doc, key)]


def _is_kept(doc: Doc, key: str) -> bool:
    """Whether this package keeps other things than entities in a group."""
    if key.startswith(PREFIX) or key in OLD_NAMES:
        return True
    return key in GRAPHS and is_old_graph(doc.spans[key])


def has_sentences(doc: Doc) -> bool:
    """Whether sentence starts are marked; spaCy takes any Doc of one token for marked."""
    return doc.has_annotation("DEP" if len(doc) == 1 else "SENT_START")


def _has_tags(doc: Doc) -> bool:
    return any(map(doc.has_annotation, ("TAG", "POS", "MORPH")))


def _n_spans(doc: Doc) -> int:
    return sum(len(doc.spans[key]) for key in entity_groups(doc))


def _n_tags(doc: Doc) -> int:
    return sum(bool(token.tag or token.pos or token.has_morph()) for token in doc)


def _graph(name: str, title: str, count: Callable[[Doc], int]) -> Layer:
    return Layer(name, title, partial(has_graph, key=name), count)


LAYERS = (
    Layer(
        "sentences",
        "sentences",
        has_sentences,
        lambda doc: sum(1 for _ in doc.sents),
        {"sents": ["SENT_START"]},
    ),
    Layer(
        "tags",
        "words with tags",
        _has_tags,
        _n_tags,
        {"tag": ["TAG"], "pos": ["POS"], "morph": ["MORPH"], "lemma": ["LEMMA"]},
    ),
    Layer(
        "trees",
        "words in trees",
        lambda doc: doc.has_annotation("DEP"),
        lambda doc: sum(bool(token.dep) for token in doc),
        {"heads": ["HEAD", "DEP"]},
    ),
    Layer(
        "entities",
        "entities",
        lambda doc: doc.has_annotation("ENT_IOB"),
        lambda doc: len(doc.ents),
        {"ents": ["ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"]},
    ),
    Layer("spans", "spans in groups", lambda doc: bool(entity_groups(doc)), _n_spans),
    _graph(RELATIONS, "relations", lambda doc: len(graph_of(doc, RELATIONS).edges)),
    _graph(DEP_GRAPH, "arcs", lambda doc: len(graph_of(doc, DEP_GRAPH).edges)),
    _graph(FRAMES, "frames", lambda doc: len(doc._.frames)),
    _graph(WORD_FRAMES, "frames of words", lambda doc: len(doc._.word_frames)),
)

BY_NAME = {layer.name: layer for layer in LAYERS}
