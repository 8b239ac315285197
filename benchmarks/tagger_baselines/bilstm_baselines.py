"""The baselines of the label attention paper (Section 3), for comparison only.

Both share the encoder, the layers below the labels, the training and the scorer of
label_attention_tagger: BiLSTM-softmax is that component with another architecture, BiLSTM-CRF has a
component of its own, with the loss and the decoder of pytorch-crf.

pip install --no-build-isolation --no-deps -e benchmarks/tagger_baselines
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import torch
from spacy.language import Language
from spacy.training import Example
from thinc.api import Model
from torch import Tensor, nn
from torchcrf import CRF

from spacy_biaffine.models.tagger_model import network_of, tagger_model
from spacy_biaffine.models.torch_layer import DocEncoder, Scored, torch_layer
from spacy_biaffine.nn.label_attention import LabelScores
from spacy_biaffine.nn.losses import count_known, on_device, targets_at, with_gradient
from spacy_biaffine.nn.recurrent import BiLSTM
from spacy_biaffine.pipeline.tagger import LabelAttentionTagger
from spacy_biaffine.types import Ints, SentenceBatch


class BiLSTMSoftmax(nn.Module):
    """y = softmax(W h + b) over N BiLSTM layers (equation 1)."""

    def __init__(self, width: int, labels: int, *, layers: int, hidden: int) -> None:
        super().__init__()
        self.lstm = BiLSTM(width, hidden, layers)
        self.output = nn.Linear(self.lstm.width, labels)

    def forward(self, batch: SentenceBatch) -> LabelScores:
        """(N, L) over the words."""
        return LabelScores(self.output(self.lstm(batch.x, batch.lengths)[batch.mask]))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> LabelScores:
        """As `forward`, without a gradient."""
        return self.forward(batch)


class CrfScores(NamedTuple):
    """Emissions (B, n, L), and the weights of the CRF: (L,), (L,), (L, L)."""

    emissions: Tensor
    start_transitions: Tensor
    end_transitions: Tensor
    transitions: Tensor


class BiLSTMCRF(nn.Module):
    """Transition scores between neighbours over the scores of BiLSTM-softmax (Section 3.3)."""

    def __init__(self, width: int, labels: int, *, layers: int, hidden: int) -> None:
        super().__init__()
        self.lstm = BiLSTM(width, hidden, layers)
        self.output = nn.Linear(self.lstm.width, labels)
        self.crf = CRF(labels, batch_first=True)

    def forward(self, batch: SentenceBatch) -> CrfScores:
        """What the likelihood is computed from."""
        emissions = self.output(self.lstm(batch.x, batch.lengths))
        crf = self.crf
        return CrfScores(emissions, crf.start_transitions, crf.end_transitions, crf.transitions)

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> LabelScores:
        """1 at the labels of the best sequence (Viterbi), 0 elsewhere."""
        emissions = self.forward(batch).emissions.float()
        paths = self.crf.decode(emissions, batch.mask)
        best = torch.tensor([label for path in paths for label in path], device=emissions.device)
        return LabelScores(nn.functional.one_hot(best, emissions.shape[-1]))


class CrfTagger(LabelAttentionTagger):
    """The component with the negative log-likelihood of the gold sequence, per word.

    Every word needs a gold label: one without is taken for the first label.
    """

    def update_model(self, examples: Sequence[Example]) -> float:
        """Run the model forth and back on Examples, and return the loss."""
        scores, backprop = self.model.begin_update([eg.predicted for eg in examples])
        crf = network_of(self.model).crf
        loss, gradients = crf_loss(crf, scores, self.targets_of(examples))
        backprop(gradients)
        return loss


def crf_loss(
    crf: CRF, scores: Sequence[Scored[CrfScores]], targets: Ints
) -> tuple[float, list[tuple[Tensor, ...]]]:
    """The loss and the gradients of the scores."""
    gold = targets_at(targets, [batch.tokens for batch in scores])

    def loss(batches: list[CrfScores]) -> Tensor:
        each = []
        for batch, scored, labels in zip(batches, scores, gold, strict=True):
            weights = batch._asdict()
            emissions = weights.pop("emissions")
            mask = on_device(scored.tokens >= 0, emissions)
            tags = on_device(labels, emissions).clamp(min=0)
            options = {"mask": mask, "reduction": "sum"}
            each.append(-torch.func.functional_call(crf, weights, (emissions, tags), options))
        return torch.stack(each).sum() / count_known(gold)

    return with_gradient(loss, [batch.scores for batch in scores])


def BiLSTMSoftmaxModel(  # noqa: N802 (spaCy names architectures like classes)
    tok2vec: DocEncoder, lstm_layers: int, lstm_hidden: int, nO: int | None = None
) -> Model:
    """An architecture for label_attention_tagger."""
    network = partial(BiLSTMSoftmax, layers=lstm_layers, hidden=lstm_hidden)
    return tagger_model(tok2vec, torch_layer("bilstm_softmax", network), nO=nO)


def BiLSTMCRFModel(  # noqa: N802 (the same)
    tok2vec: DocEncoder, lstm_layers: int, lstm_hidden: int, nO: int | None = None
) -> Model:
    """The architecture of bilstm_crf_tagger."""
    network = partial(BiLSTMCRF, layers=lstm_layers, hidden=lstm_hidden)
    return tagger_model(tok2vec, torch_layer("bilstm_crf", network), nO=nO)


@Language.factory(
    "bilstm_crf_tagger",
    default_config={
        "target": "tag",
        "scorer": {"@scorers": "spacy-biaffine.tagger_scorer.v1"},
    },
    default_score_weights={"label_score": 1.0},
)
def make_crf_tagger(nlp: Language, name: str, model: Model, target: str, scorer) -> CrfTagger:
    """A tagger for a model from `bilstm_baselines.BiLSTMCRF.v1`."""
    return CrfTagger(nlp.vocab, model, name, target=target, scorer=scorer)
