"""A toy component, the example of CONTRIBUTING.md: which words begin with a capital letter in the
gold text. It has no labels."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.training import Example
from thinc.api import Config, Model

from spacy_biaffine.doc.segments import sentences_of
from spacy_biaffine.gold.alignment import partners
from spacy_biaffine.models.torch_layer import (
    DocEncoder,
    Scored,
    build_module,
    initialized_width,
    score_sentences,
    torch_layer,
)
from spacy_biaffine.nn.losses import (
    binary_cross_entropy,
    count_known,
    on_device,
    targets_at,
    with_gradient,
)
from spacy_biaffine.pipeline.base import SMALL_ENCODER, StructuredPipe
from spacy_biaffine.types import Ints, SentenceBatch

Token.set_extension("capital", default=None, force=True)


class CapitalScores(NamedTuple):
    """scores: (B, n), above 0 for a capital letter. Padding values are undefined."""

    scores: torch.Tensor


class CapitalNetwork(torch.nn.Module):
    """A linear layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(width, 1)

    def forward(self, batch: SentenceBatch) -> CapitalScores:
        return CapitalScores(self.linear(batch.x).squeeze(-1))  # (B, n)

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> CapitalScores:
        return self(batch)


def capital_model(tok2vec: DocEncoder) -> Model:
    """Scores of the words of Docs, in batches of sentences."""
    network = torch_layer("capital_network", CapitalNetwork)
    return Model(
        "capitals",
        _forward,
        init=_init,
        layers=[tok2vec, network],
        refs={"tok2vec": tok2vec, "network": network},
        dims={"nO": None},
    )


def _init(model: Model, X: list[Doc], Y: Any = None) -> None:
    width = initialized_width(model.get_ref("tok2vec"), X)
    build_module(model.get_ref("network"), width=width)


def _forward(
    model: Model, docs: list[Doc], is_train: bool
) -> tuple[list[Scored[CapitalScores]], Callable]:
    layers = model.get_ref("tok2vec"), model.get_ref("network")
    return score_sentences(*layers, docs, sentences_of(docs), {}, is_train)


DEFAULT_MODEL = f"""
[model]
@architectures = "toy.Capitals.v1"

[model.tok2vec]
{SMALL_ENCODER}
"""


class Capitals(StructuredPipe):
    """Writes token._.capital."""

    architecture = "toy.Capitals.v1"
    has_labels: ClassVar[bool] = False

    def update_model(self, examples: Sequence[Example]) -> float:
        """Cross-entropy, the mean over the words that are gold words too."""
        targets = np.concatenate([_gold(example) for example in examples])
        scores, backprop = self.model.begin_update([example.predicted for example in examples])
        gold = targets_at(targets, [batch.tokens for batch in scores])

        def mean(batches: list[CapitalScores]) -> torch.Tensor:
            losses = [
                binary_cross_entropy(batch.scores, on_device(each, batch.scores))
                for batch, each in zip(batches, gold, strict=True)
            ]
            return torch.stack(losses).sum() / count_known(gold)

        loss, gradients = with_gradient(mean, [batch.scores for batch in scores])
        backprop(gradients)
        return loss

    def predict(self, docs: Iterable[Doc]) -> list[np.ndarray]:
        """Whether each token of each Doc begins with a capital letter."""
        self.require_weights()
        docs = list(docs)
        found = np.zeros(sum(map(len, docs)), dtype=bool)
        for batch in self.model.predict(docs) if len(found) else ():
            words = batch.tokens >= 0
            found[batch.tokens[words]] = batch.scores.scores.cpu().numpy()[words] > 0
        return np.split(found, np.cumsum([len(doc) for doc in docs])[:-1])

    def set_annotations(self, docs: Iterable[Doc], scores: list[np.ndarray]) -> None:
        """Write what was found."""
        for doc, found in zip(docs, scores, strict=True):
            for token, is_capital in zip(doc, found.tolist(), strict=True):
                token._.capital = is_capital


def _gold(example: Example) -> Ints:
    """(tokens,) 1 or 0 for each predicted token that is exactly one gold token, else -1."""
    capital = np.array([token.text[0].isupper() for token in example.reference] + [False])
    gold = partners(example)
    return np.where(gold >= 0, capital[gold], -1).astype(np.int64)


@Language.factory(
    "toy_capitals", default_config={"model": Config().from_str(DEFAULT_MODEL)["model"]}
)
def make_capitals(nlp: Language, name: str, model: Model) -> Capitals:
    """Make the component."""
    return Capitals(nlp.vocab, model, name, scorer=None)
