"""GlobalPointer against loops written from the equations."""

import math

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from spacy_biaffine.nn import global_pointer
from spacy_biaffine.nn.global_pointer import (
    EfficientGlobalPointer,
    GlobalPointer,
    SpanPointer,
    SpanScores,
    allowed_spans,
    find_spans,
    rotate,
)
from spacy_biaffine.types import SentenceBatch

D, TYPES, WIDTH = 6, 3, 5
POINTERS = [EfficientGlobalPointer, GlobalPointer]


def rotated(x: Tensor, position: int) -> Tensor:
    """One vector, pair by pair with a rotation matrix."""
    turned = torch.zeros_like(x)
    for m in range(len(x) // 2):
        angle = position * 10000 ** (-2 * m / len(x))
        matrix = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        turned[2 * m : 2 * m + 2] = torch.tensor(matrix, dtype=x.dtype) @ x[2 * m : 2 * m + 2]
    return turned


def full(scores: SpanScores) -> Tensor:
    """(B, T, n, n)"""
    starts, ends = scores.sides.transpose(3, 4).unbind(2)
    whole = scores.pairs.unsqueeze(2) + starts.unsqueeze(4) + ends.unsqueeze(3)
    return whole.flatten(1, 2)


def batch_of(lengths: list[int], width: int = WIDTH, device: str = "cpu") -> SentenceBatch:
    n = max(lengths)
    mask = torch.arange(n) < torch.tensor(lengths).unsqueeze(1)
    x = torch.randn(len(lengths), n, width) * mask.unsqueeze(2)
    return SentenceBatch(x.to(device), mask.to(device), torch.tensor(lengths), {})


def span_pointer(**settings) -> SpanPointer:
    options = {"layers": 1, "hidden": 4, "size": D, "efficient": True, "max_span_length": None}
    return SpanPointer(WIDTH, TYPES, **{**options, **settings})


def test_rotation_of_every_position(device):
    x = torch.randn(2, 7, D)
    found = rotate(x.to(device)).cpu()
    for row in range(2):
        for position in range(7):
            torch.testing.assert_close(found[row, position], rotated(x[row, position], position))


def test_only_the_distance_of_positions_counts():
    q, k = torch.randn(D), torch.randn(D)
    products = rotate(q.expand(60, D)) @ rotate(k.expand(60, D)).T
    for distance in (0, 1, 20):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal))
    assert not torch.allclose(products[0, 1], products[0, 2])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_rotation_keeps_dtype_and_length(dtype):
    x = torch.ones(5000, 4, dtype=dtype)
    turned = rotate(x)
    assert turned.dtype == dtype
    norms = turned.float().norm(dim=1)
    torch.testing.assert_close(norms, torch.full_like(norms, 2.0), rtol=0.01, atol=0)


def test_efficient_scores_by_the_equation():
    pointer = EfficientGlobalPointer(WIDTH, TYPES, D).double()
    x = torch.randn(2, 4, WIDTH, dtype=torch.float64)
    allowed = torch.ones(2, 4, 4, dtype=torch.bool)
    found = full(pointer(x, allowed))
    weight = pointer.types.weight  # starts of all types, then ends
    for b in range(2):
        q, k = (pointer.views(x[b])[:, part] for part in (slice(0, D), slice(D, 2 * D)))
        for i in range(4):
            for j in range(4):
                product = rotated(q[i], i) @ rotated(k[j], j) / math.sqrt(D)
                for t in range(TYPES):
                    w = torch.cat([weight[t], weight[TYPES + t]])
                    bias = w @ torch.cat([q[i], k[i], q[j], k[j]]) + pointer.bias[t]
                    torch.testing.assert_close(found[b, t, i, j], product + bias)


def test_original_scores_by_the_equation():
    pointer = GlobalPointer(WIDTH, TYPES, D).double()
    x = torch.randn(1, 4, WIDTH, dtype=torch.float64)
    found = full(pointer(x, torch.ones(1, 4, 4, dtype=torch.bool)))
    weight, bias = pointer.views.weight, pointer.views.bias
    for t in range(TYPES):
        q, k = (
            x[0] @ weight[at : at + D].T + bias[at : at + D] for at in (t * D, TYPES * D + t * D)
        )
        for i in range(4):
            for j in range(4):
                wanted = rotated(q[i], i) @ rotated(k[j], j) / math.sqrt(D) + pointer.bias[t]
                torch.testing.assert_close(found[0, t, i, j], wanted)


@pytest.mark.parametrize(
    ("pointer", "weights"), [(EfficientGlobalPointer, 4 * 64), (GlobalPointer, 2 * 64 * (96 + 1))]
)
def test_what_a_type_costs(pointer, weights):
    def count(types: int) -> int:
        return sum(p.numel() for p in pointer(96, types, 64).parameters())

    assert count(8) - count(7) == weights + 1


def test_allowed_spans():
    mask = torch.tensor([[True, True, True], [True, False, False]])
    found = allowed_spans(mask, None).int().tolist()
    assert found == [[[1, 1, 1], [0, 1, 1], [0, 0, 1]], [[1, 0, 0], [0, 0, 0], [0, 0, 0]]]
    assert allowed_spans(mask, 2)[0].int().tolist() == [[1, 1, 0], [0, 1, 1], [0, 0, 1]]
    assert allowed_spans(mask, 99)[0].int().tolist() == found[0]


