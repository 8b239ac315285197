"""norm_biaffine_parser: dependency trees and sentence starts."""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import torch
from spacy.attrs import DEP, HEAD, SENT_START, TAG
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..decode.sentences import attach_blanks, starts_of_trees
from ..doc.scores import register_token_score, set_token_scores
from ..doc.segments import annotated
from ..gold.left_out import LabelNumbers, LeftOut
from ..gold.trees import TreeTargets, arc_labels, tree_targets
from ..models.parser_model import ParserScores
from ..nn.losses import (
    binary_cross_entropy,
    count_known,
    cross_entropy,
    on_device,
    targets_at,
    with_gradient,
)
from ..nn.parser import ArcScores
from ..nn.splitter import StartScores
from ..types import Ints, Parse, ParserInput
from .base import SMALL_ENCODER, Scorer, StructuredPipe

DEFAULT_MODEL = f"""
[model]
@architectures = "spacy-biaffine.NormBiaffineParser.v1"
lstm_layers = 1
lstm_hidden = 128
arc_size = 128
label_size = 64

[model.tok2vec]
{SMALL_ENCODER}
"""

JOINT = "dep"
"""Label of arcs that are no analysis: they join the parts of a sentence too long to be parsed as a
whole, and hang blank tokens on neighbours (spaCy hides the head of a token without a label)."""


@Language.factory(
    "norm_biaffine_parser",
    assigns=["token.dep", "token.head", "token.is_sent_start", "doc.sents"],
    default_config={
        "model": Config().from_str(DEFAULT_MODEL)["model"],
        "store_scores": False,
        "scorer": {"@scorers": "spacy-biaffine.parser_scorer.v1"},
    },
    default_score_weights={
        "dep_uas": 0.0,
        "dep_las": 1.0,
        "dep_uas_nopunct": None,
        "dep_las_nopunct": None,
        "dep_las_universal": None,
        "dep_las_per_type": None,
        "sents_p": None,
        "sents_r": None,
        "sents_f": 0.0,
    },
)
def make_parser(
    nlp: Language, name: str, model: Model, store_scores: bool, scorer: Scorer | None
) -> "NormBiaffineParser":
    """Make a parser.

    model: from `spacy-biaffine.NormBiaffineParser.v1`.
    store_scores: keep the probability of each head and label, as `token._.head_prob` and
        `token._.label_prob`.
    scorer: the scoring method.
    """
    return NormBiaffineParser(nlp.vocab, model, name, store_scores=store_scores, scorer=scorer)


