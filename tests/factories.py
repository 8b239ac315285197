"""What the tests of all components need to know about each of them.

A new component joins test_components.py by one more `Factory` in `FACTORIES`; its annotation joins
the Docs made by `gold_docs` and `partly_annotated`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Adam, fix_random_seed

from spacy_biaffine.doc.graphs import (
    FRAMES,
    Arc,
    Frame,
    Relation,
    Role,
    frames_of,
    set_arcs,
    set_frames,
    set_relations,
)

TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "pretrained_vectors": None,
    "width": 16,
    "depth": 1,
    "embed_size": 200,
    "window_size": 1,
    "maxout_pieces": 2,
    "subword_features": True,
}
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}


@dataclass(frozen=True)
class Factory:
    """A component under test.

    kind: what tells it from another one of the same component.
    model: sizes small enough for a test. variants: other model settings, to be saved and loaded.
    read: what the component has predicted, token by token, to be compared with ==; scores: its
    confidence, when made with the config `scored`. relabel: a gold Doc whose annotation has the
    given label.
    """

    name: str
    kind: str
    model: dict[str, Any]
    variants: list[dict[str, Any]]
    read: Callable[[Doc], Any]
    scores: Callable[[Doc], np.ndarray]
    relabel: Callable[[Vocab, str], Doc]
    scored: dict[str, Any] = field(default_factory=dict)

    def add_to(self, nlp: Language, *, tok2vec: dict[str, Any] = TOK2VEC, **model: Any) -> Any:
        """Add the component, with further model settings, to a pipeline."""
        config = {**self.scored, "model": {**self.model, **model, "tok2vec": tok2vec}}
        return nlp.add_pipe(self.name, config=config)

    def make(self, **model: Any) -> Language:
        """A pipeline of this component alone, initialized on the gold Docs."""
        fix_random_seed(0)
        nlp = spacy.blank("en")
        self.add_to(nlp, **model)
        nlp.initialize(lambda: examples_of(gold_docs(nlp.vocab)))
        return nlp


def gold_docs(vocab: Vocab) -> list[Doc]:
    """Two Docs, one of two sentences, one with crossing arcs. Some spans are nested, cross, or have
    two labels."""
    docs = [
        Doc(
            vocab,
            words=["Cold", "rain", "fell", "all", "night", ".", "Nobody", "slept", "."],
            heads=[1, 2, 2, 4, 2, 2, 7, 7, 7],
            deps=["amod", "nsubj", "ROOT", "det", "obl", "punct", "nsubj", "ROOT", "punct"],
            tags=["JJ", "NN", "VBD", "DT", "NN", ".", "NN", "VBD", "."],
            ents=["B-WEATHER", "I-WEATHER", "O", "B-TIME", "I-TIME", "O", "B-PER", "O", "O"],
        ),
        Doc(
            vocab,
            words=["Yesterday", "letters", "came", "that", "pleased", "us", "."],
            heads=[2, 2, 2, 4, 1, 4, 2],
            deps=["advmod", "nsubj", "ROOT", "nsubj", "acl:relcl", "obj", "punct"],
            tags=["RB", "NNS", "VBD", "WDT", "VBD", "PRP", "."],
            ents=["B-TIME", "O", "O", "O", "O", "B-PER", "O"],
        ),
    ]
    set_spans(docs[0], (0, 2, "WEATHER"), (1, 2, "WEATHER"), (0, 5, "EVENT"), (3, 5, "TIME"))
    set_spans(docs[1], (0, 1, "TIME"), (0, 1, "EVENT"), (0, 4, "EVENT"), (1, 6, "PER"))
    relate(docs[0], (0, 1, "during"), (2, 1, "at"))
    relate(docs[1], (1, 0, "on"))
    link(docs[0], (1, 0, "amod"), (2, 1, "nsubj"), (7, 1, "because"), (-1, 2, "root"))
    link(
        docs[1], (2, 0, "advmod"), (4, 1, "nsubj"), (2, 1, "nsubj"), (-1, 2, "root"), (-1, 4, "on")
    )
    predicate(docs[0], 2, "fall.01", ("ARG1", (0, 2)), ("ARGM-TMP", (3, 5)))
    predicate(docs[0], 7, "sleep.01", ("ARG0", (6, 7)))
    predicate(docs[1], 2, "come.01", ("ARGM-TMP", (0, 1)), ("ARG1", (1, 2), (3, 6)))
    predicate(docs[1], 4, "please.02", ("ARG0", (1, 2)), ("R-ARG0", (3, 4)), ("ARG1", (5, 6)))
    return docs


def set_spans(doc: Doc, *spans: tuple[int, int, str]) -> None:
    """Write the group of nested spans."""
    doc.spans["sc"] = [Span(doc, start, end, label) for start, end, label in spans]


def relate(doc: Doc, *relations: tuple[int, int, str]) -> None:
    """Write relations between entities, by their numbers."""
    set_relations(doc, [Relation(doc.ents[h], doc.ents[t], label) for h, t, label in relations])


def link(doc: Doc, *arcs: tuple[int, int, str]) -> None:
    """Write a graph of tokens: head (-1 for the root), dependent, label."""
    set_arcs(doc, [Arc(doc[h] if h >= 0 else None, doc[d], label) for h, d, label in arcs])


def predicate(doc: Doc, token: int, sense: str, *roles: tuple) -> None:
    """Add a frame: its predicate, and each argument as its label and its spans."""
    arguments = [
        Role(label, tuple(doc[start:end] for start, end in spans)) for label, *spans in roles
    ]
    set_frames(doc, [*doc._.frames, Frame((doc[token : token + 1],), sense, tuple(arguments))])


def partly_annotated(vocab: Vocab) -> Doc:
    """A gold Doc whose annotation is missing at some of its tokens; a group of spans can't be."""
    doc = Doc(
        vocab,
        words=["Letters", "came", "yesterday", "."],
        heads=[1, None, 1, None],
        deps=["nsubj", "", "advmod", ""],
        tags=["NNS", "", "RB", ""],
        ents=["O", "", "B-TIME", ""],
    )
    set_spans(doc, (2, 3, "TIME"))
    relate(doc)
    link(doc, (1, 0, "nsubj"))
    predicate(doc, 1, "come.01", ("ARG1", (0, 1)))
    return doc


