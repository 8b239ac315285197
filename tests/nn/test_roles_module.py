"""The scorer of roles against its equations, word by word and span by span."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_biaffine.decode.roles import choose_arguments
from spacy_biaffine.nn.role_candidates import MIN_SPANS, Pruning, gold_spans, keep_best
from spacy_biaffine.nn.roles import RoleLabeller
from spacy_biaffine.nn.span_scorer import SpanScorer
from spacy_biaffine.types import SentenceBatch

WIDTH, ROLES, SENSES = 5, 3, 4


def make(longest: int = 99, **pruning) -> RoleLabeller:
    torch.manual_seed(0)
    settings = {
        "predicate_share": 0.6,
        "max_predicates": 30,
        "span_share": 0.6,
        "max_spans": 300,
        "max_span_length": None,
        **pruning,
    }
    return RoleLabeller(
        WIDTH, ROLES, SENSES, longest, span_size=6, role_size=7, pruning=Pruning(**settings)
    ).eval()


def batch_of(lengths: list[int], device="cpu", *, predicates=(), gold=(), may_be=0, senses=0):
    """predicates: (row, word) that are given. gold: (row, first, last word) of gold arguments."""
    n = max(lengths)
    torch.manual_seed(1)
    lengths = torch.tensor(lengths)
    mask = torch.arange(n) < lengths.unsqueeze(1)
    x = torch.randn(len(lengths), n, WIDTH) * mask.unsqueeze(2)
    predicate = torch.full(mask.shape, may_be).masked_fill(~mask, -1)
    for row, word in predicates:
        predicate[row, word] = 1
    ends = torch.full((*mask.shape, 2), -1)
    for row, first, last in gold:
        ends[row, first, int(ends[row, first, 0] >= 0)] = last
    numbers = torch.full((*mask.shape, max(1, senses)), -1)
    numbers[..., :senses] = torch.arange(senses)
    features = {"predicate": predicate, "ends": ends, "senses": numbers.where(mask[..., None], -1)}
    features = {name: value.to(device) for name, value in features.items()}
    return SentenceBatch(x.to(device), mask.to(device), lengths, features)


def difference(x: torch.Tensor, first: int, last: int) -> torch.Tensor:
    """s_ij of equation 4, of one sentence (n, width); halves overlap where the width is odd."""
    half, zero = (x.shape[1] + 1) // 2, torch.zeros_like(x[:1])
    x = torch.cat([x, zero])
    right = torch.cat([x[last + 1, :half], x[last, :half]])
    return right - torch.cat([x[first, -half:], x[first + 1, -half:]])


def phi(module: RoleLabeller, x: torch.Tensor, word: int, first: int, last: int) -> torch.Tensor:
    """Phi(v, a, l) over the roles l, from the equations."""
    span = difference(x, first, last)
    argument = torch.relu(module.argument.linear(span))
    hidden = module.argument_part(argument) + module.predicate_part(x[word])
    labels = module.role(torch.relu(module.norm(hidden)))
    return labels + of_span(module, x, first, last)[:1] + module.predicate(x[word])


def of_span(module: RoleLabeller, x: torch.Tensor, first: int, last: int) -> torch.Tensor:
    """Phi_a of a span, and what it is pruned by."""
    hidden = module.span.projection.linear(difference(x, first, last))
    return module.span.output(torch.relu(hidden))


@pytest.mark.parametrize("lengths", [[4], [5, 3], [1, 1], [6, 2, 1]])
def test_scores_equal_the_equations(lengths, device):
    module = make().to(device)
    batch = batch_of(lengths, device)
    scores = module(batch)
    pairs = 0
    for row, length in enumerate(lengths):
        x = batch.x[row, :length]
        torch.testing.assert_close(scores.predicates[row, :length], module.predicate(x)[:, 0])
        for v, word in enumerate(scores.places[row].tolist()):
            for a, (first, last) in enumerate(
                zip(scores.starts[row].tolist(), scores.ends[row].tolist(), strict=True)
            ):
                if word < 0 or first < 0:
                    continue
                pairs += 1
                assert 0 <= first <= last < length
                expected = phi(module, x, word, first, last)
                torch.testing.assert_close(scores.roles[row, v, a], expected)
    assert pairs


def test_every_span_is_scored():
    """By what it is pruned by, and not by Phi_a; gold arguments are told from others."""
    module = make()
    batch = batch_of([5, 3], gold=[(0, 1, 3), (1, 0, 0)])
    scores = module(batch)
    starts, ends = torch.ones(5, 5).triu().nonzero(as_tuple=True)
    for row, length in enumerate([5, 3]):
        for at, (first, last) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            if last >= length:
                assert scores.is_argument[row, at] == -1
                continue
            expected = of_span(module, batch.x[row, :length], first, last)[1]
            torch.testing.assert_close(scores.spans[row, at], expected)
            is_gold = (row, first, last) in {(0, 1, 3), (1, 0, 0)}
            assert scores.is_argument[row, at] == is_gold


def test_spans_are_pruned_by_their_own_score():
    module = make(max_spans=2)
    scores = module(batch_of([9]))
    starts, ends = torch.ones(9, 9).triu().nonzero(as_tuple=True)
    best = scores.spans[0].topk(2).indices
    assert set(zip(scores.starts[0].tolist(), scores.ends[0].tolist(), strict=True)) == set(
        zip(starts[best].tolist(), ends[best].tolist(), strict=True)
    )


def test_the_best_candidates_are_kept():
    """A share of the words and of the spans, by their own scores; short sentences keep all."""
    module = make()
    scores = module(batch_of([12, 3]))
    counts = [(row >= 0).sum().item() for row in scores.places]
    assert counts == [8, 2]  # 0.6 of 12, and of 3, rounded up
    spans = [(row >= 0).sum().item() for row in scores.starts]
    assert spans == [MIN_SPANS, 6]
    best = scores.predicates[0].topk(8).indices
    assert set(best.tolist()) == set(scores.places[0].tolist())
    (row,) = module(batch_of([25])).places
    assert (row >= 0).sum() == 15  # although 25 * 0.6 is more in float32
    limited = make(max_predicates=3, max_spans=2)(batch_of([12, 3]))
    assert limited.roles.shape == (2, 3, 2, ROLES)


def test_gold_is_never_pruned():
    gold = [(0, 0, 11), (0, 0, 3), (0, 7, 7), (1, 0, 2)]
    predicates = [(0, 1), (0, 2), (0, 5), (1, 1)]
    module = make(max_predicates=1, max_spans=1, predicate_share=0.01, span_share=0.01)
    scores = module(batch_of([12, 3], predicates=predicates, gold=gold))
    found = {
        (row, first, last)
        for row in (0, 1)
        for first, last in zip(scores.starts[row].tolist(), scores.ends[row].tolist(), strict=True)
        if first >= 0
    }
    assert found == set(gold)
    places = {(row, word) for row in (0, 1) for word in scores.places[row].tolist() if word >= 0}
    assert places == set(predicates)


def test_spans_are_no_longer_than_allowed():
    for module in (make(longest=2), make(max_span_length=2), make(longest=2, max_span_length=5)):
        scores = module(batch_of([9], gold=[(0, 0, 8)]))
        lengths = (scores.ends - scores.starts + 1)[scores.starts >= 0]
        assert 0 < len(lengths) <= 17
        assert lengths.max() == 2
    words = make(longest=1)(batch_of([9]))
    assert (words.starts == words.ends).all()


def test_words_that_are_none_are_no_candidates():
    module = make()
    scores = module(batch_of([5], predicates=[(0, 3)], may_be=-1))
    assert scores.places.tolist() == [[3]]
    nothing = module(batch_of([5, 2], may_be=-1))
    assert nothing.roles.shape[1] == nothing.senses.shape[1] == 0
    assert nothing.predicates.shape == (2, 5)


def test_span_scores_in_parts_are_the_same(monkeypatch):
    torch.manual_seed(0)
    scorer = SpanScorer(WIDTH, 7)
    x = torch.randn(2, 6, WIDTH, requires_grad=True)
    starts, ends = torch.ones(6, 6).triu().nonzero(as_tuple=True)
    results = []
    for chunk in (2**22, 60):
        monkeypatch.setattr("spacy_biaffine.nn.span_scorer.CHUNK", chunk)
        monkeypatch.setattr("spacy_biaffine.nn.span_scorer.CACHE", chunk // 2)
        scores = torch.stack(scorer(x, starts, ends))
        results.append(
            [scores, *torch.autograd.grad(scores.sin().sum(), [x, *scorer.parameters()])]
        )
        with torch.no_grad():
            torch.testing.assert_close(torch.stack(scorer(x, starts, ends)), scores)
    for one, two in zip(*results, strict=True):
        torch.testing.assert_close(one, two)


@settings(max_examples=60)
@given(st.data())
def test_keep_best(data):
    """Against sorting, row by row."""
    m = data.draw(st.integers(1, 7))
    rows = data.draw(st.integers(1, 3))
    flags = st.lists(st.lists(st.booleans(), min_size=m, max_size=m), min_size=rows, max_size=rows)
    forced, allowed = torch.tensor(data.draw(flags)), torch.tensor(data.draw(flags))
    order = [data.draw(st.permutations(range(m))) for _ in range(rows)]
    limits = data.draw(st.lists(st.integers(0, 8), min_size=rows, max_size=rows))
    scores = torch.tensor(order, dtype=torch.float32)
    best, there = keep_best(scores, forced, allowed, torch.tensor(limits))
    for row in range(rows):
        must = set(forced[row].nonzero().flatten().tolist())
        may = sorted(
            set(allowed[row].nonzero().flatten().tolist()) - must, key=lambda i: -order[row][i]
        )
        expected = must | set(may[: max(0, limits[row] - len(must))])
        assert set(best[row][there[row]].tolist()) == expected
        assert there[row].sum() == len(expected)


def test_gold_spans():
    ends = torch.tensor([[[-1, -1], [1, 2], [-1, -1]], [[0, -1], [-1, -1], [-1, -1]]])
    assert gold_spans(ends).nonzero().tolist() == [[0, 1, 1], [0, 1, 2], [1, 0, 0]]


def test_senses_are_those_that_a_word_may_have():
    module = make()
    batch = batch_of([4], senses=3)
    batch.features["senses"][0, :, 0] = -1
    scores = module(batch)
    expected = module.sense(batch.x[0])[scores.places[0]][:, [1, 2]]
    torch.testing.assert_close(scores.senses[0, :, 1:], expected)
    assert (scores.senses[0, :, 0] < -1e30).all()


# Prediction


def eager(module: RoleLabeller) -> RoleLabeller:
    """Every word is a predicate and has roles."""
    with torch.no_grad():
        module.predicate[-1].bias += 9
        module.span.output.bias += 9
    return module


def test_prediction_is_the_best_choice():
    """Roles and spans as by the decoder on scores from the equations."""
    module = eager(make(span_share=9.0))
    batch = batch_of([4, 2], senses=2)
    found = module.predict(batch, choose_arguments)
    assert len(found.rows) == len(found.senses) == 3 + 2
    starts, ends = np.ones((4, 4)).nonzero()
    for number, (row, word) in enumerate(zip(found.rows, found.places, strict=True)):
        length = int(batch.lengths[row])
        spans = [(i, j) for i, j in zip(starts, ends, strict=True) if i <= j < length]
        scores = torch.stack([phi(module, batch.x[row, :length], word, *span) for span in spans])
        best, labels = scores.max(dim=1)
        firsts, lasts = np.array(spans).T
        chosen = choose_arguments(firsts, lasts + 1, best.detach().numpy()[None])[0]
        mine = found.arguments[found.arguments[:, 0] == number]
        expected = sorted(
            (first, last + 1, label)
            for first, last, label in zip(
                firsts[chosen], lasts[chosen], labels[chosen], strict=True
            )
        )
        assert [tuple(each) for each in mine[:, 1:].tolist()] == expected
        probs = torch.nn.functional.pad(scores, (0, 1)).softmax(dim=1)[:, :-1].amax(dim=1)[chosen]
        ours = found.role_probs[found.arguments[:, 0] == number]
        np.testing.assert_allclose(np.sort(ours), probs.sort().values.detach(), atol=1e-5)
    assert (found.probs > 0.5).all()
    assert set(found.senses.tolist()) <= {0, 1}


def test_given_predicates_alone():
    module = make()
    given = batch_of([6, 3], predicates=[(0, 4), (1, 0), (1, 2)], may_be=-1)
    found = module.predict(given, choose_arguments)
    assert sorted(zip(found.rows.tolist(), found.places.tolist(), strict=True)) == [
        (0, 4),
        (1, 0),
        (1, 2),
    ]
    none = module.predict(batch_of([6, 3], may_be=-1), choose_arguments)
    assert len(none.rows) == len(none.arguments) == len(none.senses) == len(none.role_probs) == 0


def test_pairs_of_found_predicates_alone_are_scored():
    """A sentence with few predicates costs no more beside one with many."""
    module = make()
    words = [(0, 0), (0, 3), (0, 5), (1, 2)]
    seen = []
    for layer in (module.role, module.sense):
        layer.register_forward_hook(lambda layer, inputs, output: seen.append(output.shape[:-1]))
    module.predict(batch_of([6, 6], predicates=words, may_be=-1, senses=2), choose_arguments)
    assert [shape.numel() for shape in seen] == [4 * MIN_SPANS, 4]


def test_no_senses_known():
    found = eager(make()).predict(batch_of([4]), choose_arguments)
    assert set(found.senses.tolist()) == {-1}
    torch.manual_seed(0)
    pruning = Pruning(0.6, 30, 0.6, 300, None)
    module = RoleLabeller(WIDTH, ROLES, 0, 9, span_size=6, role_size=7, pruning=pruning)
    found = eager(module).predict(batch_of([4]), choose_arguments)
    assert set(found.senses.tolist()) == {-1}


def test_batch_equals_single(device):
    module = eager(make()).to(device)
    whole = module.predict(batch_of([9, 4, 1], device, senses=2), choose_arguments)
    for row, length in enumerate([9, 4, 1]):
        batch = batch_of([9, 4, 1], device, senses=2)
        alone = SentenceBatch(
            batch.x[row : row + 1, :length],
            batch.mask[row : row + 1, :length],
            batch.lengths[row : row + 1],
            {name: value[row : row + 1, :length] for name, value in batch.features.items()},
        )
        found = module.predict(alone, choose_arguments)
        mine = whole.rows == row
        assert whole.places[mine].tolist() == found.places.tolist()
        np.testing.assert_allclose(whole.probs[mine], found.probs, atol=1e-5)
        arguments = whole.arguments[np.isin(whole.arguments[:, 0], mine.nonzero()[0])]
        assert arguments[:, 1:].tolist() == found.arguments[:, 1:].tolist()
