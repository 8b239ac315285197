"""Gold annotation that can't be learned is counted once, by kind, when training starts."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import spacy
from factories import (
    FACTORIES,
    TOK2VEC,
    Factory,
    bare,
    examples_of,
    gold_docs,
    link,
    predicate,
    set_spans,
)
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_biaffine.doc.graphs import Relation, set_relations
from spacy_biaffine.gold import left_out
from spacy_biaffine.gold.left_out import Kind, LabelNumbers

PARTS = {each.kind: each for each in FACTORIES}
WORDS = ["Cold", "rain", "fell", "on", "New", "York", ".", "Nobody", "slept", "."]


def in_sentences(doc: Doc) -> Doc:
    """The same words, in two marked sentences."""
    marked = bare(doc)
    for token in marked:
        token.is_sent_start = token.i in (0, 7)
    return marked


def glued(doc: Doc) -> Doc:
    """The same words, two of them in one."""
    words = [*WORDS[:4], "NewYork", *WORDS[6:]]
    return Doc(doc.vocab, words=words, spaces=[True] * len(words))


def spans(doc: Doc) -> None:
    set_spans(doc, (0, 2, "WEATHER"), (5, 6, "PLACE"), (2, 9, "EVENT"), (3, 6, ""))


def ents(doc: Doc) -> None:
    doc.ents = [Span(doc, 0, 2, "WEATHER"), Span(doc, 5, 6, "PLACE"), Span(doc, 6, 9, "EVENT")]


def relations(doc: Doc) -> None:
    ents(doc)
    rain, york, event = doc.ents
    other = Span(doc, 2, 3, "VERB")
    pairs = [(rain, york, "in"), (rain, york, "on"), (york, york, "near"), (york, other, "of")]
    more = [(york, rain, ""), (event, york, "in")]
    set_relations(doc, [Relation(*each) for each in (*pairs, *more)])


def nested(doc: Doc) -> None:
    """Entities in a group, inside of others."""
    set_spans(doc, (0, 2, "WEATHER"), (1, 2, "WEATHER"), (4, 6, "PLACE"), (4, 6, "CITY"))
    rain, inner, york, _ = doc.spans["sc"]
    set_relations(doc, [Relation(rain, york, "in"), Relation(inner, york, "in")])


def crowded(doc: Doc) -> None:
    """Three entities on two tokens."""
    set_spans(doc, (4, 6, "PLACE"), (4, 6, "CITY"), (5, 6, "WORD"), (0, 1, "COLD"))
    places = list(doc.spans["sc"])
    set_relations(doc, [Relation(each, places[3], "is") for each in places[:3]])


def arcs(doc: Doc) -> None:
    link(
        doc,
        (2, 1, "nsubj"),
        (2, 1, "agent"),
        (2, 2, "self"),
        (1, 5, "x"),
        (2, 5, "obl"),
        (8, 7, "nsubj"),
        (2, 8, "conj"),
        (2, 3, ""),
    )


def frames(doc: Doc) -> None:
    predicate(
        doc, 2, "fall.01", ("ARG1", (0, 2)), ("ARG2", (1, 2)), ("LOC", (3, 6)), ("DIR", (4, 5))
    )
    predicate(doc, 2, "fall.02", ("ARG1", (0, 2)))
    predicate(doc, 5, "york.01", ("ARG1", (8, 9)))
    predicate(doc, 8, "sleep.01", ("ARG0", (7, 8)))


def heads(doc: Doc) -> None:
    for token in doc:
        token.head, token.dep_ = doc[min(token.i + 5, 9)], "x"
    doc[9].dep_ = "ROOT"


def warned(
    part: Factory,
    annotate: Callable[[Doc], None],
    predicted: Callable[[Doc], Doc],
    config: dict[str, Any],
    model: dict[str, Any],
) -> str:
    """What `initialize` says of one gold Doc."""
    nlp = spacy.blank("en")
    settings = {**part.model, **model, "tok2vec": TOK2VEC}
    nlp.add_pipe(part.name, config={**part.scored, **config, "model": settings})
    doc = Doc(nlp.vocab, words=WORDS)
    annotate(doc)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        nlp.initialize(lambda: [Example(predicted(doc), doc)])
    said = [str(each.message) for each in found if "can't be learned" in str(each.message)]
    assert len(said) <= 1
    return said[0] if said else ""


GROUP = {"graph": {"@misc": "spacy-biaffine.EntityGraph.v1", "spans_key": "sc"}}
GRAPH_ARCS = {"arcs": {"@misc": "spacy-biaffine.GraphArcs.v1"}}
TREE_ARCS = {"arcs": {"@misc": "spacy-biaffine.TreeArcs.v1"}}

CASES = [
    ("trees", heads, in_sentences, {}, {}, {}),
    ("trees", heads, bare, {}, {"max_length": 5}, {left_out.HEAD_OUTSIDE: 5}),
    (
        "spans",
        spans,
        in_sentences,
        {},
        {"max_span_length": 1},
        {left_out.ENTITY_ACROSS: 1, left_out.ENTITY_NO_LABEL: 1, left_out.ENTITY_TOO_LONG: 1},
    ),
    (
        "spans",
        spans,
        glued,
        {"cross_sentences": True},
        {"max_length": 4},
        {
            left_out.ENTITY_OTHER_TOKENS: 1,
            left_out.ENTITY_NO_LABEL: 1,
            left_out.ENTITY_IN_PARTS: 1,
        },
    ),
    ("entities", ents, in_sentences, {}, {}, {left_out.ENTITY_ACROSS: 1}),
    ("tags", ents, in_sentences, {"target": "ent"}, {}, {left_out.ENTITY_ACROSS: 1}),
    (
        "relations",
        relations,
        in_sentences,
        {},
        GRAPH_ARCS,
        {
            left_out.RELATION_SECOND: 1,
            left_out.RELATION_TO_ITSELF: 1,
            left_out.RELATION_NO_ENTITY: 1,
            left_out.ARC_NO_LABEL: 1,
            left_out.ARC_OUTSIDE: 1,
            left_out.ENTITY_ACROSS: 1,
        },
    ),
    (
        "relations",
        relations,
        glued,
        {},
        GRAPH_ARCS,
        {
            left_out.RELATION_OTHER_TOKENS: 5,
            left_out.RELATION_NO_ENTITY: 1,
            left_out.ENTITY_OTHER_TOKENS: 1,
        },
    ),
    (
        "relations",
        nested,
        bare,
        GROUP,
        GRAPH_ARCS,
        {left_out.RELATION_OVERLAPS: 1, left_out.ENTITY_OVERLAPS: 2},
    ),
    (
        "relations",
        crowded,
        bare,
        GROUP,
        {**TREE_ARCS, "tagger_size": 0},
        {left_out.RELATION_NO_TOKEN: 1},
    ),
    (
        "tokens",
        arcs,
        in_sentences,
        {},
        TREE_ARCS,
        {
            left_out.ARC_SECOND: 1,
            left_out.ARC_TO_ITSELF: 1,
            left_out.ARC_OUTSIDE: 1,
            left_out.ARC_NO_LABEL: 1,
            left_out.ARC_SECOND_HEAD: 1,
        },
    ),
    (
        "tokens",
        arcs,
        glued,
        {},
        GRAPH_ARCS,
        {
            left_out.ARC_OTHER_TOKENS: 2,
            left_out.ARC_SECOND: 1,
            left_out.ARC_TO_ITSELF: 1,
            left_out.ARC_NO_LABEL: 1,
        },
    ),
    (
        "roles",
        frames,
        in_sentences,
        {},
        {"max_predicates": 1, "max_span_length": 2},
        {
            left_out.PREDICATE_SECOND: 1,
            left_out.PREDICATE_TOO_MANY: 1,
            left_out.ARGUMENT_OUTSIDE: 1,
            left_out.ARGUMENT_TOO_LONG: 1,
            left_out.ARGUMENT_OVERLAPS: 1,
        },
    ),
    (
        "roles",
        frames,
        glued,
        {"given_predicates": True},
        {"max_predicates": 1},
        {
            left_out.PREDICATE_OTHER_TOKENS: 1,
            left_out.PREDICATE_SECOND: 1,
            left_out.ARGUMENT_OTHER_TOKENS: 1,
            left_out.ARGUMENT_OVERLAPS: 1,
        },
    ),
]


@pytest.mark.parametrize(("kind", "annotate", "predicted", "config", "model", "wanted"), CASES)
def test_kinds_are_counted(
    kind: str,
    annotate: Callable[[Doc], None],
    predicted: Callable[[Doc], Doc],
    config: dict[str, Any],
    model: dict[str, Any],
    wanted: dict[Kind, int],
) -> None:
    said = warned(PARTS[kind], annotate, predicted, config, model)
    lines = {f"- {each.what}: {count}; {each.remedy}." for each, count in wanted.items()}
    assert set(said.splitlines()[1:]) == lines


def test_every_kind_has_a_case() -> None:
    kinds = {each for each in vars(left_out).values() if isinstance(each, Kind)}
    assert kinds == {kind for *_, wanted in CASES for kind in wanted}


def test_good_gold_is_no_reason_for_a_warning(factory: Factory) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "(?s).*can't be learned")
        nlp = spacy.blank("en")
        factory.add_to(nlp)
        nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))


def test_labels_that_a_file_does_not_have(factory: Factory) -> None:
    data = factory.make().get_pipe(factory.name).label_data
    nlp = spacy.blank("en")
    pipe = factory.add_to(nlp)
    docs = [*gold_docs(nlp.vocab), factory.relabel(nlp.vocab, "UNSEEN")]
    with pytest.warns(UserWarning, match="(?s)can't be learned.*it does not learn .*UNSEEN'"):
        pipe.initialize(lambda: examples_of(docs), nlp=nlp, labels=data)


def test_unknown_labels_are_kept() -> None:
    numbers = LabelNumbers(["A", "B"])
    assert (numbers["B"], numbers.get("X", -1), numbers.get("", -1), "Y" in numbers) == (
        1,
        -1,
        -1,
        False,
    )
    assert numbers.unknown == {"X", "Y"}
    assert list(numbers) == ["A", "B"]
