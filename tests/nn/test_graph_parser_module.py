"""The graph parser module. Without a tagger it computes what the parser of trees does, which has a
slow reference."""

import numpy as np
import pytest
import torch

from spacy_biaffine.models.arc_heads import START, GraphArcs, TreeArcs
from spacy_biaffine.nn import graph_parser
from spacy_biaffine.nn.graph_parser import BiaffineGraphParser, EntityTagger
from spacy_biaffine.nn.parser import BiaffineParser
from spacy_biaffine.types import SentenceBatch

WIDTH, LABELS, TAGS = 5, 4, 3
LENGTHS = [6, 4, 1]
SIZES = {"layers": 1, "hidden": 4, "tag_size": 2, "arc_size": 6, "label_size": 3}
SETTINGS = {**SIZES, "layer_norm": False, "normalize": True, "xavier_normal": False, "hops": 0}
VARIANTS = [
    {"tagger_size": 0},
    {"tagger_size": 7},
    {"tagger_size": 7, "tagger_lstm": False, "layers": 0, "hops": 2},
    {"tagger_size": 7, "tag_size": 0, "arcs": TreeArcs(), "hops": 1},
]


def make(**settings) -> BiaffineGraphParser:
    torch.manual_seed(0)
    defaults = {"arcs": GraphArcs(), "tagger_size": 0, "tagger_lstm": True}
    parser = BiaffineGraphParser(WIDTH, LABELS, TAGS, **{**SETTINGS, **defaults, **settings})
    with torch.no_grad():
        for parameter in parser.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return parser.eval()


def make_batch(device: str | torch.device = "cpu") -> SentenceBatch:
    """Words have up to two heads, and none at padding."""
    rng = np.random.default_rng(1)
    n = max(LENGTHS)
    mask = torch.arange(n)[None, :] < torch.tensor(LENGTHS)[:, None]
    x = torch.from_numpy(rng.normal(size=(3, n, WIDTH)).astype("f")) * mask[..., None]
    heads = torch.full((3, n, 2), -1)
    tags = torch.full((3, n), -1)
    for b, m in enumerate(LENGTHS):
        tags[b, :m] = torch.from_numpy(rng.integers(-1, TAGS, m))
        for word in range(m):
            found = rng.choice(m + 1, int(rng.integers(0, min(2, m) + 1)), replace=False)
            heads[b, word, : len(found)] = torch.from_numpy(found)
    features = {"heads": heads.to(device), "tag": tags.to(device)}
    return SentenceBatch(x.to(device), mask.to(device), torch.tensor(LENGTHS), features)


def tree_parser(parser: BiaffineGraphParser, **settings) -> BiaffineParser:
    """With the same weights, but for the tagger's."""
    other = BiaffineParser(WIDTH, LABELS, TAGS, (), (), **{**SETTINGS, **settings}).eval()
    state = {k: v for k, v in parser.state_dict().items() if not k.startswith("tagger.")}
    other.load_state_dict(state)
    return other


@pytest.mark.parametrize("settings", [{}, {"layers": 0, "tag_size": 0}, {"normalize": False}])
@torch.no_grad()
def test_scores_are_those_of_the_parser_of_trees(settings):
    parser, batch = make(**settings), make_batch()
    scores = parser(batch)
    assert scores.tags.shape == (3, 6, 0)
    heads = batch.features["heads"]
    assert (heads >= 0).sum() == len(scores.labels) > 5
    expected = []
    for slot in range(2):
        batch.features["head"] = heads[..., slot]
        tree = tree_parser(parser, **settings)(batch)
        torch.testing.assert_close(tree.arcs, scores.arcs, atol=0, rtol=0)
        expected.append(tree.labels)
    at = heads >= 0
    wanted = torch.stack(expected, dim=2)[at]
    torch.testing.assert_close(scores.labels, wanted, atol=1e-6, rtol=0)


