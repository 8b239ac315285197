"""The bridge between Thinc and PyTorch."""

from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
import pytest
import srsly
import torch
from hypothesis import given
from hypothesis import strategies as st
from thinc.api import Adam, Model, fix_random_seed, set_dropout_rate
from torch import Tensor, nn

from spacy_biaffine.models import torch_layer as bridge
from spacy_biaffine.models.torch_layer import build_module, torch_layer
from spacy_biaffine.types import SentenceBatch, Sentences

WIDTH = 4


class Scores(NamedTuple):
    a: Tensor
    b: Tensor


class Toy(nn.Module):
    """Reads vectors and a feature, and mixes the words of a sentence."""

    def __init__(self, width: int, size: int = 3) -> None:
        super().__init__()
        self.linear = nn.Linear(width, size)
        self.embedding = nn.Embedding(6, size)
        self.dropout = nn.Dropout(0.0)
        self.unused = nn.Parameter(torch.ones(2))

    def forward(self, batch: SentenceBatch) -> Scores:
        words = self.dropout(torch.tanh(self.linear(batch.x)))
        words = words + self.embedding(batch.features["kind"].clamp(min=0))
        words = words * batch.mask.unsqueeze(-1)
        return Scores(words @ words.transpose(1, 2), words + words.sum(dim=1, keepdim=True))

    @torch.inference_mode()
    def predict(self, batch: SentenceBatch, scale: float) -> np.ndarray:
        return scale * self(batch).b.cpu().numpy()


VECTORS = [np.random.default_rng(n).normal(size=(n, WIDTH)).astype("f") for n in (5, 0, 3, 7)]
# Token 4 is in no sentence, and sentences need not be runs of neighbours.
CUTS = [np.array([0, 1, 3]), np.array([2]), np.arange(5, 8), np.arange(8, 15)]
KINDS = np.arange(15) % 6


def make_layer(mixed_precision: bool = False) -> Model:
    fix_random_seed(0)
    layer = torch_layer("toy", Toy, mixed_precision=mixed_precision, scale=2.0)
    layer.initialize()
    build_module(layer, width=WIDTH)
    return layer


def inputs(cuts: list[np.ndarray] = CUTS) -> Sentences:
    return Sentences(VECTORS, cuts, {"kind": KINDS})


def module_of(layer: Model) -> Toy:
    return layer.shims[0].module


def run(layer: Model, cuts: list[np.ndarray] = CUTS):
    """Scores by sentence, gradients of the vectors, and of the weights, for a fixed loss."""
    scored, backprop = layer.begin_update(inputs(cuts))
    d_scores = [tuple(torch.cos(t.detach()) for t in batch.scores) for batch in scored]
    by_sentence = {
        tuple(row[row >= 0]): batch.scores.b[i, : (row >= 0).sum()].detach().numpy()
        for batch in scored
        for i, row in enumerate(batch.tokens)
    }
    # Padding takes no part in the loss.
    for batch, gradients in zip(scored, d_scores, strict=True):
        mask = torch.from_numpy(batch.tokens >= 0)
        gradients[0][~(mask.unsqueeze(1) & mask.unsqueeze(2))] = 0.0
        gradients[1][~mask] = 0.0
    d_vectors = backprop(d_scores)
    weights = {name: p.grad for name, p in module_of(layer).named_parameters()}
    return by_sentence, d_vectors, weights


