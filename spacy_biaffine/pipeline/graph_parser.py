"""norm_biaffine_graph_parser: entities with their relations, or graphs of tokens."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..doc.graphs import ROOT
from ..doc.segments import sentence_parts
from ..gold.graphs import GraphTargets, arcs_left_out, graph_targets
from ..gold.left_out import ARC_SECOND_HEAD, LabelNumbers, LeftOut
from ..models.arc_heads import ArcHead, TreeArcs
from ..models.torch_layer import Scored
from ..nn.graph_parser import GraphScores
from ..nn.losses import count_known, cross_entropy, on_device, targets_at, with_gradient
from ..types import GraphInput, Ints, ParsedGraph
from .base import SMALL_ENCODER, Scorer, StructuredPipe
from .graph_kinds import FoundArc, GraphKind

DEFAULT_CONFIG = f"""
[graph]
@misc = "spacy-biaffine.EntityGraph.v1"

[model]
@architectures = "spacy-biaffine.NormBiaffineGraphParser.v1"
tagger_size = 100
tag_size = 50
lstm_layers = 1
lstm_hidden = 128
arc_size = 128
label_size = 64

[model.arcs]
@misc = "spacy-biaffine.GraphArcs.v1"

[model.tok2vec]
{SMALL_ENCODER}
"""


@Language.factory(
    "norm_biaffine_graph_parser",
    assigns=[
        "doc.ents",
        "doc.spans",
        "token.ent_iob",
        "token.ent_type",
        "doc._.relations",
        "doc._.dep_graph",
    ],
    default_config={
        **Config().from_str(DEFAULT_CONFIG),
        "tag_weight": 0.1,
        "store_scores": False,
        "scorer": {"@scorers": "spacy-biaffine.relation_scorer.v1"},
    },
    default_score_weights={"graph_f": 1.0},
)
def make_graph_parser(
    nlp: Language,
    name: str,
    model: Model,
    graph: GraphKind,
    tag_weight: float,
    store_scores: bool,
    scorer: Scorer | None,
) -> "NormBiaffineGraphParser":
    """Make a graph parser.

    model: from `spacy-biaffine.NormBiaffineGraphParser.v1`.
    graph: what is learned: `spacy-biaffine.EntityGraph.v1`, entities and their relations, or
        `spacy-biaffine.TokenGraph.v1`, arcs between tokens.
    tag_weight: what the loss of the tagger counts beside that of arcs and labels.
    store_scores: keep the probability of each relation or arc, that of its label included.
    scorer: the scoring method; for arcs between tokens `spacy-biaffine.dep_graph_scorer.v1`.
    """
    return NormBiaffineGraphParser(
        nlp.vocab,
        model,
        name,
        graph=graph,
        tag_weight=tag_weight,
        store_scores=store_scores,
        scorer=scorer,
    )


class NormBiaffineGraphParser(StructuredPipe):
    """A parser of graphs: entities and relations learned jointly, or arcs between tokens.

    Sentences that are marked on a Doc are parsed one by one; a Doc without marks is parsed as a
    whole. Without a tagger in the model it relates the entities that are on the Doc.
    """

    architecture = "spacy-biaffine.NormBiaffineGraphParser.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "norm_biaffine_graph_parser",
        *,
        graph: GraphKind,
        tag_weight: float = 0.1,
        store_scores: bool = False,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(vocab, model, name, scorer=scorer)
        self.graph = graph
        self.tag_weight = tag_weight
        self.store_scores = store_scores
        self.cfg |= {"tags": [], "root_labels": []}
        self._warned_tags = False

    def gold_labels(self, example: Example) -> dict[str, set[str]]:
        """The labels of the gold arcs and of those from the root, and the tags where the model has
        any."""
        needs_tags = self._has_tagger or self.model.attrs["reads_tags"]
        tags = self.graph.tags(example, has_tagger=self._has_tagger) if needs_tags else set()
        return {
            "labels": self.graph.labels(example),
            "root_labels": self.graph.root_labels(example),
            "tags": tags,
        }

    def left_out(self, example: Example, numbers: LabelNumbers) -> LeftOut:
        """Relations or arcs that no arc between words can stand for, and entities that no tags in
        a sentence can mark."""
        max_length = self.model.attrs["max_length"]
        cuts = sentence_parts([example.predicted], max_length)
        graph = self.graph.gold(example, has_tagger=self._has_tagger)
        targets = graph_targets([graph], cuts, numbers, {})
        left_out = arcs_left_out(graph, cuts)
        if isinstance(self.model.attrs["arcs"], TreeArcs):
            left_out[ARC_SECOND_HEAD] += int((targets.heads[:, 1:] >= 0).sum())
        if self._has_tagger:
            left_out += self.graph.entities_left_out(example, max_length)
        return +left_out

    def set_sizes(self) -> None:
        """Tell the model how many labels and tags there are."""
        if self._has_tagger and not self.cfg["tags"]:
            raise ValueError(
                f"[{self.name}] found relations but no entities in the training examples. Give the "
                f"name of their span group as spans_key, or set tagger_size = 0."
            )
        super().set_sizes()
        self.model.attrs["n_tags"] = len(self.cfg["tags"])

    def update_model(self, examples: Sequence[Example]) -> float:
        """The losses of tags (weighted), of arcs, and of labels at gold arcs; see `graph_loss`."""
        docs = [eg.predicted for eg in examples]
        cuts = sentence_parts(docs, self.model.attrs["max_length"])
        targets = graph_targets(
            [self.graph.gold(eg, has_tagger=self._has_tagger) for eg in examples],
            cuts,
            self.label_numbers,
            _numbers(self.cfg["tags"]),
        )
        features = {**self._features(docs), "heads": targets.heads}
        scores, backprop = self.model.begin_update(GraphInput(docs, cuts, features))
        tag_weight = self.tag_weight if self._has_tagger else 0.0
        loss, gradients = graph_loss(scores, targets, self.model.attrs["arcs"], tag_weight)
        backprop(gradients)
        return loss

    def predict(self, docs: Iterable[Doc]) -> list[ParsedGraph]:
        """The graph of every Doc."""
        self.require_weights()
        docs = list(docs)
        if not any(len(doc) for doc in docs):
            none, no_probs = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
            return [ParsedGraph(none, none, none, none, no_probs, no_probs) for _ in docs]
        cuts = sentence_parts(docs, self.model.attrs["max_length"])
        return self.run_model(docs, GraphInput(docs, cuts, self._features(docs)))

    def set_annotations(self, docs: Iterable[Doc], scores: list[ParsedGraph]) -> None:
        """Write the graphs, and the entities that the tagger has found."""
        for doc, graph in zip(docs, scores, strict=True):
            self.graph.write(doc, self._tags_of(graph), self._arcs_of(graph))

    def _tags_of(self, graph: ParsedGraph) -> list[str] | None:
        names = [*self.cfg["tags"], ""]
        return [names[number] for number in graph.tags] if self._has_tagger else None

    def _arcs_of(self, graph: ParsedGraph) -> list[FoundArc]:
        probs = (graph.arc_probs * graph.label_probs).tolist()
        labels = [self.labels[number] for number in graph.labels]
        scores = probs if self.store_scores else [None] * len(probs)
        ends = graph.heads.tolist(), graph.dependents.tolist()
        arcs = zip(*ends, labels, scores, strict=True)
        return [arc for arc in arcs if arc[0] != ROOT or self.cfg["root_labels"]]

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores by the scorer of the config; graph_f is the one that stands for all."""
        scores = super().score(examples, **self.graph.scorer_options, **kwargs)
        return {"graph_f": scores.get(self.graph.main_score), **scores}

    @property
    def _has_tagger(self) -> bool:
        return self.model.attrs["has_tagger"]

    def _features(self, docs: Sequence[Doc]) -> dict[str, Ints]:
        """The number of the tag of each token, -1 without one, where the model reads tags."""
        if not self.model.attrs["reads_tags"]:
            return {}
        numbers = _numbers(self.cfg["tags"])
        tags = [tag for doc in docs for tag in self.graph.tags_on(doc)]
        if not any(tags) and not self._warned_tags:
            self._warned_tags = True
            warnings.warn(
                f"[{self.name}] reads the {self.graph.reads} of a Doc, and there are none. Put a "
                f"component before it that sets them (in training, into [training] "
                f"annotating_components), or let the corpus reader give them.",
                stacklevel=2,
            )
        return {"tag": np.array([numbers.get(tag, -1) for tag in tags], dtype=np.int64)}