@pytest.mark.parametrize("pointer", POINTERS)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_barred_spans_are_finite_and_lowest(pointer, dtype):
    """Padding, and ends before starts; also in half precision, and for large vectors."""
    module = pointer(WIDTH, TYPES, D).to(dtype)
    with torch.no_grad():
        module.bias -= 50
    mask = batch_of([6, 1]).mask
    scores = module((100 * torch.randn(2, 6, WIDTH)).to(dtype), allowed_spans(mask, None))
    whole = full(scores)
    assert whole.isfinite().all()
    barred = ~allowed_spans(mask, None).unsqueeze(1).expand_as(whole)
    assert (whole[barred] < -1e4).all()


@pytest.mark.parametrize("efficient", [True, False])
def test_padding_changes_nothing(efficient):
    module = span_pointer(efficient=efficient)
    batch = batch_of([6, 3])
    short = SentenceBatch(batch.x[1:, :3], batch.mask[1:, :3], batch.lengths[1:], {})
    torch.testing.assert_close(full(module(batch))[1:, :, :3, :3], full(module(short)))


def brute_force(scores: SpanScores, threshold: float) -> dict[tuple[int, ...], float]:
    whole = full(scores)
    places = (whole > threshold).nonzero().tolist()
    return {(b, i, j, t): whole[b, t, i, j].item() for b, t, i, j in places}


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("chunk", [2, global_pointer.CHUNK])
def test_all_spans_above_the_threshold_are_found(groups, chunk, monkeypatch, device):
    monkeypatch.setattr(global_pointer, "CHUNK", chunk)
    rng = torch.Generator().manual_seed(groups)
    for _ in range(20):
        pairs = torch.randn(2, groups, 5, 5, generator=rng)
        sides = torch.randn(2, groups, 2, 5, 4 // groups, generator=rng)
        scores = SpanScores(pairs.to(device), sides.to(device))
        for threshold in (-1.0, 0.0, 2.5, 50.0):
            found = find_spans(scores, torch.tensor([99, 99]), threshold)
            columns = (found.rows, found.firsts, found.lasts, found.types)
            keys = zip(*(column.tolist() for column in columns), strict=True)
            mine = dict(zip(keys, found.scores.tolist(), strict=True))
            assert mine == brute_force(scores, threshold)


def test_too_many_spans_are_cut_to_the_most_promising_of_each_sentence():
    pairs = torch.arange(50.0).reshape(2, 1, 5, 5)
    scores = SpanScores(pairs, torch.zeros(2, 1, 2, 5, 1))
    found = find_spans(scores, torch.tensor([3, 99]), -1.0)
    assert found.scores[found.rows == 0].tolist() == [22.0, 23.0, 24.0]
    assert len(found.scores) == 3 + 25


def test_nothing_is_found():
    found = span_pointer().predict(batch_of([4, 2]), 1000.0)
    assert [len(column) for column in found] == [0] * 5
    assert found.scores.dtype == np.float32


@pytest.mark.parametrize("efficient", [True, False])
def test_predictions_are_spans_of_the_sentence(efficient):
    module = span_pointer(efficient=efficient, max_span_length=3).eval()
    found = module.predict(batch_of([6, 2]), -1000.0)
    assert (found.firsts <= found.lasts).all()
    assert (found.lasts - found.firsts < 3).all()
    assert (found.lasts < np.array([6, 2])[found.rows]).all()
    # Spans of up to three words in six words, and in two.
    assert len(found.scores) == TYPES * ((6 + 5 + 4) + (2 + 1))


def test_original_says_when_scores_do_not_fit(monkeypatch):
    monkeypatch.setattr(global_pointer, "MAX_SCORES", 3 * 100)
    module = span_pointer(efficient=False)
    assert module(batch_of([10])).pairs.shape == (1, TYPES, 10, 10)
    with pytest.raises(ValueError, match=r"1 x 11 x 11 spans with 3 types: set efficient = true"):
        module(batch_of([11]))


@pytest.mark.parametrize("efficient", [True, False])
def test_autocast_in_half_precision(efficient, device):
    kinds = [torch.bfloat16] if device.type == "cpu" else [torch.bfloat16, torch.float16]
    module = span_pointer(efficient=efficient, layers=0).to(device)
    for dtype in kinds:
        with torch.autocast(device.type, dtype=dtype):
            scores = module(batch_of([6, 1], device=device))
        total = full(SpanScores(*(t.float() for t in scores))).logsumexp(dim=(2, 3)).sum()
        total.backward()
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        assert gradients
        assert all(g.isfinite().all() for g in gradients)


def test_new_tensors_are_made_on_the_device_of_the_input():
    module = span_pointer(layers=0).to("meta")
    assert full(module(batch_of([5, 2], device="meta"))).device.type == "meta"


def test_new_models_find_next_to_nothing():
    module = span_pointer()
    with torch.no_grad():
        assert (full(module(batch_of([20]))) < 0).all()
    assert isinstance(module.pointer, nn.Module)