@pytest.mark.parametrize("lstm", [True, False])
@torch.no_grad()
def test_tagger(lstm):
    torch.manual_seed(0)
    tagger, batch = EntityTagger(WIDTH, TAGS, size=7, lstm=lstm).eval(), make_batch()
    scores = tagger(batch)
    assert scores.shape == (3, 6, TAGS)
    x = tagger.lstm(batch.x, batch.lengths) if lstm else batch.x
    assert x.shape[-1] == (14 if lstm else WIDTH)
    linear, output = tagger.hidden.linear, tagger.output
    hidden = torch.nn.functional.elu(x @ linear.weight.T + linear.bias)
    torch.testing.assert_close(scores, hidden @ output.weight.T + output.bias, atol=1e-6, rtol=0)


@torch.no_grad()
def test_the_best_tags_of_the_tagger_are_embedded():
    parser, batch = make(tagger_size=7), make_batch()
    for mode in (parser.train(), parser.eval()):
        scores = mode(batch)
        batch.features["tag"].copy_(scores.tags.argmax(-1))
        given = make(tagger_size=0)
        shared = set(given.state_dict())
        given.load_state_dict({k: v for k, v in parser.state_dict().items() if k in shared})
        torch.testing.assert_close(given(batch).arcs, scores.arcs, atol=1e-6, rtol=0)
    found = parser.predict(batch).tags
    assert (found == batch.features["tag"].numpy()).all()
    assert (make(tagger_size=0).predict(batch).tags == -1).all()


def test_arcs_do_not_train_the_tagger():
    """Tags are chosen, and a choice has no gradient."""
    parser, batch = make(tagger_size=7), make_batch()
    scores = parser(batch)
    lowest = torch.finfo(torch.float32).min
    loss = scores.arcs[scores.arcs > lowest].sum() + scores.labels.sum()
    weights = list(parser.tagger.parameters())
    assert torch.autograd.grad(loss, weights, allow_unused=True) == (None,) * len(weights)
    gradients = torch.autograd.grad(scores.tags[batch.mask].square().sum(), weights)
    assert all(gradient.abs().sum() > 0 for gradient in gradients)


@pytest.mark.parametrize("settings", VARIANTS)
@torch.no_grad()
def test_padding_and_company_do_not_change_scores(settings):
    parser, batch = make(**settings), make_batch()
    scores = parser(batch)
    start = 0
    for b, n in enumerate(LENGTHS):
        one = slice(b, b + 1)
        features = {key: value[one, :n] for key, value in batch.features.items()}
        alone = parser(
            SentenceBatch(batch.x[one, :n], batch.mask[one, :n], batch.lengths[one], features)
        )
        end = start + len(alone.labels)
        torch.testing.assert_close(alone.arcs[0], scores.arcs[b, :n, : n + 1], atol=1e-6, rtol=0)
        torch.testing.assert_close(alone.labels, scores.labels[start:end], atol=1e-6, rtol=0)
        torch.testing.assert_close(alone.tags[0], scores.tags[b, :n], atol=1e-6, rtol=0)
        start = end
    assert start == len(scores.labels)


@pytest.mark.parametrize("settings", VARIANTS)
def test_gradients_are_finite_and_reach_every_weight(device, settings):
    parser, batch = make(**settings).train().to(device), make_batch(device)
    batch.x.requires_grad_()
    scores = parser(batch)
    loss = scores.arcs[scores.arcs > torch.finfo(torch.float32).min].square().sum()
    loss = loss + scores.labels.square().sum() + scores.tags[batch.mask].square().sum()
    loss.backward()
    gradients = {name: p.grad for name, p in parser.named_parameters()} | {"x": batch.x.grad}
    for name, gradient in gradients.items():
        assert gradient is not None, name
        assert gradient.isfinite().all(), name
        assert gradient.abs().sum() > 0, name
    assert (batch.x.grad[~batch.mask] == 0).all()


