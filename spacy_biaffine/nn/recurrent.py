"""A stack of bidirectional LSTM layers over padded sentences."""

import torch
from torch import Tensor, nn

from .dropout import Dropout


class BiLSTM(nn.Module):
    """N bidirectional LSTM layers, dropout after each, LayerNorm where asked for.

    With no layers it is the identity, as in the paper's N = 0.
    """

    def __init__(self, width: int, hidden: int, layers: int, *, layer_norm: bool = False) -> None:
        super().__init__()
        self.width = 2 * hidden if layers else width
        widths = [width] + [2 * hidden] * (layers - 1)
        self.layers = nn.ModuleList(
            BiLSTMLayer(w, hidden, layer_norm=layer_norm) for w in widths[:layers]
        )
        self.dropout = Dropout(0.0)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """x (B, n, width), lengths (B,) -> (B, n, self.width); what stands at padding is void."""
        turn = reversal(lengths.to(x.device), x.shape[1])
        for layer in self.layers:
            x = self.dropout(layer(x, turn))
        return x


class BiLSTMLayer(nn.Module):
    """One layer over dense padded tensors, the backward direction on sentences turned around.

    Padding stands behind the words of a sentence in either order, so that no state of a word has
    read it. On a CPU this takes about half the time of packed sequences.
    """

    def __init__(self, width: int, hidden: int, *, layer_norm: bool) -> None:
        super().__init__()
        self.ahead = nn.LSTM(width, hidden, batch_first=True)
        self.back = nn.LSTM(width, hidden, batch_first=True)
        self.norm = nn.LayerNorm(2 * hidden) if layer_norm else nn.Identity()

    def forward(self, x: Tensor, turn: Tensor) -> Tensor:
        """x (B, n, width), turn (B n,) from `reversal` -> (B, n, 2 hidden)"""
        ahead, _ = self.ahead(x)
        back, _ = self.back(_take(x, turn))
        return self.norm(torch.cat([ahead, _take(back, turn)], dim=-1))


def reversal(lengths: Tensor, n: int) -> Tensor:
    """(B n,) rows that turn each of B sentences around and leave its padding where it is."""
    places = torch.arange(n, device=lengths.device).expand(len(lengths), n)
    turned = lengths.unsqueeze(1) - 1 - places
    first = torch.arange(len(lengths), device=lengths.device).unsqueeze(1) * n
    return (first + torch.where(turned >= 0, turned, places)).flatten()


def _take(x: Tensor, rows: Tensor) -> Tensor:
    """By whole rows, which is many times faster than `gather` on a CPU."""
    return x.flatten(0, 1).index_select(0, rows).view_as(x)


class TagEmbedding(nn.Module):
    """e = ReLU(W 1(tag) + c) beside each word vector: e ⊕ x, the parser's input (Section 4.2).

    Tag numbers start at 0; -1 is an unknown tag, which has only the bias.
    """

    def __init__(self, tags: int, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tags + 1, size, padding_idx=0)
        self.bias = nn.Parameter(torch.zeros(size))
        self.dropout = Dropout(0.0)
        nn.init.xavier_uniform_(self.embedding.weight)
        with torch.no_grad():
            self.embedding.weight[0].zero_()

    def forward(self, x: Tensor, tags: Tensor) -> Tensor:
        """x (B, n, width), tags (B, n) -> (B, n, size + width)"""
        embedded = torch.relu(self.embedding(tags + 1) + self.bias)
        return torch.cat([self.dropout(embedded), x], dim=-1)
