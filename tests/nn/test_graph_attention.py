"""Graph attention over likely arcs. Parsers with hops are tested where those without are."""

import pytest
import torch
from torch import Tensor

from spacy_biaffine.nn.graph_attention import GraphAttention, Hop
from spacy_biaffine.nn.parser import BiaffineParser

WIDTH, SIZE = 5, 6
LENGTHS = [6, 4, 1]


def make(heads: int = 2) -> GraphAttention:
    torch.manual_seed(0)
    return GraphAttention(WIDTH, SIZE, heads=heads).eval()


def make_graphs(lengths=LENGTHS, device: str | torch.device = "cpu") -> tuple[Tensor, ...]:
    """Nodes, weights and mask; some weights are exactly 0 and some 1."""
    torch.manual_seed(1)
    m = max(lengths)
    mask = torch.arange(m)[None, :] < torch.tensor(lengths)[:, None]
    nodes = torch.randn(len(lengths), m, WIDTH)
    weights = (1.5 * torch.rand(len(lengths), m, m) - 0.25).clamp(0, 1)
    return nodes.to(device), weights.to(device), mask.to(device)


def elu(x: Tensor) -> Tensor:
    return torch.where(x > 0, x, torch.exp(x) - 1)


def slow(layer: GraphAttention, nodes: list[Tensor], weights: Tensor) -> list[Tensor]:
    """One graph, one node, one head at a time."""
    size = SIZE // layer.heads
    states = []
    for i, node in enumerate(nodes):
        heads = []
        for k in range(layer.heads):
            W = layer.linear.weight[k * size : (k + 1) * size]
            shares = []
            for j, other in enumerate(nodes):
                e = layer.receives[k] @ (W @ node) + layer.sends[k] @ (W @ other)
                e = e if e > 0 else 0.2 * e
                shares.append((1.0 if i == j else weights[i, j]) * torch.exp(e))
            total = sum(shares)
            heads.append(elu(sum(s / total * (W @ n) for s, n in zip(shares, nodes, strict=True))))
        states.append(torch.cat(heads) + layer.own.weight @ node + layer.own.bias)
    return states


@pytest.mark.parametrize("heads", [1, 2, 3])
@torch.no_grad()
def test_states_equal_the_slow_reference(heads, device):
    layer, (nodes, weights, _) = make(heads), make_graphs()
    states = layer.to(device)(*make_graphs(device=device)).cpu()
    layer.to("cpu")
    assert states.shape == (3, 6, SIZE)
    for b, n in enumerate(LENGTHS):
        expected = torch.stack(slow(layer, list(nodes[b, :n]), weights[b]))
        torch.testing.assert_close(states[b, :n], expected, atol=1e-6, rtol=0)
    assert states.isfinite().all()


@torch.no_grad()
def test_who_is_no_neighbour_is_not_read():
    layer, (nodes, _, mask) = make(), make_graphs()
    alone = layer(nodes, torch.zeros(3, 6, 6), mask)
    changed = nodes.clone()
    changed[:, 1] += 1.0
    again = layer(changed, torch.zeros(3, 6, 6), mask)
    others = [0, 2, 3, 4, 5]
    torch.testing.assert_close(again[:, others], alone[:, others], atol=1e-6, rtol=0)
    assert not torch.allclose(again[:2, 1], alone[:2, 1])
    expected = elu(layer.linear(nodes[0, 2])) + layer.own(nodes[0, 2])
    torch.testing.assert_close(alone[0, 2], expected, atol=1e-6, rtol=0)


@torch.no_grad()
def test_order_of_nodes_does_not_matter():
    layer, (nodes, weights, mask) = make(), make_graphs([6])
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    states = layer(nodes, weights, mask)
    turned = layer(nodes[:, order], weights[:, order][:, :, order], mask)
    torch.testing.assert_close(turned, states[:, order], atol=1e-6, rtol=0)