def test_scores_and_gradients_equal_autograd_by_hand():
    layer = make_layer()
    by_sentence, d_vectors, d_weights = run(layer)
    module = make_layer().shims[0].module
    flat = torch.tensor(np.concatenate(VECTORS), requires_grad=True)
    for cut in CUTS:
        x = flat[torch.from_numpy(cut)].unsqueeze(0)
        kinds = torch.from_numpy(KINDS[cut]).unsqueeze(0)
        mask = torch.ones(1, len(cut), dtype=torch.bool)
        scores = module(SentenceBatch(x, mask, torch.tensor([len(cut)]), {"kind": kinds}))
        np.testing.assert_allclose(by_sentence[tuple(cut)], scores.b[0].detach(), atol=1e-6)
        torch.autograd.backward(list(scores), [torch.cos(t.detach()) for t in scores])
    assert [g.shape for g in d_vectors] == [v.shape for v in VECTORS]
    np.testing.assert_allclose(np.concatenate(d_vectors), flat.grad, atol=1e-5)
    assert np.abs(flat.grad[:4]).sum() > 0
    assert (d_vectors[0][4] == 0).all()
    for name, parameter in module.named_parameters():
        if name == "unused":
            assert d_weights[name] is None
        else:
            torch.testing.assert_close(d_weights[name], parameter.grad, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("area", [1, 9, 20])
def test_groups_by_area_change_nothing(monkeypatch, area):
    whole, d_whole, w_whole = run(make_layer())
    monkeypatch.setattr(bridge, "MAX_AREA", area)
    layer = make_layer()
    assert len(layer.predict(inputs())) > 1
    parts, d_parts, w_parts = run(layer)
    assert whole.keys() == parts.keys() == {tuple(cut) for cut in CUTS}
    for cut, scores in whole.items():
        np.testing.assert_allclose(parts[cut], scores, atol=1e-6)
    np.testing.assert_allclose(np.concatenate(d_parts), np.concatenate(d_whole), atol=1e-5)
    for name, gradient in w_whole.items():
        if gradient is not None:
            torch.testing.assert_close(w_parts[name], gradient, atol=1e-5, rtol=1e-5)


def test_areas_are_bounded(monkeypatch):
    monkeypatch.setattr(bridge, "MAX_AREA", 20)
    sizes = [1, 2, 2, 3, 4, 5, 6, 0, 1, 1]
    ends = np.cumsum(sizes)
    cuts = [np.arange(e - s, e) for s, e in zip(sizes, ends, strict=True)]
    groups = list(bridge._by_area(cuts))
    assert all(len(g) == 1 or g.shape[0] * g.shape[1] ** 2 <= 20 for g in groups)
    assert sorted(t for g in groups for t in g[g >= 0]) == list(range(25))
    for group in groups:
        lengths = (group >= 0).sum(axis=1)
        assert (lengths > 0).all()
        assert (np.diff(lengths) <= 0).all()
        assert lengths[0] == group.shape[1]


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9), st.integers(1, 40))
def test_groups_have_the_least_padding(lengths, cost):
    """Of all ways to cut falling lengths into groups."""
    falling = sorted(lengths, reverse=True)

    def costs(ends: tuple[int, ...]) -> int:
        edges = pairwise((0, *ends, len(falling)))
        return sum((end - begin) * falling[begin] + cost for begin, end in edges)

    best = min(
        costs(ends)
        for many in range(len(falling))
        for ends in combinations(range(1, len(falling)), many)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bridge, "BATCH_COST", cost)
        groups = bridge._groups(np.array(falling))
    assert [begin for begin, _ in groups[1:]] == [end for _, end in groups[:-1]]
    assert costs(tuple(end for _, end in groups[:-1])) == best


def test_batches_are_padded_and_masked():
    seen = []

    class Spy(Toy):
        def forward(self, batch: SentenceBatch) -> Scores:
            seen.append(batch)
            return super().forward(batch)

    layer = torch_layer("spy", Spy, scale=1.0)
    build_module(layer, width=WIDTH)
    scored, _ = layer.begin_update(inputs())
    (batch,) = seen
    assert batch.lengths.tolist() == batch.mask.sum(dim=1).tolist() == [7, 3, 3, 1]
    assert batch.lengths.device.type == "cpu"
    assert (batch.x[~batch.mask] == 0).all()
    assert (batch.features["kind"][~batch.mask] == -1).all()
    tokens = scored[0].tokens
    assert ((tokens >= 0) == batch.mask.numpy()).all()
    flat = np.concatenate(VECTORS)
    np.testing.assert_array_equal(batch.x[batch.mask].detach(), flat[tokens[tokens >= 0]])
    np.testing.assert_array_equal(batch.features["kind"][batch.mask], KINDS[tokens[tokens >= 0]])


@pytest.mark.parametrize("cuts", [[], [np.zeros(0, dtype=np.int64)]])
def test_no_sentences(cuts):
    layer = make_layer()
    assert layer.predict(inputs(cuts)) == []
    scored, backprop = layer.begin_update(inputs(cuts))
    assert scored == []
    d_vectors = backprop([])
    assert [g.shape for g in d_vectors] == [v.shape for v in VECTORS]
    assert all((g == 0).all() for g in d_vectors)
    layer.finish_update(Adam(0.1))


def test_prediction():
    layer = make_layer()
    set_dropout_rate(layer, 0.9)
    by_sentence, _, _ = run(make_layer())
    for batch in layer.predict(inputs()):
        for row, scores in zip(batch.tokens, batch.scores, strict=True):
            row = row[row >= 0]
            np.testing.assert_allclose(scores[: len(row)], 2 * by_sentence[tuple(row)], atol=1e-6)
    _, backprop = layer(inputs(), is_train=False)
    with pytest.raises(ValueError, match="begin_update"):
        backprop([])