def bare(doc: Doc) -> Doc:
    """The same tokens without annotation."""
    spaces = [bool(token.whitespace_) for token in doc]
    return Doc(doc.vocab, words=[token.text for token in doc], spaces=spaces)


def examples_of(docs: list[Doc]) -> list[Example]:
    """Examples with bare predicted Docs."""
    return [Example(bare(doc), doc) for doc in docs]


def unannotated(vocab: Vocab) -> list[Example]:
    """A batch without any gold annotation."""
    texts = (["Rain", "fell", "."], ["Us"], [])
    return [Example(Doc(vocab, words=words), Doc(vocab, words=words)) for words in texts]


def train(nlp: Language, steps: int, **kwargs: Any) -> float:
    """Train on the gold Docs; returns the last loss."""
    optimizer = Adam(0.01, L2=0.0, grad_clip=1.0)
    examples = examples_of(gold_docs(nlp.vocab))
    for _ in range(steps):
        losses = nlp.update(examples, sgd=optimizer, losses={}, **kwargs)
    return losses[nlp.pipe_names[-1]]


def read_tree(doc: Doc) -> list[tuple[int, str, bool]]:
    """Head, label and sentence start of every token."""
    return [(t.head.i, t.dep_, bool(t.is_sent_start)) for t in doc]


def tree_scores(doc: Doc) -> np.ndarray:
    """(tokens, 2) the probabilities of head and label."""
    return np.array([(t._.head_prob, t._.label_prob) for t in doc]).reshape(-1, 2)


def tree_with_label(vocab: Vocab, label: str) -> Doc:
    """Two words, the second with the given label."""
    return Doc(vocab, words=["Rain", "fell"], heads=[1, 1], deps=[label, "ROOT"])


def read_ents(doc: Doc) -> list[tuple[str, str]]:
    """Place in an entity, and its type, of every token."""
    return [(t.ent_iob_, t.ent_type_) for t in doc]


