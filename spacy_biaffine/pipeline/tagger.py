"""label_attention_tagger: one label per token, by the label attention network."""

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

from ..doc.labels import labels_on
from ..doc.scores import register_token_score, set_token_distribution
from ..gold.left_out import LabelNumbers, LeftOut
from ..gold.spans import spans_left_out
from ..models.tagger_model import tags_of
from ..models.torch_layer import Scored
from ..nn.label_attention import LabelScores
from ..nn.losses import count_known, cross_entropy, on_device, with_gradient
from ..types import Ints, Tags
from .base import Scorer, StructuredPipe
from .targets import get_target

DEFAULT_MODEL = """
[model]
@architectures = "spacy-biaffine.LabelAttentionTagger.v1"
lstm_layers = 2
lstm_hidden = 100
heads = 5

[model.tok2vec]
@architectures = "spacy-biaffine.CharWordBiLSTM.v1"
"""

MAX_LISTED = 20


@Language.factory(
    "label_attention_tagger",
    assigns=["token.tag", "token.pos", "token.morph", "doc.ents"],
    default_config={
        "model": Config().from_str(DEFAULT_MODEL)["model"],
        "target": "tag",
        "overwrite": True,
        "store_scores": False,
        "scorer": {"@scorers": "spacy-biaffine.tagger_scorer.v1"},
    },
    default_score_weights={"label_score": 1.0},
)
def make_tagger(
    nlp: Language,
    name: str,
    model: Model,
    target: str,
    overwrite: bool,
    store_scores: bool,
    scorer: Scorer | None,
) -> "LabelAttentionTagger":
    """Make a tagger.

    model: from `spacy-biaffine.LabelAttentionTagger.v1`.
    target: what is learned: `tag`, `pos`, `morph` (part of speech and features as one label),
        `ent` (entities, as BIOES tags), or a token extension such as `_.supertag`.
    overwrite: replace what is on the Doc. Off, only tokens without a label get one (of `morph`
        part of speech and features each for itself), and only entities are added that overlap none
        and hold no blocked token.
    store_scores: keep the distribution over labels of each token, a dict of probability by label,
        as `token._.TARGET_scores`: `token._.tag_scores`, of `_.supertag` `token._.supertag_scores`.
    scorer: the scoring method.
    """
    return LabelAttentionTagger(
        nlp.vocab,
        model,
        name,
        target=target,
        overwrite=overwrite,
        store_scores=store_scores,
        scorer=scorer,
    )


class LabelAttentionTagger(StructuredPipe):
    """A tagger that refines a distribution over labels from layer to layer.

    Sentences that are marked on a Doc are read one by one; a Doc without marks is read as a whole.
    """

    architecture = "spacy-biaffine.LabelAttentionTagger.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "label_attention_tagger",
        *,
        target: str = "tag",
        overwrite: bool = True,
        store_scores: bool = False,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(vocab, model, name, scorer=scorer)
        self.target = get_target(target)
        self.overwrite = overwrite
        self.store_scores = store_scores
        self.scores_name = f"{target.removeprefix('_.')}_scores"
        self._warned_unseen = False
        if store_scores:
            register_token_score(self.scores_name)

    def add_label(self, label: str) -> int:
        """Add a label before the model has weights. Returns 1 if it was new, else 0.

        Raises ValueError for one that the target can't take, and once the model is initialized.
        """
        if isinstance(label, str):
            self.target.check(label)
        return super().add_label(label)

    def gold_labels(self, example: Example) -> dict[str, set[str]]:
        """The labels of the gold tokens, of entities all tags that their types can have."""
        return {"labels": labels_on(example.reference, self.target.name)}

    def left_out(self, example: Example, numbers: LabelNumbers) -> LeftOut:
        """Entities that no tags in a sentence can mark."""
        for label in {*self.target.gold(example)}:
            numbers.get(label)
        if self.target.name != "ent":
            return LeftOut()
        length = max(1, len(example.predicted))
        return spans_left_out(example, example.reference.ents, None, max_length=length)

    def update_model(self, examples: Sequence[Example]) -> float:
        """Cross-entropy, the mean over the words that have a gold label that the model knows."""
        scores, backprop = self.model.begin_update([eg.predicted for eg in examples])
        loss, gradients = tagger_loss(scores, self.targets_of(examples))
        backprop(gradients)
        return loss

    def targets_of(self, examples: Sequence[Example]) -> Ints:
        """(tokens,) the number of the gold label of each token, -1 where it is unknown."""
        gold = [label for eg in examples for label in self.target.gold(eg)]
        numbers = {label: self.label_numbers.get(label, -1) for label in set(gold)}
        return np.array([numbers[label] for label in gold], dtype=np.int64)

    def predict(self, docs: Iterable[Doc]) -> list[Tags]:
        """The labels of every Doc."""
        self.require_weights()
        docs = list(docs)
        scores = self.run_model(docs, docs) if any(len(doc) for doc in docs) else []
        return tags_of(scores, docs, n_labels=len(self.labels), probs=self.store_scores)

    def set_annotations(self, docs: Iterable[Doc], scores: list[Tags]) -> None:
        """Write the labels."""
        names = [*self.labels, ""]
        for doc, tags in zip(docs, scores, strict=True):
            self.target.assign(doc, [names[number] for number in tags.labels], self.overwrite)
            if tags.probs is not None:
                set_token_distribution(doc, self.scores_name, self.labels, tags.probs)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores by the scorer of the config. Gold labels that training has not seen count as
        errors, with one warning that lists them."""
        examples = list(examples)
        if not self._warned_unseen:
            found = (self.gold_labels(example)["labels"] for example in examples)
            self._warn_of_unseen(set().union(*found) - set(self.labels))
        return super().score(examples, target=self.target.name, **kwargs)

    def _warn_of_unseen(self, labels: set[str]) -> None:
        if not labels:
            return
        self._warned_unseen = True
        listed = ", ".join(sorted(labels)[:MAX_LISTED])
        more = f" and {len(labels) - MAX_LISTED} more" if len(labels) > MAX_LISTED else ""
        warnings.warn(
            f"[{self.name}] the evaluation data has labels that training had not, and that are "
            f"errors therefore: {listed}{more}.",
            stacklevel=3,
        )


def tagger_loss(
    scores: Sequence[Scored[LabelScores]], targets: Ints
) -> tuple[float, list[tuple[torch.Tensor, ...]]]:
    """The mean cross-entropy of the words with a target, and the gradients of the scores."""
    gold = [targets[batch.tokens[batch.tokens >= 0]] for batch in scores]

    def loss(batches: list[LabelScores]) -> torch.Tensor:
        each = [
            cross_entropy(batch.scores, on_device(labels, batch.scores))
            for batch, labels in zip(batches, gold, strict=True)
        ]
        return torch.stack(each).sum() / count_known(gold)

    return with_gradient(loss, [batch.scores for batch in scores])
