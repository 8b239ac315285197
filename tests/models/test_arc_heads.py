"""Arc heads: their losses against slow ones, and what they find."""

import math

import numpy as np
import pytest
import torch
from spacy import registry

from spacy_biaffine.decode.mst import decode_forests
from spacy_biaffine.models.arc_heads import START, GraphArcs, TreeArcs

LOWEST = torch.finfo(torch.float32).min
LENGTHS = np.array([4, 2])


def make_scores(device: str | torch.device = "cpu") -> torch.Tensor:
    """(2, 4, 5), masked at padding and at the word itself as the parser does."""
    torch.manual_seed(0)
    scores = 2 * torch.randn(2, 4, 5)
    for word in range(4):
        scores[:, word, word + 1] = LOWEST
    scores[1, :, 3:] = LOWEST
    return scores.to(device)


HEADS = torch.tensor(
    [
        [[2, 4], [-1, -1], [0, -1], [1, -1]],
        [[-1, -1], [1, -1], [-1, -1], [-1, -1]],
    ]
)
KNOWN = torch.tensor([[True, True, True, False], [True, True, False, False]])


def test_loss_of_trees(device):
    scores = make_scores(device)
    loss = TreeArcs().loss(scores, HEADS.to(device), KNOWN.to(device)).item()
    wanted = 0.0
    for b, d, head in [(0, 0, 2), (0, 1, 0), (0, 2, 0), (1, 0, 0), (1, 1, 1)]:
        wanted -= torch.log_softmax(scores[b, d].cpu().double(), 0)[head].item()
    assert loss == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_loss_of_graphs(weight, device):
    scores = make_scores(device)
    head = GraphArcs(positive_weight=weight)
    loss = head.loss(scores, HEADS.to(device), KNOWN.to(device)).item()
    # The arc from the fourth word of the first sentence, which is not known, has no part in it.
    gold = {(0, 0, 2), (0, 2, 0), (1, 1, 1)}
    wanted = 0.0
    for b, known in enumerate([[0, 1, 2], [0, 1]]):
        for d in known:
            for h in [0, *(word + 1 for word in known)]:
                if h != d + 1:
                    p = 1 / (1 + math.exp(START - scores[b, d, h].item()))
                    there = (b, d, h) in gold
                    wanted -= weight * math.log(p) if there else math.log(1 - p)
    assert loss == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize("head", [TreeArcs(), GraphArcs(), GraphArcs(positive_weight=2.0)])
def test_gradients(head, device):
    scores = make_scores(device).requires_grad_()
    heads, known = HEADS.to(device), KNOWN.to(device)
    head.loss(scores, heads, known).backward()
    assert scores.grad.isfinite().all()
    assert (scores.grad[~known] == 0).all()
    assert (scores.grad[known].abs().sum(-1) > 0).all()
    assert (scores.grad[scores <= LOWEST] == 0).all()
    assert scores.grad[0, 0, 2] < 0
    nothing = head.loss(scores, heads, torch.zeros_like(known))
    assert nothing.item() == 0.0
    scores.grad = None
    nothing.backward()
    assert (scores.grad == 0).all()


@pytest.mark.parametrize("head", [TreeArcs(), GraphArcs()])
def test_perfect_scores_have_no_loss(head):
    scores = torch.full((2, 4, 5), -30.0)
    scores[..., 0] = 30.0 if isinstance(head, TreeArcs) else -30.0
    for b, d, k in (HEADS >= 0).nonzero().tolist():
        scores[b, d] = -30.0 if k == 0 else scores[b, d]
        scores[b, d, HEADS[b, d, k]] = 30.0 if k == 0 or isinstance(head, GraphArcs) else -30.0
    loss = head.loss(scores, HEADS, KNOWN)
    assert loss.item() == pytest.approx(0.0, abs=1e-6)


def test_trees_have_a_head_for_each_word():
    log_probs = TreeArcs().log_probs(make_scores()).numpy()
    arcs = TreeArcs().decode(log_probs, LENGTHS)
    assert arcs.sentences.tolist() == [0, 0, 0, 0, 1, 1]
    assert arcs.dependents.tolist() == [0, 1, 2, 3, 0, 1]
    heads = decode_forests(log_probs, LENGTHS)
    assert arcs.heads.tolist() == [*heads[0], *heads[1, :2]]
    np.testing.assert_allclose(np.exp(log_probs).sum(-1), 1.0, atol=1e-6)


def test_trees_may_have_several_roots_but_no_cycle():
    scores = np.full((1, 3, 4), -9.0, dtype=np.float32)
    scores[0, [0, 1, 2], [2, 1, 0]] = 0.0
    scores[0, 0, 0] = -1.0
    arcs = TreeArcs().decode(scores, np.array([3]))
    assert arcs.heads.tolist() == [0, 1, 0]


def test_graphs_have_the_arcs_above_the_threshold():
    probs = np.zeros((2, 2, 3), dtype=np.float32) + 1e-9
    probs[0, 0, [0, 2]] = 0.6, 0.4
    probs[0, 1, 1] = 0.8
    probs[1, 0, 0] = 0.9
    probs[1, 1, 0] = 0.9  # padding
    for threshold, wanted in (
        (0.5, [(0, 0, 0), (0, 1, 1), (1, 0, 0)]),
        (0.3, [(0, 0, 0), (0, 0, 2), (0, 1, 1), (1, 0, 0)]),
        (0.95, []),
    ):
        arcs = GraphArcs(threshold=threshold).decode(np.log(probs), np.array([2, 1]))
        assert list(zip(*(each.tolist() for each in arcs), strict=True)) == wanted


def test_every_word_has_its_likeliest_arc():
    probs = np.zeros((2, 2, 3), dtype=np.float32) + 1e-9
    probs[0, 0, [0, 2]] = 0.9, 0.8
    probs[0, 1, [0, 1]] = 0.1, 0.2
    probs[1, 0, 0] = 0.3
    probs[1, 1, 0] = 0.9  # padding
    arcs = GraphArcs(every_word=True).decode(np.log(probs), np.array([2, 1]))
    wanted = [(0, 0, 0), (0, 0, 2), (0, 1, 1), (1, 0, 0)]
    assert list(zip(*(each.tolist() for each in arcs), strict=True)) == wanted


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0, 2.0, float("nan")])
def test_a_threshold_is_a_probability(threshold):
    with pytest.raises(ValueError, match="threshold must be above 0 and below 1"):
        GraphArcs(threshold=threshold)


def test_registered():
    config = {"arcs": {"@misc": "spacy-biaffine.GraphArcs.v1", "threshold": 0.25}}
    assert registry.resolve(config)["arcs"] == GraphArcs(0.25)
    tree = {"arcs": {"@misc": "spacy-biaffine.TreeArcs.v1"}}
    assert registry.resolve(tree)["arcs"] == TreeArcs()
