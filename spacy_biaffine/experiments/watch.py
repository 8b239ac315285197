"""What the paper's Section 3 speaks of, measured in training: score variance, rank, gradients."""

from collections import deque
from statistics import mean
from typing import Any, cast

import torch
from spacy.language import Language
from thinc.api import Model
from torch import Tensor, nn

from ..models.lazy_shim import LazyShim
from ..nn.parser import ArcScores, BiaffineParser
from ..types import SentenceBatch

RECENT = 20
"""Training batches over which a reading is averaged: enough to be smooth, and of the same time."""


class Watch:
    """Reads along while a biaffine parser trains: of its scores, its weights, its gradients.

    Scores are the ones that the loss sees, with dropout on, scaled where normalized.
    """

    def __init__(self, shim: LazyShim) -> None:
        self.shim = shim
        self.module = cast(BiaffineParser, shim.module)
        self._spreads: deque[tuple[Tensor, Tensor]] = deque(maxlen=RECENT)
        self._norms: deque[Tensor] = deque(maxlen=RECENT)
        self._hook = self.module.register_forward_hook(self._after_forward)
        self._finish_update = shim.finish_update
        shim.finish_update = self._before_update  # type: ignore[method-assign]  # a hook

    def read(self) -> dict[str, Any]:
        """The mean over recent batches, and the effective rank now.

        arc_score_std: of all scores of a batch. arc_score_std_heads: of the candidate heads of one
        word, which is what the softmax sees; mean over words. gradient_norm: of all weights
        together, before any clipping. effective_rank, rank_share: see `effective_ranks`.
        """
        reading: dict[str, Any] = effective_ranks(self.module)
        if self._spreads:
            overall, per_word = torch.tensor(list(self._spreads)).mean(dim=0).tolist()
            reading |= {"arc_score_std": overall, "arc_score_std_heads": per_word}
        if self._norms:
            reading["gradient_norm"] = float(torch.stack(tuple(self._norms)).mean())
        return reading

    def close(self) -> None:
        """Leave the model as it was."""
        self._hook.remove()
        del self.shim.finish_update

    def _after_forward(
        self, module: nn.Module, args: tuple[SentenceBatch], scores: ArcScores
    ) -> None:
        self._spreads.append(score_spread(scores.arcs.detach(), args[0].mask))

    def _before_update(self, optimizer: Any) -> None:
        gradients = [p.grad for p in self.module.parameters() if p.grad is not None]
        if gradients:
            norms = [torch.linalg.vector_norm(gradient) for gradient in gradients]
            self._norms.append(torch.linalg.vector_norm(torch.stack(norms)))
        self._finish_update(optimizer)


def watches(nlp: Language) -> dict[str, Watch]:
    """One for each component that holds a biaffine parser."""
    found = {}
    for name, pipe in nlp.pipeline:
        model = getattr(pipe, "model", None)
        for node in model.walk() if isinstance(model, Model) else ():
            for shim in node.shims:
                if isinstance(shim, LazyShim) and isinstance(shim.module, BiaffineParser):
                    found[name] = Watch(shim)
    return found


def score_spread(arcs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Standard deviations of arc scores (B, n, n + 1), words mask (B, n): overall, and per word.

    Masked heads, which have the lowest number of the dtype, and padding are left out.
    """
    scores = arcs.float()
    real = (arcs > torch.finfo(arcs.dtype).min) & mask.unsqueeze(-1)
    count = real.sum(dim=-1).clamp(min=1)
    kept = scores.masked_fill(~real, 0.0)
    center = kept.sum(dim=-1) / count
    squares = ((kept - center.unsqueeze(-1)) * real).square().sum(dim=-1)
    per_word = (squares / count).sqrt()[mask].mean()
    return scores[real].std(correction=0), per_word


def effective_rank(weight: Tensor) -> float:
    """exp(-sum_i p_i log p_i) with p_i = s_i / sum_j s_j over singular values s (Roy and Vetterli,
    2007): between 1 and the smaller side of the matrix; 0 for a matrix of zeros."""
    values = torch.linalg.svdvals(weight.detach().float())
    total = values.sum()
    if total == 0:
        return 0.0
    shares = values / total
    return float(torch.exp(torch.special.entr(shares).sum()))


def effective_ranks(module: BiaffineParser) -> dict[str, dict[str, float]]:
    """Of each layer: its effective rank, and the same as a share of the largest it could have.

    lstm_1 ... lstm_N: the mean over the four matrices of a BiLSTM layer (input and state, there
    and back). arc_head, arc_dependent: the two projections. arc: the biaffine matrix.
    Matrices of different shape compare by their shares alone.
    """
    layers = {f"lstm_{i}": lstm for i, lstm in enumerate(module.lstm.layers, start=1)}
    layers |= {name: module.projections[name] for name in ("arc_head", "arc_dependent")}
    layers["arc"] = module.arc
    ranks, shares = {}, {}
    for name, layer in layers.items():
        matrices = [weight for weight in layer.parameters() if weight.dim() == 2]
        found = [effective_rank(weight) for weight in matrices]
        ranks[name] = mean(found)
        shares[name] = mean(r / min(w.shape) for r, w in zip(found, matrices, strict=True))
    return {"effective_rank": ranks, "rank_share": shares}