@torch.no_grad()
def test_padding_and_company_do_not_change_states():
    layer, (nodes, weights, mask) = make(), make_graphs()
    states = layer(nodes, weights, mask)
    noisy = torch.where(mask[..., None], nodes, 1e3)
    for b, n in enumerate(LENGTHS):
        one = slice(b, b + 1)
        single = layer(nodes[one, :n], weights[one, :n, :n], mask[one, :n])
        torch.testing.assert_close(single[0], states[b, :n], atol=1e-6, rtol=0)
    with_noise = layer(noisy, torch.ones_like(weights).where(~mask[:, None], weights), mask)
    torch.testing.assert_close(with_noise[mask], states[mask], atol=1e-6, rtol=0)


@pytest.mark.parametrize("weight", [0.0, 1e-30, 1.0])
def test_gradients_are_finite_at_the_edge(weight, device):
    layer, (nodes, weights, mask) = make().to(device), make_graphs(device=device)
    nodes = (10 * nodes).requires_grad_()
    weights = torch.full_like(weights, weight).requires_grad_()
    layer(nodes, weights, mask)[mask].square().sum().backward()
    for gradient in (nodes.grad, weights.grad, *(p.grad for p in layer.parameters())):
        assert gradient.isfinite().all()
    assert (nodes.grad[~mask] == 0).all()
    assert nodes.grad[mask].abs().sum(-1).all()
    assert weights.grad.abs().sum() > 0 or weight < 1


def test_a_likelier_neighbour_has_more_weight():
    layer = make(1)
    nodes, weights, mask = make_graphs([2])
    weights = torch.full_like(weights, 0.5).requires_grad_()
    attended = layer(nodes, weights, mask)[0, 0] - layer.own(nodes[0, 0])
    gap = (attended - elu(layer.linear(nodes[0, 1]))).square().sum()
    (gradient,) = torch.autograd.grad(gap, weights)
    assert gradient[0, 0, 1] < 0


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@torch.no_grad()
def test_half_precision(dtype, device):
    layer = make().to(device, dtype)
    nodes, weights, mask = make_graphs(device=device)
    states = layer(nodes.to(dtype), weights.to(dtype), mask)
    assert states.dtype == dtype
    assert states.isfinite().all()
    exact = make().to(device)(nodes, weights, mask)
    torch.testing.assert_close(states[mask].float(), exact[mask], atol=0.05, rtol=0.05)


def test_no_tensor_is_made_on_another_device():
    layer = make().to("meta")
    assert layer(*make_graphs(device="meta")).device.type == "meta"


def test_heads_divide_the_size():
    with pytest.raises(ValueError, match=r"6.*multiple of heads \(4\)"):
        GraphAttention(WIDTH, 6, heads=4)


@torch.no_grad()
def test_a_hop_knows_heads_and_dependents():
    """With sure arcs 1 <- 2 -> 3 the middle word hears both, the outer ones hear the middle."""
    torch.manual_seed(0)
    hop = Hop(WIDTH, SIZE, normalize=True, xavier_normal=False).eval()
    arcs = torch.zeros(1, 3, 4)
    arcs[0, [0, 1, 2], [2, 0, 2]] = 1.0
    nodes, mask = torch.randn(1, 4, WIDTH), torch.ones(1, 3, dtype=torch.bool)
    states = hop(nodes, mask, lambda scores: arcs)
    hears = {}
    for sender in range(4):
        changed = nodes.clone()
        changed[0, sender] += 1.0
        moved = (hop(changed, mask, lambda scores: arcs) - states)[0].abs().amax(-1) > 1e-6
        hears[sender] = set(moved.nonzero().flatten().tolist())
    assert hears == {0: {0, 2}, 1: {1, 2}, 2: {0, 1, 2, 3}, 3: {2, 3}}


def test_without_hops_nothing_is_added():
    sizes = {"layers": 1, "hidden": 4, "tag_size": 2, "arc_size": 6, "label_size": 3}
    settings = {**sizes, "layer_norm": False, "normalize": True, "xavier_normal": False}
    torch.manual_seed(0)
    plain = BiaffineParser(WIDTH, 4, 3, (), (), **settings).state_dict()
    torch.manual_seed(0)
    hopping = BiaffineParser(WIDTH, 4, 3, (), (), hops=2, **settings).state_dict()
    assert {name.split(".")[0] for name in set(hopping) - set(plain)} == {"hops"}
    assert all(torch.equal(weight, hopping[name]) for name, weight in plain.items())
