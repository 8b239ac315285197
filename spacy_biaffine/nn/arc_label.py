"""Arc and label scores of the words of a sentence: what the biaffine parsers have in common."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..types import SentenceBatch
from .biaffine import ArcBiaffine, LabelBiaffine, Projection, mask_arcs
from .graph_attention import Hop, Likelihood
from .recurrent import BiLSTM, TagEmbedding


class ArcLabelScorer(nn.Module):
    """Vectors to arc and label scores (paper, Section 4.2 and Figure 2; the hops, Appendix C).

    Input vectors, with an embedding of the tag where wanted, go through N BiLSTM layers; a learned
    root is put before the first word, and the hops refine both; two projections make heads and
    dependents for the arcs, two more for the labels.

    labels, tags: how many there are. layers: N. hops: L, the pairs of biaffine and graph attention.
    """

    def __init__(
        self,
        width: int,
        labels: int,
        tags: int,
        *,
        layers: int,
        hidden: int,
        layer_norm: bool,
        tag_size: int,
        arc_size: int,
        label_size: int,
        normalize: bool,
        xavier_normal: bool,
        hops: int,
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
        self.hops = nn.ModuleList(
            Hop(self.lstm.width, arc_size, normalize=normalize, xavier_normal=xavier_normal)
            for _ in range(hops)
        )

    def states(
        self, batch: SentenceBatch, tags: Tensor | None, likelihood: Likelihood
    ) -> tuple[Tensor, "Rows"]:
        """(B + W, width): a root for each sentence, then all W words, without padding.

        Projections and label scores are computed on these rows: padding would double the work.

        tags: (B, n), read where there is a tag embedding. likelihood: what scores mean to the hops.
        """
        x = batch.x if self.tags is None else self.tags(batch.x, tags)
        rows = Rows.of(batch)
        words = self.lstm(x, batch.lengths).flatten(0, 1).index_select(0, rows.words)
        roots = self.root.expand(len(batch.x), -1).to(words.dtype)
        states = torch.cat([roots, words])
        for hop in self.hops:
            nodes = hop(padded(states, rows.nodes), batch.mask, likelihood)
            words = nodes[:, 1:].flatten(0, 1).index_select(0, rows.words)
            states = torch.cat([nodes[:, 0], words])
        return states, rows

    def arc_scores(self, batch: SentenceBatch, states: Tensor, rows: "Rows") -> Tensor:
        """(B, n, n + 1), the lowest number of the dtype at padding and at the word itself."""
        heads = padded(self.projections["arc_head"](states), rows.nodes)
        words = states[len(batch.x) :]
        dependents = padded(self.projections["arc_dependent"](words), rows.dependents)
        return mask_arcs(self.arc(heads, dependents), batch.mask)


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


def padded(x: Tensor, rows: Tensor) -> Tensor:
    """(rows, width) -> (B, n, width); what stands at padding is void."""
    return x.index_select(0, rows.flatten()).view(*rows.shape, -1)
