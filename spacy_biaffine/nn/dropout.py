"""Dropout whose mask costs little on a CPU."""

import torch
from torch import Tensor, nn

LEVELS = 2**16
"""Numbers that 16 random bits can be: a rate is rounded to a whole number of them."""


class Dropout(nn.Dropout):
    """torch's, but on a CPU with 16 random bits for each number: the mask takes a quarter of the
    time, which is a tenth of a training step."""

    def forward(self, x: Tensor) -> Tensor:
        dropped = round(self.p * LEVELS)
        if not self.training or x.device.type != "cpu" or not 0 < dropped < LEVELS:
            return super().forward(x)
        words = torch.empty(-(-x.numel() // 4), dtype=torch.int64).random_(-(2**63), None)
        bits = words.view(torch.int16)[: x.numel()].view(x.shape)
        kept = (bits >= dropped - LEVELS // 2).to(x.dtype)
        return x * kept.mul_(LEVELS / (LEVELS - dropped))
