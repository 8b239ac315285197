"""The attention that reads a tree against the equation worked out densely."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_biaffine.nn.graph_encoders import GraphLayers, sinusoids
from spacy_biaffine.nn.graph_transformer import (
    Arcs,
    GraphAttention,
    GraphTransformer,
    Interactions,
    Relations,
)
from spacy_biaffine.types import SentenceBatch

WIDTH, HEADS, LABELS = 12, 3, 4
READS = [Interactions(*each) for each in itertools.product([False, True], repeat=3)]


def relation_matrix(heads: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """R (B, n, n) as in the paper's Figure 2: 0, label + 1 to the head, label + 1 + L back."""
    relations = torch.zeros(*heads.shape, heads.shape[1], dtype=torch.long)
    for row, node in (heads >= 0).nonzero().tolist():
        head, label = heads[row, node], labels[row, node]
        relations[row, node, head] = label + 1
        relations[row, head, node] = label + 1 + LABELS
    return relations


def dense(attention, x, mask, matrix, relations, reads):
    """Equations 2 and 3 with a vector for each pair: weights and mixed values."""
    q, k, v = (
        part(x).unflatten(2, (HEADS, -1)).transpose(1, 2)
        for part in (attention.query, attention.key, attention.value)
    )
    scores = torch.einsum("bhid,bhjd->bhij", q, k)
    if reads.query:
        scores = scores + torch.einsum("bhid,bijd->bhij", q, relations.score[matrix])
    if reads.key:
        scores = scores + torch.einsum("bijd,bhjd->bhij", relations.score[matrix], k)
    scores = scores / math.sqrt(q.shape[-1])
    weights = scores.masked_fill(~mask[:, None, None, :], -torch.inf).softmax(dim=-1)
    mixed = weights @ v
    if reads.value:
        mixed = mixed + torch.einsum("bhij,bijd->bhid", weights, relations.value[matrix])
    return weights, mixed.transpose(1, 2).flatten(2)


@st.composite
def trees(draw):
    """Padded heads and labels of several sentences: forests, crossing arcs, several roots."""
    n = draw(st.integers(1, 6))
    sentences = []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, n))
        order = draw(st.permutations(range(length)))
        heads = [-1] * n
        for place in range(1, length):
            heads[order[place]] = draw(st.sampled_from([-1, *order[:place]]))
        sentences.append((length, heads, draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))))
    lengths, heads, labels = zip(*sentences, strict=True)
    mask = torch.arange(n) < torch.tensor(lengths).unsqueeze(1)
    heads = torch.tensor(heads)
    return mask, heads, torch.tensor(labels).where(heads >= 0, -1)