def read_spans(doc: Doc) -> list[list[tuple[int, str]]]:
    """End and label of the spans that begin at each token."""
    return [sorted((s.end, s.label_) for s in doc.spans["sc"] if s.start == t.i) for t in doc]


def ents_with_label(vocab: Vocab, label: str) -> Doc:
    """Two words, the second an entity with the given label."""
    return Doc(vocab, words=["Rain", "fell"], ents=["O", f"B-{label}"])


def spans_with_label(vocab: Vocab, label: str) -> Doc:
    """Two words, both together and the second alone a span with the given label."""
    doc = Doc(vocab, words=["Rain", "fell"])
    set_spans(doc, (0, 2, label), (1, 2, label))
    return doc


def group_scores(key: str) -> Callable[[Doc], np.ndarray]:
    """The scores of the spans in a group."""
    return lambda doc: np.array(doc.spans[key].attrs["scores"])


def scores_of_ents(doc: Doc) -> np.ndarray:
    """The scores of doc.ents."""
    return np.array([ent._.ent_score for ent in doc.ents])


def read_tags(doc: Doc) -> list[str]:
    """The tag of every token."""
    return [token.tag_ for token in doc]


def best_probability(name: str) -> Callable[[Doc], np.ndarray]:
    """(tokens,) the probability of the best label, 0 at blank tokens."""
    return lambda doc: np.array([max(t._.get(name).values(), default=0.0) for t in doc])


def tags_with_label(vocab: Vocab, label: str) -> Doc:
    """Two words with the given tag."""
    return Doc(vocab, words=["Rain", "fell"], tags=[label, label])


def read_relations(doc: Doc) -> list[tuple]:
    """Place in an entity, its type, and the relations of entities that begin there."""
    found = [(r.head.start, r.head.end, r.tail.start, r.tail.end, r.label) for r in doc._.relations]
    return [(t.ent_iob_, t.ent_type_, sorted(r for r in found if r[0] == t.i)) for t in doc]


def relations_with_label(vocab: Vocab, label: str) -> Doc:
    """Two words, the first in the given relation to the second."""
    doc = Doc(vocab, words=["Rain", "fell"], ents=["B-WEATHER", "B-TIME"])
    relate(doc, (0, 1, label))
    return doc


def read_arcs(doc: Doc) -> list[list[tuple[int, str]]]:
    """Heads and labels of every token, -1 for the root."""
    found = [(a.dependent.i, -1 if a.head is None else a.head.i, a.label) for a in doc._.dep_graph]
    return [sorted(arc[1:] for arc in found if arc[0] == token.i) for token in doc]


def arcs_with_label(vocab: Vocab, label: str) -> Doc:
    """Two words, the second the head of the first with the given label."""
    doc = Doc(vocab, words=["Rain", "fell"])
    link(doc, (1, 0, label))
    return doc


def read_frames(doc: Doc, key: str = FRAMES) -> list[list[tuple]]:
    """Senses and arguments of the predicates that begin at each token."""
    found = [
        (frame.predicate[0].start, frame.sense, [_role(role) for role in frame.roles])
        for frame in frames_of(doc, key)
    ]
    return [[frame[1:] for frame in found if frame[0] == token.i] for token in doc]


def _role(role: Role) -> tuple[str, list[tuple[int, int]]]:
    return role.label, [(span.start, span.end) for span in role.spans]


def frame_scores(doc: Doc) -> np.ndarray:
    """The probabilities of predicates and of their roles."""
    return np.array([each.score for frame in doc._.frames for each in (frame, *frame.roles)])


def frame_with_label(vocab: Vocab, label: str) -> Doc:
    """Two words, the first an argument of the second with the given label."""
    doc = Doc(vocab, words=["Rain", "fell"])
    predicate(doc, 1, "fall.01", (label, (0, 1)))
    return doc


def edge_scores(layer: str) -> Callable[[Doc], np.ndarray]:
    """The probabilities of the edges of a graph."""
    return lambda doc: np.array([edge.score for edge in doc._.get(layer)])


LAN = {
    "@architectures": "spacy-biaffine.LabelAttentionTagger.v1",
    "lstm_layers": 2,
    "lstm_hidden": 32,
    "heads": 2,
}