def test_dropout_rate_reaches_the_module():
    layer = make_layer()
    set_dropout_rate(layer, 0.5)
    first, second = run(layer)[0], run(layer)[0]
    assert any((first[cut] != second[cut]).any() for cut in first)
    set_dropout_rate(layer, 0.0)
    first, second = run(layer)[0], run(layer)[0]
    assert all((first[cut] == second[cut]).all() for cut in first)


def test_gradients_add_up_until_the_update():
    layer = make_layer()
    once = {name: g.clone() for name, g in run(layer)[2].items() if g is not None}
    twice = run(layer)[2]
    for name, gradient in once.items():
        torch.testing.assert_close(twice[name], 2 * gradient)
    before = {name: p.detach().clone() for name, p in module_of(layer).named_parameters()}
    layer.finish_update(Adam(0.1, L2=0.0))
    for name, parameter in module_of(layer).named_parameters():
        assert torch.equal(parameter, before[name]) is (name == "unused")
        assert parameter.grad is None or (parameter.grad == 0).all()


def test_gradients_begin_anew_after_the_update():
    layer = make_layer()
    run(layer)
    layer.finish_update(Adam(0.0, L2=0.0))
    once = {name: g.clone() for name, g in run(layer)[2].items() if g is not None}
    twice = run(layer)[2]
    fresh = make_layer()
    for name, gradient in run(fresh)[2].items():
        if gradient is not None:
            torch.testing.assert_close(once[name], gradient)
            torch.testing.assert_close(twice[name], 2 * gradient)


@pytest.mark.parametrize("mixed_precision", [True, False])
def test_mixed_precision_is_for_gpus(mixed_precision):
    """On a CPU the flag is let pass: what was trained on a GPU runs, and trains, anywhere."""
    layer = make_layer(mixed_precision)
    plain = run(make_layer())
    by_sentence, d_vectors, _ = run(layer)
    for cut, scores in plain[0].items():
        assert scores.dtype == by_sentence[cut].dtype == np.float32
        np.testing.assert_array_equal(by_sentence[cut], scores)
    np.testing.assert_array_equal(np.concatenate(d_vectors), np.concatenate(plain[1]))
    layer.finish_update(Adam(0.1))
    assert layer.predict(inputs())


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("mixed_precision", [True, False])
def test_gpu(mixed_precision):
    from thinc.api import require_cpu, require_gpu

    wanted, d_wanted, _ = run(make_layer())
    require_gpu()
    try:
        layer = make_layer(mixed_precision)
        layer.shims[0].module.load_state_dict(make_layer().shims[0].module.state_dict())
        vectors = [layer.ops.asarray2f(v) for v in VECTORS]
        scored, backprop = layer.begin_update(Sentences(vectors, CUTS, {"kind": KINDS}))
        assert all(t.is_cuda and t.dtype == torch.float32 for b in scored for t in b.scores)
        gradients = backprop([tuple(torch.zeros_like(t) for t in b.scores) for b in scored])
        assert [g.shape for g in gradients] == [v.shape for v in d_wanted]
        layer.finish_update(Adam(0.1))
        assert wanted
    finally:
        require_cpu()


def test_bytes():
    layer = make_layer()
    run(layer)
    layer.finish_update(Adam(0.1))
    data = layer.to_bytes()
    other = torch_layer("toy", Toy, scale=2.0).from_bytes(data)
    assert other.to_bytes() == data
    for mine, theirs in zip(layer.predict(inputs()), other.predict(inputs()), strict=True):
        np.testing.assert_array_equal(mine.scores, theirs.scores)


def test_bytes_hold_sizes_and_tensors():
    layer = torch_layer("toy", Toy, scale=2.0)
    build_module(layer, width=WIDTH, size=5)
    stored = srsly.msgpack_loads(layer.shims[0].to_bytes())
    assert stored["sizes"] == {"width": WIDTH, "size": 5}
    other = torch_layer("toy", Toy, scale=2.0).from_bytes(layer.to_bytes())
    assert module_of(other).linear.out_features == 5


def test_before_the_module_is_made():
    layer = torch_layer("toy", Toy, scale=2.0)
    with pytest.raises(ValueError, match="no weights yet"):
        layer.predict(inputs())
    layer.finish_update(Adam(0.1))
    other = torch_layer("toy", Toy, scale=2.0).from_bytes(layer.to_bytes())
    with pytest.raises(ValueError, match="no weights yet"):
        other.predict(inputs())


def test_copies_are_apart():
    layer = make_layer()
    other = layer.copy()
    run(other)
    other.finish_update(Adam(0.1))
    fresh = make_layer()
    for mine, theirs in zip(layer.predict(inputs()), fresh.predict(inputs()), strict=True):
        np.testing.assert_array_equal(mine.scores, theirs.scores)