def graph_loss(
    scores: Sequence[Scored[GraphScores]],
    targets: GraphTargets,
    arcs: ArcHead,
    tag_weight: float,
) -> tuple[float, list[tuple]]:
    """tag_weight L_tag + L_edge + L_rel (paper, Section 4.2: lambda_1 and lambda_2 = 1), and the
    gradients of the scores. The losses are means over words, over words, and over arcs."""
    places = [batch.tokens for batch in scores]
    tags = targets_at(targets.tags, places)
    known = [np.append(targets.known, False)[tokens] for tokens in places]
    heads = [_padded(targets.heads)[tokens] for tokens in places]
    labels = [
        _padded(targets.labels)[tokens][head >= 0]
        for tokens, head in zip(places, heads, strict=True)
    ]
    n_tags, n_labels = count_known(tags), count_known(labels)
    n_words = max(1, sum(int(each.sum()) for each in known))

    def loss(batches: list[GraphScores]) -> torch.Tensor:
        each = []
        for batch, *gold in zip(batches, tags, heads, known, labels, strict=True):
            tag, head, is_known, label = (on_device(array, batch.arcs) for array in gold)
            each.append(arcs.loss(batch.arcs, head, is_known) / n_words)
            each.append(cross_entropy(batch.labels, label) / n_labels)
            if tag_weight:
                each.append(tag_weight * cross_entropy(batch.tags, tag) / n_tags)
        return torch.stack(each).sum()

    return with_gradient(loss, [batch.scores for batch in scores])


def _padded(values: Ints) -> Ints:
    """(tokens, K) -> (tokens + 1, K): what stands at padding, -1, is the last row."""
    return np.pad(values, ((0, 1), (0, 0)), constant_values=-1)


def _numbers(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}