class NormBiaffineParser(StructuredPipe):
    """A graph-based dependency parser that splits sentences too.

    Sentence starts that are on a Doc are kept; a Doc without them gets the parser's own. Every
    sentence comes out as one tree with one root. Blank tokens hang on their neighbour, with the
    empty label "dep", as in spaCy's own corpora.
    """

    architecture = "spacy-biaffine.NormBiaffineParser.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "norm_biaffine_parser",
        *,
        store_scores: bool = False,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(vocab, model, name, scorer=scorer)
        self.store_scores = store_scores
        self.cfg |= {"roots": [], "inner": [], "tags": []}
        self._warned_tags = False

    def gold_labels(self, example: Example) -> dict[str, set[str]]:
        """The labels of the gold tree, and the tags where the model reads them."""
        roots, inner = arc_labels(example)
        tags = {token.tag_ for token in example.reference if token.tag}
        return {
            "labels": roots | inner,
            "roots": roots,
            "inner": inner,
            "tags": tags if self.model.attrs["reads_tags"] else set(),
        }

    def left_out(self, example: Example, numbers: LabelNumbers) -> LeftOut:
        """Heads outside of what is parsed together."""
        return tree_targets([example], numbers, self.model.attrs["max_length"]).left_out

    def set_sizes(self) -> None:
        """Tell the model its labels and tags, and which labels only roots or no roots have."""
        super().set_sizes()
        for key, others in (("roots", "inner"), ("inner", "roots")):
            # A label that was only added by hand may stand anywhere.
            barred = set(self.cfg[others]) - set(self.cfg[key])
            numbers = [i for i, label in enumerate(self.labels) if label not in barred]
            self.model.attrs[key] = numbers if self.cfg[key] else []
        self.model.attrs["n_tags"] = len(self.cfg["tags"])

    def update_model(self, examples: Sequence[Example]) -> float:
        """Cross-entropy of sentence starts, heads, and labels at gold heads, each per word."""
        docs = [eg.predicted for eg in examples]
        targets = tree_targets(examples, self.label_numbers, self.model.attrs["max_length"])
        features = {**self._features(docs), "head": targets.heads}
        cuts = annotated(targets.cuts, targets.heads >= 0)
        scores, backprop = self.model.begin_update(ParserInput(docs, cuts, features))
        loss, gradients = parser_loss(scores, targets)
        backprop(gradients)
        return loss

    def predict(self, docs: Iterable[Doc]) -> list[Parse]:
        """The parse of every Doc."""
        self.require_weights()
        docs = list(docs)
        if not any(len(doc) for doc in docs):
            empty = np.zeros(0, dtype=np.int64)
            return [Parse(empty, empty, empty.astype("f"), empty.astype("f")) for _ in docs]
        return self.run_model(docs, ParserInput(docs, None, self._features(docs)))

    def set_annotations(self, docs: Iterable[Doc], scores: list[Parse]) -> None:
        """Write heads, labels and sentence starts."""
        strings = self.vocab.strings
        deps = np.array([*map(strings.add, self.labels), strings.add(JOINT)], dtype=np.uint64)
        for doc, parse in zip(docs, scores, strict=True):
            if not len(doc):
                continue
            starts = doc.to_array(SENT_START) == 1
            heads = attach_blanks(parse.heads, starts)
            offsets = (heads - np.arange(len(doc))).astype(np.int64).view(np.uint64)
            arcs = np.stack([offsets, deps[parse.labels]], axis=1)
            doc.from_array([HEAD, DEP], cast(Any, arcs))
            # spaCy finds the edge of a deeply non-projective tree too late (it tries ten times).
            marks = np.where(starts_of_trees(heads), 1, -1).astype(np.int64).view(np.uint64)
            doc.from_array(SENT_START, cast(Any, marks))
            if self.store_scores:
                set_token_scores(doc, head_prob=parse.head_probs, label_prob=parse.label_probs)

    def _features(self, docs: Sequence[Doc]) -> dict[str, Ints]:
        """The number of the tag of each token, -1 without one, where the model reads tags."""
        if not self.model.attrs["reads_tags"]:
            return {}
        strings = self.vocab.strings
        numbers = {strings[tag]: number for number, tag in enumerate(self.cfg["tags"])}
        tags = [int(tag) for doc in docs for tag in doc.to_array(TAG)]
        if not any(tags) and not self._warned_tags:
            self._warned_tags = True
            warnings.warn(
                f"[{self.name}] reads the tags of a Doc, and there are none. Put a tagger before "
                f"it (in training, into [training] annotating_components), or set tag_size = 0.",
                stacklevel=2,
            )
        return {"tag": np.array([numbers.get(tag, -1) for tag in tags], dtype=np.int64)}


def parser_loss(
    scores: ParserScores, targets: TreeTargets
) -> tuple[float, tuple[list[tuple], list[tuple]]]:
    """The sum of three losses, each averaged over its words, and the gradients of the scores."""
    starts = targets_at(targets.starts, [batch.tokens for batch in scores.starts])
    heads = targets_at(targets.heads, [batch.tokens for batch in scores.arcs])
    labels = targets_at(targets.labels, [batch.tokens for batch in scores.arcs])

    def start_loss(batches: list[StartScores]) -> torch.Tensor:
        each = [
            binary_cross_entropy(batch.starts, on_device(gold, batch.starts))
            for batch, gold in zip(batches, starts, strict=True)
        ]
        return torch.stack(each).sum() / count_known(starts)

    def arc_loss(batches: list[ArcScores]) -> torch.Tensor:
        each = [
            cross_entropy(batch.arcs, on_device(head, batch.arcs)) / count_known(heads)
            + cross_entropy(batch.labels, on_device(label, batch.labels)) / count_known(labels)
            for batch, head, label in zip(batches, heads, labels, strict=True)
        ]
        return torch.stack(each).sum()

    loss_starts, d_starts = with_gradient(start_loss, [batch.scores for batch in scores.starts])
    loss_arcs, d_arcs = with_gradient(arc_loss, [batch.scores for batch in scores.arcs])
    return loss_starts + loss_arcs, (d_starts, d_arcs)


register_token_score("head_prob")
register_token_score("label_prob")
