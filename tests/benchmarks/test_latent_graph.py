"""Latent graph inference: padding, order, gradients, F1, and a graph that can be learned."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from latent_graph_model import (  # noqa: E402 (lies there)
    Graphs,
    LatentGraph,
    edge_counts,
    edge_loss,
    possible_edges,
    unlabelled_f1,
)

FEATURES, SIZE = 3, 8


def make(layers: int = 2, **settings) -> LatentGraph:
    torch.manual_seed(0)
    return LatentGraph(FEATURES, SIZE, layers=layers, **settings).eval()


def some_graphs(lengths=(5, 3, 1)) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Points on a plane with a kind; those that are near are joined, both ways."""
    torch.manual_seed(1)
    graphs = []
    for n in lengths:
        nodes = torch.randn(n, FEATURES)
        near = (torch.cdist(nodes, nodes) < 1.5) & ~torch.eye(n, dtype=torch.bool)
        graphs.append((nodes, near.nonzero()))
    return graphs


def test_batch():
    graphs = Graphs.of(some_graphs())
    assert graphs.nodes.shape == (3, 5, FEATURES)
    assert graphs.mask.sum(1).tolist() == [5, 3, 1]
    for b, (nodes, edges) in enumerate(some_graphs()):
        assert torch.equal(graphs.nodes[b, : len(nodes)], nodes)
        assert torch.equal(graphs.edges[b].nonzero(), edges)
    assert graphs.edges.any()


@pytest.mark.parametrize("layers", [0, 1, 3])
@torch.no_grad()
def test_padding_and_company_do_not_change_scores(layers, device):
    model = make(layers).to(device)
    graphs = Graphs(*(each.to(device) for each in Graphs.of(some_graphs())))
    scores = model(graphs.nodes, graphs.mask)
    for b, (nodes, _) in enumerate(some_graphs()):
        n = len(nodes)
        mask = torch.ones(1, n, dtype=torch.bool, device=device)
        alone = model(nodes.unsqueeze(0).to(device), mask)[0]
        torch.testing.assert_close(alone, scores[b, :n, :n], atol=1e-5, rtol=0)


@torch.no_grad()
def test_order_of_nodes_does_not_matter():
    model, ((nodes, _),) = make(), some_graphs([5])
    order = torch.tensor([2, 0, 4, 1, 3])
    mask = torch.ones(1, 5, dtype=torch.bool)
    scores = model(nodes.unsqueeze(0), mask)[0]
    turned = model(nodes[order].unsqueeze(0), mask)[0]
    torch.testing.assert_close(turned, scores[order][:, order], atol=1e-6, rtol=0)


@pytest.mark.parametrize("lengths", [(5, 3, 1), (1,)])
def test_gradients(lengths, device):
    model = make().train().to(device)
    graphs = Graphs(*(each.to(device) for each in Graphs.of(some_graphs(lengths))))
    loss = edge_loss(model(graphs.nodes.requires_grad_(), graphs.mask), graphs)
    loss.backward()
    gradients = [graphs.nodes.grad, *(p.grad for p in model.parameters())]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all((gradient != 0).any() == (len(lengths) > 1) for gradient in gradients)
    assert (loss.item() > 0) is (len(lengths) > 1)


def test_normalization_scales_scores():
    graphs = Graphs.of(some_graphs())
    raw, scaled = (make(normalize=each)(graphs.nodes, graphs.mask) for each in (False, True))
    torch.testing.assert_close(scaled, raw / SIZE**0.5)


def test_counts():
    graphs = Graphs.of([(torch.zeros(3, FEATURES), torch.tensor([[0, 1], [1, 0], [2, 2]]))])
    scores = torch.full((1, 3, 3), 5.0)
    scores[0, 1] = -5.0
    assert edge_counts(scores, graphs).tolist() == [4, 2, 1]
    assert unlabelled_f1(torch.tensor([4, 2, 1])) == pytest.approx(1 / 3)
    assert unlabelled_f1(torch.tensor([0, 0, 0])) == 0.0
    assert unlabelled_f1(torch.tensor([2, 2, 2])) == 1.0
    # Scores of the pairs (0, 1) and (1, 0), which are edges, and of the four others.
    signed = torch.tensor([-5.0, 5.0, 5.0, -5.0, 5.0, 5.0])
    wanted = torch.nn.functional.softplus(signed).mean()
    torch.testing.assert_close(edge_loss(scores, graphs), wanted)


def test_possible_edges():
    mask = torch.tensor([[True, True, False]])
    assert possible_edges(mask).nonzero().tolist() == [[0, 0, 1], [0, 1, 0]]


def test_learns():
    model, graphs = make(1).train(), Graphs.of(some_graphs((5, 6, 7, 4)))
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(200):
        optimizer.zero_grad()
        edge_loss(model(graphs.nodes, graphs.mask), graphs).backward()
        optimizer.step()
    with torch.no_grad():
        counts = edge_counts(model(graphs.nodes, graphs.mask), graphs)
    assert unlabelled_f1(counts) > 0.9
    found = [model.edges(nodes) for nodes, _ in some_graphs((5, 6, 7, 4))]
    assert all((edges[:, 0] != edges[:, 1]).all() for edges in found)
    assert sum(map(len, found)) == counts[0] > 0


def test_no_tensor_is_made_on_another_device():
    graphs = Graphs.of([(nodes.to("meta"), edges.to("meta")) for nodes, edges in some_graphs()])
    scores = make().to("meta")(graphs.nodes, graphs.mask)
    losses = edge_loss(scores, graphs), edge_counts(scores, graphs)
    assert {tensor.device.type for tensor in (scores, *losses)} == {"meta"}


def test_needs_no_spacy():
    code = "import sys, latent_graph_model; assert 'spacy' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=BENCHMARKS)
