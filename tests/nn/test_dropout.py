"""Dropout by random bits against its definition."""

import pytest
import torch

from spacy_biaffine.nn.dropout import Dropout


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5, 0.9])
def test_numbers_are_dropped_at_the_rate_and_the_rest_is_scaled(rate, device):
    torch.manual_seed(0)
    x = torch.ones(1001, 333, device=device, requires_grad=True)
    y = Dropout(rate).train()(x)
    kept = y != 0
    assert kept.float().mean().item() == pytest.approx(1 - rate, abs=0.005)
    torch.testing.assert_close(y[kept], torch.full_like(y[kept], 1 / (1 - rate)), rtol=1e-4, atol=0)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y)
    # neighbours share a random number of 64 bits
    pairs = kept.flatten()[: 4 * 80_000].view(-1, 4).float()
    assert torch.corrcoef(pairs.T).fill_diagonal_(0).abs().max() < 0.02


def test_a_seed_fixes_the_mask():
    x = torch.ones(7, 5)
    layer = Dropout(0.4).train()
    masks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        masks.append(layer(x))
    assert torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0], masks[2])


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 0, 4), (1, 5)])
def test_any_shape_and_the_ends_of_the_rate(shape):
    x = torch.ones(shape)
    assert Dropout(0.5).train()(x).shape == x.shape
    assert torch.equal(Dropout(0.0).train()(x), x)
    assert not Dropout(1.0).train()(x).any()
    assert torch.equal(Dropout(0.5).eval()(x), x)


def test_half_precision_stays():
    x = torch.ones(64, 64, dtype=torch.bfloat16)
    y = Dropout(0.25).train()(x)
    assert y.dtype == x.dtype
    assert 0.2 < (y == 0).float().mean() < 0.3