def test_no_gold_arcs():
    parser, batch = make(), make_batch()
    batch.features["heads"].fill_(-1)
    batch.x.requires_grad_()
    scores = parser(batch)
    assert scores.labels.shape == (0, LABELS)
    outputs = list(scores)
    (gradient,) = torch.autograd.grad(outputs, batch.x, [torch.zeros_like(o) for o in outputs])
    assert (gradient == 0).all()


@pytest.mark.parametrize("share", [None, 0.5, 0.1])
def test_prediction(device, share, monkeypatch):
    """Trees, or graphs that have this share of all arcs."""
    parser, batch = make().to(device), make_batch(device)
    with torch.no_grad():
        scores = parser(batch).arcs.cpu()
    tree = share is None
    probs = (torch.softmax(scores, -1) if tree else torch.sigmoid(scores - START)).numpy()
    possible = probs[scores.numpy() > torch.finfo(torch.float32).min]
    arcs = TreeArcs() if share is None else GraphArcs(float(np.quantile(possible, 1 - share)))
    parser.arcs = arcs
    found = parser.predict(batch)
    assert len(found.labels) == len(found.arc_probs) == len(found.label_probs) > 0
    np.testing.assert_allclose(found.arc_probs, probs[tuple(found.arcs)], atol=1e-6)
    assert ((found.label_probs >= 1 / LABELS) & (found.label_probs <= 1)).all()
    if isinstance(arcs, GraphArcs):
        above = {tuple(place) for place in np.argwhere(probs > arcs.threshold).tolist()}
        in_words = {(b, d, h) for b, d, h in above if d < LENGTHS[b]}
        assert set(zip(*(each.tolist() for each in found.arcs), strict=True)) == in_words
    else:
        words = [(b, d) for b, n in enumerate(LENGTHS) for d in range(n)]
        assert list(zip(found.arcs.sentences, found.arcs.dependents, strict=True)) == words
    # Arcs get their labels some at a time.
    monkeypatch.setattr(graph_parser, "MAX_VIEWS", 2 * 3 * LABELS)
    again = parser.predict(batch)
    assert (again.labels == found.labels).all()
    np.testing.assert_allclose(again.label_probs, found.label_probs, atol=1e-6)


@torch.no_grad()
def test_predicted_labels_are_those_of_the_predicted_arcs():
    parser, batch = make(arcs=TreeArcs()), make_batch()
    found = parser.predict(batch)
    batch.features["heads"] = torch.full((3, 6, 1), -1)
    sentences, dependents, heads = map(torch.from_numpy, found.arcs)
    batch.features["heads"][sentences, dependents, 0] = heads
    best = parser(batch).labels.softmax(-1).max(-1)
    np.testing.assert_array_equal(best.indices.numpy(), found.labels)
    np.testing.assert_allclose(best.values.numpy(), found.label_probs, atol=1e-6)


def test_nothing_is_found_where_nothing_is_likely():
    parser, batch = make(arcs=GraphArcs(threshold=0.999)), make_batch()
    found = parser.predict(batch)
    assert len(found.labels) == len(found.arc_probs) == len(found.arcs.heads) == 0


@pytest.mark.parametrize("settings", VARIANTS)
def test_bf16(device, settings):
    parser, batch = make(**settings).to(device, torch.bfloat16), make_batch(device)
    half = SentenceBatch(batch.x.bfloat16(), batch.mask, batch.lengths, batch.features)
    assert {tensor.dtype for tensor in parser(half)} == {torch.bfloat16}
    found = parser.predict(half)
    assert np.isfinite(found.arc_probs).all()
    assert np.isfinite(found.label_probs).all()


@pytest.mark.parametrize("settings", VARIANTS)
def test_no_tensor_is_made_on_another_device(settings):
    """But for the labels, whose number depends on what the numbers are."""
    parser, batch = make(**settings).to("meta"), make_batch("meta")
    tags, states, rows = parser._read(batch)
    assert {tags.device.type, parser.arc_scores(batch, states, rows).device.type} == {"meta"}