POINTER = {
    "@architectures": "spacy-biaffine.GlobalPointer.v1",
    "lstm_layers": 1,
    "lstm_hidden": 16,
    "head_size": 16,
}

GRAPH_PARSER = {
    "@architectures": "spacy-biaffine.NormBiaffineGraphParser.v1",
    "tagger_size": 16,
    "tag_size": 8,
    "lstm_layers": 1,
    "lstm_hidden": 16,
    "arc_size": 16,
    "label_size": 16,
    "arcs": {"@misc": "spacy-biaffine.TreeArcs.v1"},
}

SRL = {"@architectures": "spacy-biaffine.SyntaxSRL.v1", "span_size": 16, "role_size": 16}

FACTORIES = [
    Factory(
        name="norm_biaffine_parser",
        kind="trees",
        model={
            "@architectures": "spacy-biaffine.NormBiaffineParser.v1",
            "lstm_layers": 1,
            "lstm_hidden": 16,
            "arc_size": 16,
            "label_size": 16,
            "splitter_size": 8,
        },
        variants=[
            {"lstm_layers": 0, "arc_size": 5},
            {"lstm_layers": 3, "lstm_hidden": 7, "layer_norm": True, "label_size": 3},
            {"tag_size": 4, "normalize": False, "xavier_normal": True, "hops": 2},
        ],
        read=read_tree,
        scores=tree_scores,
        relabel=tree_with_label,
        scored={"store_scores": True},
    ),
    Factory(
        name="label_attention_tagger",
        kind="tags",
        model=LAN,
        variants=[
            {"lstm_layers": 1, "heads": 1},
            {"lstm_layers": 3, "lstm_hidden": 6, "heads": 4},
        ],
        read=read_tags,
        scores=best_probability("tag_scores"),
        relabel=tags_with_label,
        scored={"store_scores": True},
    ),
    Factory(
        name="global_pointer_ner",
        kind="entities",
        model=POINTER,
        variants=[
            {"lstm_layers": 0, "head_size": 6},
            {"lstm_layers": 2, "max_span_length": 3, "max_length": 4},
            {"efficient": False},
        ],
        read=read_ents,
        scores=scores_of_ents,
        relabel=ents_with_label,
        scored={"store_scores": True},
    ),
    Factory(
        name="global_pointer_ner",
        kind="spans",
        model=POINTER,
        variants=[{"lstm_layers": 0}],
        read=read_spans,
        scores=group_scores("sc"),
        relabel=spans_with_label,
        scored={"spans_key": "sc", "set_ents": False},
    ),
    Factory(
        name="norm_biaffine_graph_parser",
        kind="relations",
        model=GRAPH_PARSER,
        variants=[
            {"lstm_layers": 0, "arc_size": 5, "tagger_lstm": False},
            {"hops": 2, "normalize": False, "tag_size": 0},
            {"tagger_size": 0, "arcs": {"@misc": "spacy-biaffine.GraphArcs.v1"}},
        ],
        read=read_relations,
        scores=edge_scores("relations"),
        relabel=relations_with_label,
        scored={"store_scores": True},
    ),
    Factory(
        name="norm_biaffine_graph_parser",
        kind="tokens",
        model={
            **GRAPH_PARSER,
            "tagger_size": 0,
            "tag_size": 0,
            "arcs": {"@misc": "spacy-biaffine.GraphArcs.v1"},
        },
        variants=[{"lstm_layers": 0, "arc_size": 5}, {"tag_size": 4, "max_length": 3}],
        read=read_arcs,
        scores=edge_scores("dep_graph"),
        relabel=arcs_with_label,
        scored={
            "store_scores": True,
            "graph": {"@misc": "spacy-biaffine.TokenGraph.v1"},
            "scorer": {"@scorers": "spacy-biaffine.dep_graph_scorer.v1"},
        },
    ),
    Factory(
        name="syntax_srl",
        kind="roles",
        model=SRL,
        variants=[
            {"span_size": 5, "max_span_length": 2, "max_length": 4},
            {"role_size": 7, "predicate_share": 0.1, "max_predicates": 1, "max_spans": 3},
        ],
        read=read_frames,
        scores=frame_scores,
        relabel=frame_with_label,
    ),
]
