"""The label attention network against a slow one written from the equations."""

import math

import pytest
import torch
from torch import Tensor, nn

from spacy_biaffine.nn.label_attention import LabelAttention, LabelAttentionNetwork
from spacy_biaffine.types import SentenceBatch

WIDTH, LABELS, HIDDEN = 5, 7, 4
LENGTHS = [6, 4, 1]


def make(layers: int = 3, heads: int = 2, labels: int = LABELS, hidden: int = HIDDEN):
    torch.manual_seed(0)
    network = LabelAttentionNetwork(WIDTH, labels, layers=layers, hidden=hidden, heads=heads)
    with torch.no_grad():
        network.labels.normal_()
    return network.eval()


def make_batch(lengths=LENGTHS, device: str | torch.device = "cpu") -> SentenceBatch:
    torch.manual_seed(1)
    mask = torch.arange(max(lengths))[None, :] < torch.tensor(lengths)[:, None]
    x = torch.randn(*mask.shape, WIDTH) * mask[..., None]
    return SentenceBatch(x.to(device), mask.to(device), torch.tensor(lengths), {})


# The slow reference: one sentence, one word, one head at a time.


def slow_lstm(lstm: nn.LSTM, x: list[Tensor]) -> list[Tensor]:
    cell = nn.LSTMCell(lstm.input_size, lstm.hidden_size)
    with torch.no_grad():
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            getattr(cell, name).copy_(getattr(lstm, f"{name}_l0"))
    states, state = [], None
    for word in x:
        state = cell(word[None], state)
        states.append(state[0][0])
    return states


def slow_bilstm(layer: nn.Module, x: list[Tensor]) -> list[Tensor]:
    ahead, back = slow_lstm(layer.ahead, x), slow_lstm(layer.back, x[::-1])[::-1]
    return [torch.cat(pair) for pair in zip(ahead, back, strict=True)]


def slow_attention(layer: LabelAttention, word: Tensor, labels: Tensor) -> Tensor:
    width = len(word) // layer.heads
    heads = []
    for i in range(layer.heads):
        rows = slice(i * width, (i + 1) * width)
        query = layer.query.weight[rows] @ word
        keys = [layer.key.weight[rows] @ label for label in labels]
        values = [layer.value.weight[rows] @ label for label in labels]
        scores = torch.stack([query @ key / math.sqrt(width) for key in keys])
        alpha = torch.softmax(scores, dim=0)
        heads.append(sum(a * value for a, value in zip(alpha, values, strict=True)))
    return torch.cat(heads) + word


def slow_scores(network: LabelAttentionNetwork, x: list[Tensor]) -> Tensor:
    for number, lstm in enumerate(network.lstms):
        words = slow_bilstm(lstm, x)
        if number < len(network.attentions):
            attention = network.attentions[number]
            x = [torch.cat([w, slow_attention(attention, w, network.labels)]) for w in words]
    return torch.stack([torch.stack([word @ label for label in network.labels]) for word in words])


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 1), (3, 2), (4, 4)])
def test_scores(device, layers, heads):
    network, batch = make(layers, heads), make_batch()
    expected = [
        slow_scores(network, list(x[:length])) for x, length in zip(batch.x, LENGTHS, strict=True)
    ]
    scores = network.to(device)(make_batch(device=device)).scores
    assert scores.device.type == device.type
    torch.testing.assert_close(scores.cpu(), torch.cat(expected), atol=1e-5, rtol=1e-4)


def test_prediction_is_the_training_score_without_a_gradient():
    network, batch = make(), make_batch()
    scores = network.predict(batch).scores
    torch.testing.assert_close(scores, network(batch).scores)
    assert not scores.requires_grad


