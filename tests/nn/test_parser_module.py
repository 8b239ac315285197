"""The parser module against a slow one written from the equations, sentence by sentence."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from spacy_biaffine.decode.mst import decode_trees, is_tree
from spacy_biaffine.nn.parser import BiaffineParser
from spacy_biaffine.nn.splitter import SentenceSplitter
from spacy_biaffine.types import SentenceBatch

WIDTH, LABELS, TAGS = 5, 4, 3
LENGTHS = [6, 4, 1]
SETTINGS = {
    "layers": 1,
    "hidden": 4,
    "layer_norm": False,
    "tag_size": 0,
    "arc_size": 6,
    "label_size": 3,
    "normalize": True,
    "xavier_normal": False,
}
VARIANTS = [
    {},
    {"layers": 0},
    {"layers": 2, "layer_norm": True},
    {"tag_size": 2},
    {"normalize": False, "layers": 0, "tag_size": 3},
    {"layers": 0, "hops": 1},
    {"hops": 3, "normalize": False},
]


def make(roots=(), inner=(), **settings) -> BiaffineParser:
    torch.manual_seed(0)
    parser = BiaffineParser(WIDTH, LABELS, TAGS, roots, inner, **{**SETTINGS, **settings})
    with torch.no_grad():
        for parameter in parser.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return parser.eval()


def make_batch(device: str | torch.device = "cpu", lengths=tuple(LENGTHS)) -> SentenceBatch:
    rng = np.random.default_rng(1)
    n = max(lengths)
    mask = torch.arange(n)[None, :] < torch.tensor(lengths)[:, None]
    x = torch.from_numpy(rng.normal(size=(len(lengths), n, WIDTH)).astype("f")) * mask[..., None]
    heads = [[int(rng.integers(0, m + 1)) for _ in range(m)] + [-1] * (n - m) for m in lengths]
    tags = [[int(rng.integers(-1, TAGS)) for _ in range(m)] + [-1] * (n - m) for m in lengths]
    return SentenceBatch(
        x=x.to(device),
        mask=mask.to(device),
        lengths=torch.tensor(lengths),
        features={
            "head": torch.tensor(heads).to(device),
            "tag": torch.tensor(tags).to(device),
        },
    )


# The slow reference: one sentence, one word, one gate at a time.


def slow_lstm(lstm: torch.nn.LSTM, x: list[Tensor]) -> list[Tensor]:
    h = c = torch.zeros(lstm.hidden_size)
    states = []
    for word in x:
        gates = lstm.weight_ih_l0 @ word + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ h + lstm.bias_hh_l0
        i, f, g, o = gates.split(lstm.hidden_size)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        states.append(h)
    return states


def slow_states(parser: BiaffineParser, x: list[Tensor], tags: list[int]) -> list[Tensor]:
    if parser.tags is not None:
        table, bias = parser.tags.embedding.weight, parser.tags.bias
        pairs = zip(x, tags, strict=False)  # tags of the padding are left over
        x = [torch.cat([(table[t + 1] + bias).clamp(min=0), w]) for w, t in pairs]
    for layer in parser.lstm.layers:
        ahead = slow_lstm(layer.ahead, x)
        back = slow_lstm(layer.back, x[::-1])[::-1]
        x = [torch.cat(pair) for pair in zip(ahead, back, strict=True)]
        if not isinstance(layer.norm, torch.nn.Identity):
            x = [
                (w - w.mean()) / torch.sqrt(w.var(unbiased=False) + 1e-5) * layer.norm.weight
                + layer.norm.bias
                for w in x
            ]
    return x


def elu(y: Tensor) -> Tensor:
    return torch.where(y > 0, y, torch.exp(y) - 1)


def project(projection: torch.nn.Module, x: Tensor) -> Tensor:
    return elu(projection.linear.weight @ x + projection.linear.bias)


def slow_arcs(arc, head, dependent, nodes: list[Tensor]) -> list[list[Tensor | None]]:
    """Scores by dependent and head, None where no arc can be; node 0 is the root."""
    a = 1 / math.sqrt(len(arc.bias)) if arc.scale != 1 else 1.0
    rows = []
    for d in range(1, len(nodes)):
        x_d = project(dependent, nodes[d])
        x_hs = [project(head, node) for node in nodes]
        scores = [a * (x_h @ arc.weight @ x_d + x_h @ arc.bias) for x_h in x_hs]
        rows.append([score if h != d else None for h, score in enumerate(scores)])
    return rows


def slow_hop(hop: torch.nn.Module, nodes: list[Tensor]) -> list[Tensor]:
    """One pair of biaffine and graph attention."""
    m = len(nodes)
    arcs = torch.zeros(m, m)
    for d, scores in enumerate(slow_arcs(hop.arc, hop.head, hop.dependent, nodes), start=1):
        heads = [h for h in range(m) if scores[h] is not None]
        arcs[d, heads] = torch.softmax(torch.stack([scores[h] for h in heads]), 0)
    layer = hop.attention
    values = [layer.linear.weight @ node for node in nodes]
    states = []
    for i in range(m):
        weights = []
        for j in range(m):
            e = layer.receives[0] @ values[i] + layer.sends[0] @ values[j]
            w = 1.0 if i == j else arcs[i, j] + arcs[j, i] - arcs[i, j] * arcs[j, i]
            weights.append(w * torch.exp(e if e > 0 else 0.2 * e))
        attended = sum(w / sum(weights) * v for w, v in zip(weights, values, strict=True))
        states.append(elu(attended) + layer.own.weight @ nodes[i] + layer.own.bias)
    return states


def slow_scores(parser, x, tags, heads):
    """Arcs (n, n + 1), None where no arc can be, and labels (n, L)."""
    nodes = [parser.root, *slow_states(parser, x, tags)]
    for hop in parser.hops:
        nodes = slow_hop(hop, nodes)
    p = parser.projections
    arcs = slow_arcs(parser.arc, p["arc_head"], p["arc_dependent"], nodes)
    labels = []
    for d, word in enumerate(nodes[1:]):
        r_h = project(p["label_head"], nodes[max(heads[d], 0)])
        r_d = project(p["label_dependent"], word)
        weight, bias = parser.label.weight, parser.label.bias
        labels.append([(r_h @ weight[:, r] @ r_d + r_h @ bias[:, r]).item() for r in range(LABELS)])
    return arcs, labels


@pytest.mark.parametrize("settings", VARIANTS)
@torch.no_grad()
def test_scores_equal_the_slow_reference(settings):
    parser, batch = make(**settings), make_batch()
    scores = parser(batch)
    assert scores.arcs.shape == (3, 6, 7)
    assert scores.labels.shape == (3, 6, LABELS)
    assert (parser.arc.scale == 1) is (settings.get("normalize") is False)
    lowest = torch.finfo(torch.float32).min
    for b, n in enumerate(LENGTHS):
        features = {key: value[b, :n].tolist() for key, value in batch.features.items()}
        arcs, labels = slow_scores(parser, list(batch.x[b, :n]), features["tag"], features["head"])
        for d in range(n):
            for h in range(7):
                score = scores.arcs[b, d, h].item()
                if h > n or h == d + 1:
                    assert score == lowest
                else:
                    assert score == pytest.approx(arcs[d][h].item(), abs=1e-5)
        np.testing.assert_allclose(scores.labels[b, :n], labels, atol=1e-5)


@pytest.mark.parametrize("settings", VARIANTS)
@torch.no_grad()
def test_padding_and_company_do_not_change_scores(settings):
    parser, batch = make(**settings).double(), make_batch()
    batch = replace(batch, x=batch.x.double())
    scores = parser(batch)
    for b, n in enumerate(LENGTHS):
        alone = SentenceBatch(
            x=batch.x[b : b + 1, :n],
            mask=batch.mask[b : b + 1, :n],
            lengths=batch.lengths[b : b + 1],
            features={key: value[b : b + 1, :n] for key, value in batch.features.items()},
        )
        single = parser(alone)
        torch.testing.assert_close(single.arcs[0], scores.arcs[b, :n, : n + 1], atol=1e-6, rtol=0)
        torch.testing.assert_close(single.labels[0], scores.labels[b, :n], atol=1e-6, rtol=0)


@torch.no_grad()
def test_what_stands_at_padding_is_not_read():
    parser, batch = make(layers=2), make_batch()
    noisy = SentenceBatch(
        torch.where(batch.mask[..., None], batch.x, 1e3), batch.mask, batch.lengths, batch.features
    )
    for clean, other in zip(parser(batch), parser(noisy), strict=True):
        torch.testing.assert_close(clean[batch.mask], other[batch.mask], atol=1e-6, rtol=0)


@pytest.mark.parametrize("settings", VARIANTS)
def test_predictions_are_trees_with_probabilities(device, settings):
    parser, batch = make(**settings).to(device), make_batch(device)
    arcs = parser.predict(batch, decode_trees)
    scores = parser(batch).arcs.detach().cpu().log_softmax(-1).exp()
    for b, n in enumerate(LENGTHS):
        heads = arcs.heads[b, :n]
        assert is_tree(heads)
        assert ((arcs.labels[b, :n] >= 0) & (arcs.labels[b, :n] < LABELS)).all()
        for d in range(n):
            assert arcs.head_probs[b, d] == pytest.approx(scores[b, d, heads[d]].item(), abs=1e-5)
        for probabilities in (arcs.head_probs[b, :n], arcs.label_probs[b, :n]):
            assert ((probabilities > 0) & (probabilities <= 1)).all()
        # The best of L labels is never below chance.
        assert (arcs.label_probs[b, :n] >= 1 / LABELS - 1e-6).all()


@torch.no_grad()
def test_predicted_labels_are_those_of_the_predicted_heads():
    parser, batch = make(), make_batch()
    arcs = parser.predict(batch, decode_trees)
    batch.features["head"].copy_(torch.from_numpy(arcs.heads))
    labels = parser(batch).labels.softmax(-1).max(-1)
    mask = batch.mask.numpy()
    np.testing.assert_array_equal(labels.indices.numpy()[mask], arcs.labels[mask])
    np.testing.assert_allclose(labels.values.numpy()[mask], arcs.label_probs[mask], atol=1e-6)


def test_root_labels_at_roots_alone():
    roots, inner = [2], [0, 3]
    arcs = make(roots=roots, inner=inner).predict(make_batch(), decode_trees)
    free = make().predict(make_batch(), decode_trees)
    mask = make_batch().mask.numpy()
    at_root = arcs.heads == 0
    assert set(arcs.labels[mask & at_root]) == {2}
    assert set(arcs.labels[mask & ~at_root]) <= {0, 3}
    assert (arcs.heads == free.heads).all()
    assert set(free.labels[mask & at_root]) != {2} or 2 in free.labels[mask & ~at_root]


@pytest.mark.parametrize("settings", VARIANTS)
def test_gradients_are_finite_and_reach_every_weight(device, settings):
    parser, batch = make(**settings).train().to(device), make_batch(device)
    batch.x.requires_grad_()
    scores = parser(batch)
    heads = batch.features["head"]
    known = (heads >= 0) & (heads != torch.arange(1, 7, device=device))
    loss = torch.nn.functional.cross_entropy(scores.arcs[known], heads[known])
    loss = loss + scores.labels[batch.mask].logsumexp(-1).sum()
    loss.backward()
    gradients = {name: p.grad for name, p in parser.named_parameters()} | {"x": batch.x.grad}
    for name, gradient in gradients.items():
        assert gradient is not None, name
        assert gradient.isfinite().all(), name
        assert gradient.abs().sum() > 0, name
    assert (batch.x.grad[~batch.mask] == 0).all()


@pytest.mark.parametrize("settings", VARIANTS)
def test_bf16(device, settings):
    parser = make(**settings).to(device, torch.bfloat16)
    batch = make_batch(device)
    half = SentenceBatch(batch.x.bfloat16(), batch.mask, batch.lengths, batch.features)
    scores = parser(half)
    assert {tensor.dtype for tensor in scores} == {torch.bfloat16}
    assert all(tensor.isfinite().all() for tensor in scores)
    arcs = parser.predict(half, decode_trees)
    assert all(is_tree(arcs.heads[b, :n]) for b, n in enumerate(LENGTHS))
    assert np.isfinite(arcs.head_probs).all()
    assert np.isfinite(arcs.label_probs).all()


@pytest.mark.parametrize("settings", VARIANTS)
def test_no_tensor_is_made_on_another_device(settings):
    """On the meta device there are no numbers: a tensor made on the CPU would not fit in."""
    parser = make(**settings).to("meta")
    assert {tensor.device.type for tensor in parser(make_batch("meta"))} == {"meta"}
    splitter = SentenceSplitter(WIDTH, 7).to("meta")
    assert splitter(make_batch("meta")).starts.device.type == "meta"


def test_the_meta_test_would_see_a_tensor_on_the_cpu():
    mask = torch.ones(2, 3, dtype=torch.bool)
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.zeros(2, 3, device="meta").masked_fill(mask, 1.0)
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.cat([torch.zeros(2, 3, device="meta"), torch.zeros(2, 3)])


def test_dropout_off_is_deterministic():
    parser, batch = make(layers=2), make_batch()
    for part in parser.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.5
    first, second = parser(batch), parser(batch)
    torch.testing.assert_close(first.arcs, second.arcs, atol=0, rtol=0)
    parser.train()
    assert not torch.equal(parser(batch).labels, parser(batch).labels)


def test_unknown_tags_have_only_the_bias():
    parser = make(tag_size=2)
    x = torch.zeros(1, 1, WIDTH)
    embedded = parser.tags(x, torch.tensor([[-1]]))[0, 0, :2]
    wanted = (parser.tags.bias + parser.tags.embedding.weight[0]).clamp(min=0)
    torch.testing.assert_close(embedded, wanted)
    fresh = BiaffineParser(WIDTH, LABELS, 0, (), (), **{**SETTINGS, "tag_size": 2})
    assert (fresh.tags.embedding.weight[0] == 0).all()
    assert (fresh.tags(x, torch.tensor([[-1]])) == 0).all()


# The splitter


@torch.no_grad()
def test_start_scores_equal_the_slow_reference(device):
    torch.manual_seed(0)
    splitter = SentenceSplitter(WIDTH, 7).to(device).eval()
    batch = make_batch(device)
    scores = splitter.predict(batch)
    assert scores.shape == (3, 6)
    for b, n in enumerate(LENGTHS):
        states = [splitter.input(word) for word in batch.x[b, :n]]
        for layer, distance in zip(splitter.layers, splitter.distances, strict=True):
            conv, normed, new = layer.convolution, [layer.norm(state) for state in states], []
            for i, state in enumerate(states):
                seen = conv.bias.clone()
                for k, at in enumerate((i - distance, i, i + distance)):
                    if 0 <= at < n:
                        seen += conv.weight[:, :, k] @ normed[at]
                new.append(state + torch.nn.functional.gelu(seen))
            states = new
        wanted = [splitter.output(state).item() for state in states]
        assert scores[b, :n].tolist() == pytest.approx(wanted, abs=1e-5)


def test_splitter_gradients():
    splitter, batch = SentenceSplitter(WIDTH, 7), make_batch()
    batch.x.requires_grad_()
    splitter(batch).starts[batch.mask].sum().backward()
    assert all(p.grad.isfinite().all() and p.grad.abs().sum() > 0 for p in splitter.parameters())
    assert batch.x.grad.isfinite().all()
