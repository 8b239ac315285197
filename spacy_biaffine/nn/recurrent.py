"""A stack of bidirectional LSTM layers over padded sentences."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class BiLSTM(nn.Module):
    """N bidirectional LSTM layers, dropout after each, LayerNorm where asked for.

    With no layers it is the identity, as in the paper's N = 0. Padding is never read: not even
    by the backward direction.
    """

    def __init__(self, width: int, hidden: int, layers: int, *, layer_norm: bool = False) -> None:
        super().__init__()
        self.width = 2 * hidden if layers else width
        widths = [width] + [2 * hidden] * (layers - 1)
        self.layers = nn.ModuleList(
            nn.LSTM(w, hidden, batch_first=True, bidirectional=True) for w in widths[:layers]
        )
        self.norms = nn.ModuleList(
            nn.LayerNorm(2 * hidden) if layer_norm else nn.Identity() for _ in range(layers)
        )
        self.dropout = nn.Dropout(0.0)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        """x (B, n, width), lengths (B,) on the CPU, longest first -> (B, n, self.width)"""
        for lstm, norm in zip(self.layers, self.norms, strict=True):
            packed = pack_padded_sequence(x, lengths, batch_first=True)
            states, _ = lstm(packed)
            states = states._replace(data=self.dropout(norm(states.data)))
            x, _ = pad_packed_sequence(states, batch_first=True, total_length=x.shape[1])
        return x


class TagEmbedding(nn.Module):
    """e = ReLU(W 1(tag) + c) beside each word vector: e ⊕ x, the parser's input (Section 4.2).

    Tag numbers start at 0; -1 is an unknown tag, which has only the bias.
    """

    def __init__(self, tags: int, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tags + 1, size, padding_idx=0)
        self.bias = nn.Parameter(torch.zeros(size))
        self.dropout = nn.Dropout(0.0)
        nn.init.xavier_uniform_(self.embedding.weight)
        with torch.no_grad():
            self.embedding.weight[0].zero_()

    def forward(self, x: Tensor, tags: Tensor) -> Tensor:
        """x (B, n, width), tags (B, n) -> (B, n, size + width)"""
        embedded = torch.relu(self.embedding(tags + 1) + self.bias)
        return torch.cat([self.dropout(embedded), x], dim=-1)