@pytest.mark.parametrize("reads", READS, ids=str)
@settings(max_examples=25)
@given(trees())
def test_equals_the_dense_equation(reads, tree):
    mask, heads, labels = tree
    torch.manual_seed(0)
    attention = GraphAttention(WIDTH, HEADS, reads).double()
    shape = (2 * LABELS + 1, WIDTH // HEADS)
    relations = Relations(
        torch.randn(shape).double() if reads.query or reads.key else None,
        torch.randn(shape).double() if reads.value else None,
    )
    x = torch.randn(*heads.shape, WIDTH).double()
    arcs = Arcs.of(heads, labels, LABELS)
    weights, mixed = dense(attention, x, mask, relation_matrix(heads, labels), relations, reads)
    rows = mask[:, None, :, None]
    ours = attention.weights(x, mask, arcs, relations)
    torch.testing.assert_close(ours * rows, weights * rows)
    ours = attention(x, mask, arcs, relations)
    torch.testing.assert_close(ours[mask], mixed[mask])


@pytest.mark.parametrize("reads", READS, ids=str)
def test_gradients_equal_those_of_the_dense_equation(reads):
    torch.manual_seed(0)
    attention = GraphAttention(WIDTH, HEADS, reads).double()
    tables = torch.randn(2, 2 * LABELS + 1, WIDTH // HEADS).double().requires_grad_()
    read = reads.query or reads.key
    relations = Relations(tables[0] if read else None, tables[1] if reads.value else None)
    x = torch.randn(2, 4, WIDTH).double().requires_grad_()
    heads = torch.tensor([[1, -1, 1, 2], [1, -1, -1, -1]])
    labels = torch.tensor([[0, -1, 3, 2], [1, -1, -1, -1]])
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    arcs, matrix = Arcs.of(heads, labels, LABELS), relation_matrix(heads, labels)
    mixed = attention(x, mask, arcs, relations)[mask]
    expected = dense(attention, x, mask, matrix, relations, reads)[1][mask]
    to = torch.randn_like(mixed)
    ours, theirs = (
        torch.autograd.grad(y, [x, tables], to, allow_unused=True) for y in (mixed, expected)
    )
    for mine, other in zip(ours, theirs, strict=True):
        assert (mine is None) == (other is None)
        if mine is not None:
            torch.testing.assert_close(mine, other)


def stack(reads: Interactions, **sizes: int) -> GraphTransformer:
    torch.manual_seed(0)
    sizes = {"layers": 2, "heads": HEADS, "hidden": 20, **sizes}
    return GraphTransformer(WIDTH, LABELS, reads=reads, **sizes)


def test_sizes_of_relation_embeddings():
    """A table for each layer, as wide as a head; none that nothing reads."""
    paper = stack(Interactions(query=True, key=True, value=False))
    assert [table.shape for table in paper.relations] == [(2 * LABELS + 1, 4)] * 2
    assert len(paper.value_relations) == 0
    assert abs(float(torch.stack(list(paper.relations)).detach().std()) - 0.02) < 0.005
    plain = stack(Interactions(query=False, key=False, value=False))
    assert len(plain.relations) == len(plain.value_relations) == 0


@pytest.mark.parametrize("reads", READS[1:], ids=str)
def test_the_tree_is_read_only_where_asked_for(reads):
    module = stack(reads)
    x, mask = torch.randn(1, 3, WIDTH), torch.ones(1, 3, dtype=torch.bool)
    tree = torch.tensor([[1, -1, 1]]), torch.tensor([[0, -1, 2]])
    other = torch.tensor([[1, -1, 1]]), torch.tensor([[0, -1, 3]])
    nothing = torch.full((1, 3), -1), torch.full((1, 3), -1)
    outputs = [module(x, mask, *each) for each in (tree, other, nothing)]
    for one, two in itertools.combinations(outputs, 2):
        assert (one - two).abs().max() > 1e-6


def test_none_is_learned():
    """The embedding of no relation moves attention too, though it stands at nearly all pairs."""
    module = stack(Interactions(query=True, key=True, value=False))
    x, mask = torch.randn(1, 4, WIDTH), torch.ones(1, 4, dtype=torch.bool)
    tree = torch.full((1, 4), -1), torch.full((1, 4), -1)
    before = module(x, mask, *tree)
    with torch.no_grad():
        module.relations[0][0] += 1
    assert (module(x, mask, *tree) - before).abs().max() > 1e-3


def test_attention_maps_are_distributions_over_words():
    module = stack(Interactions(query=True, key=True, value=False)).eval()
    x = torch.randn(2, 3, WIDTH)
    mask = torch.tensor([[True, True, True], [True, False, False]])
    weights = module.attention(x, mask, torch.full((2, 3), -1), torch.full((2, 3), -1))
    assert weights.shape == (2, 2, 3, 3)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 2, 3))
    assert (weights[:, 1, :, 1:] == 0).all()


def layers_over_vectors(**sizes: int) -> GraphLayers:
    torch.manual_seed(0)
    reads = Interactions(query=True, key=True, value=False)
    sizes = {"tags": 3, "size": WIDTH, "layers": 1, "heads": HEADS, **sizes}
    return GraphLayers(5, LABELS, reads=reads, **sizes).eval()


def batch_of(x: torch.Tensor, lengths: list[int], tag: int = 1) -> SentenceBatch:
    shape = x.shape[:2]
    mask = torch.arange(shape[1]) < torch.tensor(lengths).unsqueeze(1)
    features = {
        "head": torch.full(shape, -1, device=x.device),
        "label": torch.full(shape, -1, device=x.device),
        "tag": torch.full(shape, tag, device=x.device),
    }
    return SentenceBatch(x, mask.to(x.device), torch.tensor(lengths), features)


def test_padding_changes_nothing(device):
    module = layers_over_vectors().to(device)
    x = torch.randn(2, 4, 5, device=device)
    both = module.predict(batch_of(x, [4, 2])).states
    alone = module.predict(batch_of(x[1:, :2], [2])).states
    torch.testing.assert_close(both[1:, :2], alone, atol=1e-5, rtol=0)


def test_tags_and_order_of_words_are_read():
    module = layers_over_vectors()
    x = torch.randn(1, 3, 5)
    states = module.predict(batch_of(x, [3])).states
    assert (module.predict(batch_of(x, [3], tag=2)).states - states).abs().max() > 1e-3
    turned = module.predict(batch_of(x.flip(1), [3])).states.flip(1)
    assert (turned - states).abs().max() > 1e-3
    without = layers_over_vectors(tags=0)
    assert without.tags is None
    same = without.predict(batch_of(x, [3], tag=2)).states
    torch.testing.assert_close(same, without.predict(batch_of(x, [3])).states)


def test_no_tag_has_no_vector():
    module = layers_over_vectors()
    assert (module.tags(torch.tensor([[0, -1]])) == 0).all()
    module.tags(torch.tensor([[0, 1]])).sum().backward()
    assert (module.tags.embedding.weight.grad[0] == 0).all()


def test_odd_sizes_have_sinusoids():
    assert sinusoids(4, 7, torch.device("cpu")).shape == (4, 7)
    torch.testing.assert_close(sinusoids(9, 8, torch.device("cpu")).norm(dim=1), torch.ones(9))
