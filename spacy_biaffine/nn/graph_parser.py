"""The normalized biaffine parser of graphs, with or without a tagger of entities."""

from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from ..types import Floats, Ints, SentenceBatch
from .arc_label import ArcLabelScorer, Rows
from .biaffine import Projection
from .recurrent import BiLSTM

MAX_VIEWS = 2**24
"""How many numbers stand in memory while arcs get their labels."""


class ArcPlaces(NamedTuple):
    """Arcs of a padded batch, (k,) each: sentence, dependent from 0, head from 1 (0: the root)."""

    sentences: Ints
    dependents: Ints
    heads: Ints


class ArcHead(Protocol):
    """What arc scores mean, and which arcs there are."""

    def log_probs(self, scores: Tensor) -> Tensor:
        """Scores (B, n, n + 1), column 0 the root, to log-probabilities of the arcs."""

    def decode(self, log_probs: Floats, lengths: Ints) -> ArcPlaces:
        """The arcs of sentences of these lengths, (B,)."""


class GraphScores(NamedTuple):
    """Training scores.

    tags: (B, n, T), of T = 0 without a tagger. arcs: (B, n, n + 1), column 0 the root. labels:
    (k, L) at the gold arcs, as they stand in ``batch.features["heads"]`` row by row.
    """

    tags: Tensor
    arcs: Tensor
    labels: Tensor


class GraphArcs(NamedTuple):
    """One parsed batch: tags (B, n), -1 without a tagger; the arcs, their labels and probabilities
    (k,) each."""

    tags: Ints
    arcs: ArcPlaces
    labels: Ints
    arc_probs: Floats
    label_probs: Floats


class EntityTagger(nn.Module):
    """Softmax(MLP(phi(x))): scores of the tag of each word (paper, Section 4.2).

    phi: a bidirectional LSTM layer, or nothing. size: its width per direction, and that of the MLP.
    """

    def __init__(self, width: int, tags: int, *, size: int, lstm: bool) -> None:
        super().__init__()
        self.lstm = BiLSTM(width, size, int(lstm))
        self.hidden = Projection(self.lstm.width, size, xavier_normal=False)
        self.output = nn.Linear(size, tags)
        nn.init.xavier_uniform_(self.output.weight)

    def forward(self, batch: SentenceBatch) -> Tensor:
        """(B, n, tags)"""
        return self.output(self.hidden(self.lstm(batch.x, batch.lengths)))


class BiaffineGraphParser(ArcLabelScorer):
    """Scores of entity tags, arcs and labels, where arcs says how many heads a word can have.

    The tags whose embedding stands beside each vector are the tagger's best, in training too;
    without a tagger they are ``batch.features["tag"]``.

    arcs: what arc scores mean. tagger_size, tagger_lstm: as in `EntityTagger`; 0 for no tagger. The
    other sizes and settings are those of `ArcLabelScorer`.
    """

    def __init__(
        self,
        width: int,
        labels: int,
        tags: int,
        *,
        arcs: ArcHead,
        tagger_size: int,
        tagger_lstm: bool,
        **settings: Any,
    ) -> None:
        super().__init__(width, labels, tags, **settings)
        self.arcs = arcs
        self.tagger = (
            EntityTagger(width, tags, size=tagger_size, lstm=tagger_lstm) if tagger_size else None
        )

    def forward(self, batch: SentenceBatch) -> GraphScores:
        """Scores for training. ``batch.features["heads"]``, (B, n, K): the gold heads of each word
        from 1, 0 for the root, -1 for none."""
        tag_scores, states, rows = self._read(batch)
        heads = batch.features["heads"]
        at = (heads >= 0).nonzero(as_tuple=True)
        labels = self._label_scores(states, rows, at[0], at[1], heads[at])
        return GraphScores(tag_scores, self.arc_scores(batch, states, rows), labels)

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> GraphArcs:
        """Parse a batch. Arc scores leave the device once; label scores never do."""
        tag_scores, states, rows = self._read(batch)
        log_probs = self.arcs.log_probs(self.arc_scores(batch, states, rows).float()).cpu().numpy()
        arcs = self.arcs.decode(log_probs, batch.lengths.numpy())
        places = torch.from_numpy(np.stack(arcs)).to(states.device)
        step = max(1, MAX_VIEWS // self.label.per_arc)
        best = [
            self._label_scores(states, rows, *part).float().softmax(dim=-1).max(dim=-1)
            for part in places.split(step, dim=1)
        ]
        label_probs, labels = (torch.cat(each).cpu().numpy() for each in zip(*best, strict=True))
        if self.tagger is None:
            tags = np.full(batch.mask.shape, -1, dtype=np.int64)
        else:
            tags = tag_scores.argmax(dim=-1).cpu().numpy()
        arc_probs = np.exp(log_probs[arcs.sentences, arcs.dependents, arcs.heads])
        return GraphArcs(tags, arcs, labels, arc_probs, label_probs)

    def _read(self, batch: SentenceBatch) -> tuple[Tensor, Tensor, Rows]:
        """Tag scores, states and where they stand."""
        if self.tagger is None:
            tag_scores, tags = batch.x[..., :0], batch.features.get("tag")
        else:
            tag_scores = self.tagger(batch)
            tags = tag_scores.argmax(dim=-1)
        return tag_scores, *self.states(batch, tags, self._likelihood)

    def _likelihood(self, scores: Tensor) -> Tensor:
        return self.arcs.log_probs(scores.float()).exp()

    def _label_scores(
        self, states: Tensor, rows: Rows, sentences: Tensor, dependents: Tensor, heads: Tensor
    ) -> Tensor:
        """(k, L): the labels of k arcs, so that no n x n x L scores are ever made."""
        words = states[len(states) - len(rows.words) :]
        head_rows = rows.nodes[sentences, heads]
        dependent_rows = rows.dependents[sentences, dependents]
        return self.label(
            self.projections["label_head"](states).index_select(0, head_rows),
            self.projections["label_dependent"](words).index_select(0, dependent_rows),
        )
