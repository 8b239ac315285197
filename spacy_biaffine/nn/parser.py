"""The normalized biaffine parser and the sentence splitter that stands before it."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..types import Floats, Ints, SentenceBatch
from .biaffine import ArcBiaffine, LabelBiaffine, Projection
from .recurrent import BiLSTM, TagEmbedding

TreeDecoder = Callable[[Floats, Ints], Ints]
"""Arc log-probabilities (B, n, n + 1) and lengths (B,) to heads (B, n), 0 for the root."""


class ArcScores(NamedTuple):
    """Training scores. arcs: (B, n, n + 1), column 0 the root; labels: (B, n, L) at gold heads."""

    arcs: Tensor
    labels: Tensor


class Arcs(NamedTuple):
    """One parsed batch, (B, n) each: heads (0 for the root), labels, and their probabilities."""

    heads: Ints
    labels: Ints
    head_probs: Floats
    label_probs: Floats


class BiaffineParser(nn.Module):
    """Arc and label scores of the words of a sentence (paper, Section 4.2 and Figure 2).

    labels, tags: how many there are. roots, inner: the labels that root arcs, and all other arcs,
    can have; empty for any.

    Input vectors, with an embedding of the tag where wanted, go through N BiLSTM layers; a learned
    root is put before the first word; two projections make heads and dependents for the arcs, two
    more for the labels.
    """

    barred: Tensor

    def __init__(
        self,
        width: int,
        labels: int,
        tags: int,
        roots: Sequence[int],
        inner: Sequence[int],
        *,
        layers: int,
        hidden: int,
        layer_norm: bool,
        tag_size: int,
        arc_size: int,
        label_size: int,
        normalize: bool,
        xavier_normal: bool,
    ) -> None:
        super().__init__()
        self.tags = TagEmbedding(tags, tag_size) if tag_size else None
        self.lstm = BiLSTM(width + tag_size, hidden, layers, layer_norm=layer_norm)
        self.root = nn.Parameter(torch.randn(self.lstm.width))
        sizes = {"arc": arc_size, "label": label_size}
        self.projections = nn.ModuleDict(
            {
                f"{kind}_{role}": Projection(self.lstm.width, size, xavier_normal=xavier_normal)
                for kind, size in sizes.items()
                for role in ("head", "dependent")
            }
        )
        self.arc = ArcBiaffine(arc_size, normalize=normalize, xavier_normal=xavier_normal)
        self.label = LabelBiaffine(label_size, labels)
        self.register_buffer("barred", _barred(labels, inner, roots), persistent=False)

    def forward(self, batch: SentenceBatch) -> ArcScores:
        """Scores for training; the gold heads are ``batch.features["head"]``, -1 where unknown."""
        states, rows = self._states(batch)
        heads = batch.features["head"].clamp(min=0)
        return ArcScores(
            self._arc_scores(batch, states, rows), self._label_scores(states, rows, heads)
        )

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch, decode: TreeDecoder) -> Arcs:
        """Parse a batch. Arc scores leave the device once; label scores never do."""
        states, rows = self._states(batch)
        arcs = torch.log_softmax(self._arc_scores(batch, states, rows).float(), dim=-1)
        log_probs = arcs.cpu().numpy()
        heads = decode(log_probs, batch.lengths.numpy())
        at = torch.from_numpy(heads).to(states.device)
        scores = self._label_scores(states, rows, at).float()
        scores = scores.masked_fill(self.barred[(at == 0).long()], -torch.inf)
        label_probs, labels = torch.softmax(scores, dim=-1).max(dim=-1)
        head_probs = np.exp(np.take_along_axis(log_probs, heads[..., None], axis=-1)[..., 0])
        return Arcs(heads, labels.cpu().numpy(), head_probs, label_probs.cpu().numpy())

    def _states(self, batch: SentenceBatch) -> tuple[Tensor, "Rows"]:
        """(B + W, width): a root for each sentence, then all W words, without padding.

        Projections and label scores are computed on these rows: padding would double the work.
        """
        x = batch.x if self.tags is None else self.tags(batch.x, batch.features["tag"])
        rows = Rows.of(batch)
        words = self.lstm(x, batch.lengths).flatten(0, 1).index_select(0, rows.words)
        roots = self.root.expand(len(batch.x), -1).to(words.dtype)
        return torch.cat([roots, words]), rows

    def _arc_scores(self, batch: SentenceBatch, states: Tensor, rows: "Rows") -> Tensor:
        """(B, n, n + 1), the lowest number of the dtype at padding and at the word itself."""
        heads = _padded(self.projections["arc_head"](states), rows.nodes)
        words = states[len(batch.x) :]
        dependents = _padded(self.projections["arc_dependent"](words), rows.dependents)
        scores = self.arc(heads, dependents)
        n = dependents.shape[1]
        itself = torch.eye(n, n + 1, dtype=torch.bool, device=states.device).roll(1, dims=1)
        padding = nn.functional.pad(~batch.mask, (1, 0)).unsqueeze(1)
        return scores.masked_fill(itself | padding, torch.finfo(scores.dtype).min)

    def _label_scores(self, states: Tensor, rows: "Rows", heads: Tensor) -> Tensor:
        """(B, n, L): one arc a word, so that no n x n x L scores are ever made."""
        head_rows = rows.nodes.gather(1, heads).flatten().index_select(0, rows.words)
        words = states[len(states) - len(rows.words) :]
        scores = self.label(
            self.projections["label_head"](states).index_select(0, head_rows),
            self.projections["label_dependent"](words),
        )
        return _padded(scores, rows.dependents)


class Rows(NamedTuple):
    """Where the nodes of padded sentences stand in their states without padding.

    words: (W,) place of each word in the batch, flattened. nodes: (B, n + 1) row of the root and of
    each word among roots and words; dependents: (B, n) row among words. 0 at padding.
    """

    words: Tensor
    nodes: Tensor
    dependents: Tensor

    @classmethod
    def of(cls, batch: SentenceBatch) -> "Rows":
        """Computed on the CPU, where the lengths are: the device need not be waited for."""
        sentences, n = batch.x.shape[:2]
        mask = torch.arange(n) < batch.lengths.unsqueeze(1)
        words = mask.flatten().nonzero().squeeze(1)
        dependents = torch.zeros(sentences, n, dtype=torch.long)
        dependents[mask] = torch.arange(len(words))
        roots = torch.arange(sentences).unsqueeze(1)
        nodes = torch.cat([roots, (dependents + sentences) * mask], dim=1)
        return cls(*(each.to(batch.x.device) for each in (words, nodes, dependents)))


def _padded(x: Tensor, rows: Tensor) -> Tensor:
    """(rows, width) -> (B, n, width); what stands at padding is void."""
    return x.index_select(0, rows.flatten()).view(*rows.shape, -1)


def _barred(labels: int, *seen: Sequence[int]) -> Tensor:
    """(2, L) bool: labels that arcs inside a sentence, and root arcs, never have."""
    barred = torch.zeros(len(seen), labels, dtype=torch.bool)
    for row, allowed in zip(barred, seen, strict=True):
        if allowed:
            row.fill_(True)
            row[list(allowed)] = False
    return barred


class StartScores(NamedTuple):
    """starts: (B, n), above 0 where a sentence starts."""

    starts: Tensor


class SentenceSplitter(nn.Module):
    """One score a word: above 0, it starts a sentence. A convolution over a window of words."""

    window = 5

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(width, hidden, self.window, padding=self.window // 2)
        self.dropout = nn.Dropout(0.0)
        self.output = nn.Linear(hidden, 1)

    def forward(self, batch: SentenceBatch) -> StartScores:
        """Scores for training."""
        hidden = nn.functional.elu(self.convolution(batch.x.transpose(1, 2)))
        return StartScores(self.output(self.dropout(hidden.transpose(1, 2))).squeeze(-1))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch) -> Floats:
        """(B, n)"""
        return self.forward(batch).starts.float().cpu().numpy()