def test_one_layer_is_bilstm_softmax():
    """Scores and gradients are those of a BiLSTM and a linear layer without bias (Section 4.5)."""
    network, batch = make(layers=1), make_batch()
    lstm = nn.LSTM(WIDTH, HIDDEN, batch_first=True, bidirectional=True)
    softmax = nn.Linear(2 * HIDDEN, LABELS, bias=False)
    directions = {"": network.lstms[0].ahead, "_reverse": network.lstms[0].back}
    with torch.no_grad():
        softmax.weight.copy_(network.labels)
        for suffix, direction in directions.items():
            for name, weight in direction.named_parameters():
                getattr(lstm, name + suffix).copy_(weight)
    packed = nn.utils.rnn.pack_padded_sequence(batch.x, batch.lengths, batch_first=True)
    states, _ = nn.utils.rnn.pad_packed_sequence(lstm(packed)[0], batch_first=True)
    expected, scores = softmax(states[batch.mask]), network(batch).scores
    torch.testing.assert_close(scores, expected)
    targets = torch.arange(len(scores)) % LABELS
    for output in (scores, expected):
        nn.functional.cross_entropy(output, targets).backward()
    torch.testing.assert_close(network.labels.grad, softmax.weight.grad)
    torch.testing.assert_close(
        network.lstms[0].back.weight_hh_l0.grad, lstm.weight_hh_l0_reverse.grad
    )


def test_attention_gives_a_distribution_of_each_layer():
    network, batch = make(), make_batch()
    first, second, last = network.attention(batch)
    assert first.shape == second.shape == last.shape == (sum(LENGTHS), LABELS)
    for weights in (first, second, last):
        torch.testing.assert_close(weights.sum(dim=-1), torch.ones(sum(LENGTHS)))
    torch.testing.assert_close(last, torch.softmax(network(batch).scores, dim=-1))
    assert not torch.allclose(first, second)


def test_blocks_of_words_change_nothing(monkeypatch):
    network, batch = make(), make_batch()
    whole = network(batch).scores
    monkeypatch.setattr("spacy_biaffine.nn.label_attention.MAX_WEIGHTS", 1)
    torch.testing.assert_close(network(batch).scores, whole)


def test_dropout_of_every_kind_is_reached():
    network, batch = make(), make_batch()
    dropouts = [part for part in network.modules() if isinstance(part, nn.Dropout)]
    assert len(dropouts) == 3
    for dropout in dropouts:
        dropout.p = 0.5
    assert not torch.equal(network.train()(batch).scores, network(batch).scores)
    torch.testing.assert_close(network.eval()(batch).scores, network(batch).scores)


def test_the_last_layer_starts_as_a_linear_layer_does():
    network = LabelAttentionNetwork(WIDTH, 100, layers=1, hidden=50, heads=1)
    linear = nn.Linear(100, 100)
    assert network.labels.abs().max() <= 1 / math.sqrt(100)
    assert network.labels.std().item() == pytest.approx(linear.weight.std().item(), rel=0.05)


def saved_floats(labels: int, words: int) -> int:
    """Numbers that a training step keeps for the backward pass, in a sentence of so many words."""
    network, batch = make(2, heads=5, labels=labels, hidden=20).train(), make_batch([words])
    weights = {parameter.data_ptr() for parameter in network.parameters()}
    sizes: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            sizes[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes() // 4
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        scores = network(batch).scores
        nn.functional.cross_entropy(scores, torch.zeros(words, dtype=torch.long))
    return sum(sizes.values())


def test_memory_grows_with_labels_times_words():
    """Never with the square of either: 1,000 labels and 500 words take under 100 MB."""
    per_pair = 3 * 5 + 3  # attention weights of five heads, emissions
    base = saved_floats(1000, 500)
    assert 4 * base < 100e6
    assert base < per_pair * 1000 * 500
    assert saved_floats(2000, 500) < 2.1 * base
    assert saved_floats(1000, 1000) < 2.1 * base


def largest_tensor(labels: int, words: int) -> int:
    """Elements of the largest tensor that any operation of a prediction makes."""
    seen = [0]

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            tensors = result if isinstance(result, list | tuple) else [result]
            seen.extend(t.numel() for t in tensors if isinstance(t, Tensor))
            return result

    network, batch = make(2, heads=5, labels=labels, hidden=20), make_batch([words])
    with torch.no_grad(), Watch():
        network(batch)
    return max(seen)


def test_no_operation_makes_labels_times_labels():
    assert largest_tensor(1000, 10) < 1000 * 10 * 10
    assert largest_tensor(1000, 3) < 0.1 * 1000**2
