"""Biaffine scores against loops written from the equation."""

import math

import numpy as np
import pytest
import torch

from spacy_biaffine.nn.biaffine import ArcBiaffine, LabelBiaffine, Projection

B, M, N, SIZE, LABELS = 2, 5, 4, 3, 6


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def randomized(module: torch.nn.Module) -> torch.nn.Module:
    """No parameter at zero, or a missing term would not be seen."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.normal_()
    return module


@pytest.mark.parametrize("normalize", [True, False])
def test_arc_scores(device, normalize):
    arc = randomized(ArcBiaffine(SIZE, normalize=normalize, xavier_normal=False)).to(device)
    heads = torch.randn(B, M, SIZE, device=device)
    dependents = torch.randn(B, N, SIZE, device=device)
    scores = arc(heads, dependents)
    assert scores.shape == (B, N, M)
    assert scores.device.type == device.type
    weight, bias = arc.weight.tolist(), arc.bias.tolist()
    a = 1 / math.sqrt(SIZE) if normalize else 1.0
    for b in range(B):
        for d in range(N):
            for h in range(M):
                x_h, x_d = heads[b, h].tolist(), dependents[b, d].tolist()
                bilinear = sum(
                    x_h[i] * weight[i][j] * x_d[j] for i in range(SIZE) for j in range(SIZE)
                )
                linear = sum(x_h[i] * bias[i] for i in range(SIZE))
                assert scores[b, d, h].item() == pytest.approx(a * (bilinear + linear), abs=1e-5)


@pytest.mark.parametrize("size", [1, 3, 500])
def test_normalization_is_one_over_the_root_of_d(size):
    """And nothing else: the same seed draws the same weights."""
    scores = []
    for normalize in (True, False):
        torch.manual_seed(3)
        arc = ArcBiaffine(size, normalize=normalize, xavier_normal=True)
        scores.append(arc(torch.randn(1, 4, size), torch.randn(1, 3, size)))
    torch.testing.assert_close(scores[0] * math.sqrt(size), scores[1])
    assert scores[1].abs().min() > 0


@pytest.mark.parametrize("labels", [2, SIZE, LABELS])
def test_label_scores(device, labels):
    label = randomized(LabelBiaffine(SIZE, labels)).to(device)
    heads = torch.randn(B, N, SIZE, device=device)
    dependents = torch.randn(B, N, SIZE, device=device)
    scores = label(heads, dependents)
    assert scores.shape == (B, N, labels)
    weight, bias = label.weight.tolist(), label.bias.tolist()
    for b in range(B):
        for d in range(N):
            r_h, r_d = heads[b, d].tolist(), dependents[b, d].tolist()
            for r in range(labels):
                wanted = sum(
                    r_h[i] * weight[i][r][j] * r_d[j] for i in range(SIZE) for j in range(SIZE)
                ) + sum(r_h[i] * bias[i][r] for i in range(SIZE))
                assert scores[b, d, r].item() == pytest.approx(wanted, abs=1e-4)


def test_projection():
    projection = randomized(Projection(4, SIZE, xavier_normal=False)).eval()
    x = torch.randn(7, 4)
    linear = x.numpy() @ projection.linear.weight.detach().numpy().T
    linear += projection.linear.bias.detach().numpy()
    wanted = np.where(linear > 0, linear, np.exp(linear) - 1)
    assert (linear < 0).any()
    assert (linear > 0).any()
    np.testing.assert_allclose(projection(x).detach().numpy(), wanted, atol=1e-6)


def test_projection_drops_only_in_training():
    projection = Projection(4, 50, xavier_normal=False)
    projection.dropout.p = 0.5
    x = torch.randn(1, 4)
    assert 0 < (projection.train()(x) == 0).sum() < 50
    assert (projection.eval()(x) == 0).sum() == 0


@pytest.mark.parametrize("normal", [True, False])
def test_xavier(normal):
    """Variance 2 / (in + out), of the drawn kind; biases start at zero."""
    for module, bias in (
        (ArcBiaffine(200, normalize=True, xavier_normal=normal), "bias"),
        (Projection(300, 100, xavier_normal=normal).linear, "bias"),
    ):
        assert (getattr(module, bias) == 0).all()
        assert module.weight.std().item() == pytest.approx(math.sqrt(2 / 400), rel=0.05)
        bound = math.sqrt(6 / 400)
        assert (module.weight.abs().max().item() > bound) is normal
