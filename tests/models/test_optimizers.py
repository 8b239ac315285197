"""Adam against torch's AdamW, and each parameter at its own rate."""

import copy
import pickle
import warnings
from itertools import islice
from typing import Any

import numpy as np
import pytest
import spacy
import torch
from factories import FACTORIES, examples_of, gold_docs
from numpy.testing import assert_allclose, assert_array_equal
from spacy.language import Language
from spacy.training import Example
from thinc.api import (
    Config,
    Linear,
    Model,
    NumpyOps,
    Optimizer,
    PyTorchWrapper,
    chain,
    fix_random_seed,
    registry,
)
from thinc.shims import PyTorchShim

from spacy_biaffine.models import optimizers
from spacy_biaffine.models.lazy_shim import LazyShim
from spacy_biaffine.models.optimizers import SGD, Adam, warmup_cosine

PARSER = next(factory for factory in FACTORIES if factory.name == "norm_biaffine_parser")

OPTIMIZER = """
[training]
[training.optimizer]
@optimizers = "spacy-biaffine.Adam.v1"
weight_decay = 0.02

[training.optimizer.rate_factors]
encoder.* = 0.005
"*.bias" = 0

[training.optimizer.learn_rate]
@schedules = "spacy-biaffine.warmup_cosine.v1"
initial_rate = 0.002
warmup_steps = 4
total_steps = 12
"""


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_steps_equal_adamw_of_torch(weight_decay, scale):
    """Small gradients too: there eps counts, and with it where it is added."""
    rng = np.random.default_rng(0)
    ours = rng.normal(size=(4, 3)).astype("float32")
    theirs = torch.nn.Parameter(torch.from_numpy(ours.copy()))
    settings = {"weight_decay": weight_decay, "eps": 1e-8}
    reference = torch.optim.AdamW([theirs], lr=0.01, betas=(0.9, 0.99), **settings)
    optimizer = Adam(0.01, beta1=0.9, beta2=0.99, grad_clip=0.0, **settings)
    for _ in range(50):
        gradient = (rng.normal(size=ours.shape) * scale).astype("float32")
        theirs.grad = torch.from_numpy(gradient.copy())
        reference.step()
        ours, cleared = optimizer((1, "W"), ours, gradient)
        assert not cleared.any()
        assert_allclose(ours, theirs.detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_steps_equal_sgd_of_torch(momentum):
    rng = np.random.default_rng(0)
    ours = rng.normal(size=(4, 3)).astype("float32")
    theirs = torch.nn.Parameter(torch.from_numpy(ours.copy()))
    reference = torch.optim.SGD([theirs], lr=0.01, momentum=momentum)
    optimizer = SGD(0.01, momentum=momentum, grad_clip=5.0)
    for _ in range(50):
        gradient = rng.normal(size=ours.shape).astype("float32")
        theirs.grad = torch.from_numpy(gradient.copy())
        torch.nn.utils.clip_grad_norm_([theirs], 5.0)
        reference.step()
        ours, cleared = optimizer((1, "W"), ours, gradient)
        assert not cleared.any()
        assert_allclose(ours, theirs.detach().numpy(), atol=1e-5)
    empty = np.zeros(0, "float32")
    assert optimizer((2, "W"), empty, empty)[0].size == 0


def test_each_parameter_is_clipped_by_itself():
    def step(gradients: list[list[float]], grad_clip: float) -> list[np.ndarray]:
        # with beta2 near 1 and a second, unit gradient, the first step's length shows
        optimizer = Adam(0.1, grad_clip=grad_clip, weight_decay=0.0)
        moved = []
        for i, gradient in enumerate(gradients):
            weights = np.zeros(2, dtype="float32")
            for g in (gradient, [1.0, 0.0]):
                weights, _ = optimizer((i, "W"), weights, np.array(g, dtype="float32"))
            moved.append(weights)
        return moved

    long, short = [30.0, 40.0], [0.3, 0.4]
    clipped, untouched = step([long, short], grad_clip=1.0)
    (as_if,) = step([[0.6, 0.8]], grad_clip=1.0)
    assert_allclose(clipped, as_if, atol=1e-6)
    assert_array_equal(untouched, step([short], grad_clip=0.0)[0])
    assert np.abs(step([long], grad_clip=0.0)[0] - clipped).max() > 1e-3


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Linear(3, 3)
        self.head = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.head(self.encoder(x))


def _train_once(model: Model, optimizer: Adam) -> None:
    X = model.ops.alloc2f(2, 3) + 1
    Y, backprop = model.begin_update(X)
    backprop(Y + 1)
    model.finish_update(optimizer)


def _largest_step(optimizer: Adam) -> dict[str, float]:
    """How far each parameter of a torch module and of a Thinc layer went in the first step, where
    Adam goes as far as the rate wherever there is a gradient."""
    net = Net()
    model = chain(PyTorchWrapper(net), Linear(3, 3)).initialize(np.ones((2, 3), dtype="float32"))

    def parameters() -> dict[str, np.ndarray]:
        found = {name: p.detach().numpy().copy() for name, p in net.named_parameters()}
        linear = model.layers[1]
        return {**found, **{name: linear.get_param(name).copy() for name in linear.param_names}}

    before = parameters()
    _train_once(model, optimizer)
    after = parameters()
    return {name: float(np.abs(after[name] - before[name]).max()) for name in before}


def test_rates_apply_in_torch_modules_and_thinc_layers():
    factors = {"encoder.bias": 0.0, "encoder.*": 0.01, "[bW]": 0.1}
    steps = _largest_step(Adam(0.02, rate_factors=factors, weight_decay=0.0))
    expected = {
        "encoder.weight": 0.0002,
        "encoder.bias": 0.0,
        "head.weight": 0.02,
        "head.bias": 0.02,
        "W": 0.002,
        "b": 0.002,
    }
    assert steps == pytest.approx(expected, rel=1e-3)


def test_decay_follows_the_rate_of_the_parameter():
    optimizer = Adam(0.1, rate_factors={"slow": 0.1}, weight_decay=0.5)
    for name, left in (("fast", 0.95), ("slow", 0.995)):
        weights, _ = optimizer((1, name), np.ones(2, "float32"), np.zeros(2, "float32"))
        assert_allclose(weights, left, rtol=1e-6)


def test_rates_apply_in_a_spacy_transformers_encoder(tmp_path):
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    pytest.importorskip("spacy_transformers", reason="spacy-transformers is not installed")
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocab), encoding="utf-8")
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    config = transformers.BertConfig(vocab_size=len(vocab), hidden_size=8, **sizes)
    transformers.BertModel(config).save_pretrained(tmp_path)
    nlp = spacy.blank("en")
    architecture = "spacy-transformers.TransformerModel.v3"
    nlp.add_pipe(
        "transformer", config={"model": {"@architectures": architecture, "name": str(tmp_path)}}
    )
    listener = {"@architectures": "spacy-transformers.TransformerListener.v1"}
    listener["pooling"] = {"@layers": "reduce_mean.v1"}
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": listener}
    nlp.add_pipe("tagger", config={"model": tagger})
    examples = [Example.from_dict(nlp.make_doc("a b"), {"tags": ["A", "B"]})]
    nlp.initialize(lambda: examples)
    bert = nlp.get_pipe("transformer").model.transformer
    before = {name: p.detach().clone() for name, p in bert.named_parameters()}
    factors = {"embeddings.*": 0.0, "encoder.*": 0.01}
    optimizer = Adam(0.1, rate_factors=factors, weight_decay=0.0)
    # `nlp.update` gives the encoder the gradient of the batch before, and the first is zero, as
    # the tagger's weights are: of three updates one moves the encoder, by up to the rate
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            nlp.update(examples, sgd=optimizer)
            optimizer.step_schedules()
    after = {name: p.detach() for name, p in bert.named_parameters()}
    steps = {name: float((after[name] - before[name]).abs().max()) for name in before}
    assert 0.0005 < steps["encoder.layer.0.output.dense.weight"] < 0.0011
    assert steps["embeddings.word_embeddings.weight"] == 0.0


MODULE_SETTINGS: dict[str, Any] = {
    "rate_factors": {"encoder.bias": 0.0, "encoder.*": 0.1},
    "weight_decay": 0.1,
    "grad_clip": 0.5,
}


def _lazy_net() -> LazyShim:
    torch.manual_seed(0)
    shim = LazyShim(Net, mixed_precision=False)
    shim.build({})
    return shim


@pytest.mark.parametrize("fused", [True, False])
def test_a_module_at_once_equals_one_parameter_after_the_other(fused, monkeypatch):
    """Parameters that get a gradient late, or in some steps alone, too; a rate that moves."""
    if not fused:
        monkeypatch.setattr(optimizers, "_has_fused_adamw", lambda device: False)
    rng = np.random.default_rng(0)
    shims = [_lazy_net(), _lazy_net()]
    steppers = [Adam(warmup_cosine(0.05, 3, 20), **MODULE_SETTINGS) for _ in shims]
    for step in range(12):
        x = torch.from_numpy(rng.normal(size=(2, 3)).astype("float32") * (step % 3) * 10)
        for shim in shims:
            out = shim.module.head(x) if step == 0 else shim.module(x)
            shim.backpropagate(x.requires_grad_(), [(out,)], [(torch.ones(2, 3),)])
        shims[0].finish_update(steppers[0])
        PyTorchShim.finish_update(shims[1], steppers[1])
        for optimizer in steppers:
            optimizer.step_schedules()
        ours, theirs = (shim.module.state_dict() for shim in shims)
        for name, weight in ours.items():
            assert_allclose(weight, theirs[name], atol=1e-5)
    assert not any(p.grad.any() for p in shims[0].module.parameters())


def _pipeline() -> tuple[Language, list[Example]]:
    """spaCy's tagger and our parser: Thinc layers and torch modules."""
    fix_random_seed(0)
    nlp = spacy.blank("en")
    nlp.add_pipe("tagger")
    PARSER.add_to(nlp)
    examples = examples_of(gold_docs(nlp.vocab))
    nlp.initialize(lambda: examples)
    return nlp, examples


def _train(nlp: Language, examples: list[Example], optimizer: Optimizer, steps: int) -> None:
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer)
        optimizer.step_schedules()


@pytest.mark.parametrize("make", [Adam, SGD])
def test_state_goes_on_in_another_pipeline(make, tmp_path):
    """As in another process: models with other numbers, weights and state from files."""
    nlp, examples = _pipeline()
    optimizer = make(warmup_cosine(0.01, 2, 10))
    _train(nlp, examples, optimizer, 3)
    weights = nlp.to_bytes()
    torch.save(optimizer.state(nlp), tmp_path / "optimizer.pt")
    _train(nlp, examples, optimizer, 3)

    resumed, examples = _pipeline()
    resumed.from_bytes(weights)
    again = make(warmup_cosine(0.01, 2, 10))
    again.load_state(resumed, torch.load(tmp_path / "optimizer.pt", weights_only=True))
    assert again.learn_rate != make(warmup_cosine(0.01, 2, 10)).learn_rate
    _train(resumed, examples, again, 3)
    for name in ("tagger", PARSER.name):
        assert resumed.get_pipe(name).to_bytes() == nlp.get_pipe(name).to_bytes()
    states = optimizer.state(nlp), again.state(resumed)
    assert states[0]["schedule_steps"] == states[1]["schedule_steps"] == 6
    assert states[0]["parameters"].keys() == states[1]["parameters"].keys()


def test_a_state_that_does_not_fit_is_refused():
    nlp, examples = _pipeline()
    optimizer = Adam(0.01)
    _train(nlp, examples, optimizer, 1)
    state = optimizer.state(nlp)
    with pytest.raises(ValueError, match="step 1"):
        optimizer.load_state(nlp, {**state, "schedule_steps": 0})
    other, _ = _pipeline()
    other.remove_pipe("tagger")
    with pytest.raises(ValueError, match="'tagger/"):
        Adam(0.01).load_state(other, state)
    place = next(iter(state["parameters"]))
    state["parameters"][place]["mom1"] = torch.zeros(7)
    fresh = Adam(0.01)
    with pytest.raises(ValueError, match="7 numbers"):
        fresh.load_state(nlp, state)
    assert not fresh.mom1


def test_idle_pattern_warns_once():
    optimizer = Adam(0.1, rate_factors={"head.*": 1.0, "enocder.*": 0.1})
    optimizer.step_schedules()
    optimizer((1, "head.weight"), np.ones(2, "float32"), np.ones(2, "float32"))
    with pytest.warns(UserWarning, match=r"enocder.*head\.weight"):
        optimizer.step_schedules()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer.step_schedules()


def test_from_a_config_and_back():
    config = Config().from_str(OPTIMIZER)
    config = Config().from_str(config.to_str())
    optimizer = registry.resolve(config)["training"]["optimizer"]
    assert isinstance(optimizer, Adam)
    assert optimizer.rate_factors == {"encoder.*": 0.005, "*.bias": 0}
    assert optimizer.weight_decay == 0.02
    rates = []
    for _ in range(6):
        rates.append(optimizer.learn_rate)
        optimizer.step_schedules()
    assert_allclose(rates[:5], [0, 0.0005, 0.001, 0.0015, 0.002])
    assert rates[5] < rates[4]


def test_in_a_pipeline(tmp_path):
    """The optimizer of a pipeline survives saving it, and resuming makes the same one again."""
    nlp = spacy.blank("en", config=Config().from_str(OPTIMIZER))
    nlp.add_pipe("tagger")
    examples = [Example.from_dict(nlp.make_doc("a b"), {"tags": ["A", "B"]})]
    assert isinstance(nlp.initialize(lambda: examples), Adam)
    nlp.update(examples)
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    optimizer = loaded.resume_training()
    assert isinstance(optimizer, Adam)
    assert optimizer.rate_factors == {"encoder.*": 0.005, "*.bias": 0}
    assert loaded.update(examples, sgd=optimizer)["tagger"] > 0


@pytest.mark.parametrize("copy_of", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_a_copy_goes_on_alike(copy_of):
    optimizer = Adam(0.1, rate_factors={"W": 0.5})
    gradient = np.array([0.5, -0.1], dtype="float32")
    weights, _ = optimizer((1, "W"), np.ones(2, "float32"), gradient.copy())
    copied = copy_of(optimizer)
    again, _ = copied((1, "W"), weights.copy(), gradient.copy())
    weights, _ = optimizer((1, "W"), weights, gradient.copy())
    assert_array_equal(weights, again)


def test_empty_gradient_is_left_alone():
    empty = NumpyOps().alloc2f(0, 3)
    weights, _ = Adam(0.1)((1, "W"), empty, empty.copy())
    assert weights.shape == (0, 3)


def test_warmup_cosine_by_hand():
    rates = list(islice(warmup_cosine(1.0, warmup_steps=2, total_steps=6), 8))
    half = np.sqrt(0.5) / 2
    assert_allclose(rates, [0, 0.5, 1, 0.5 + half, 0.5, 0.5 - half, 0, 0], atol=1e-12)
    assert next(warmup_cosine(1.0, warmup_steps=0, total_steps=6)) == 1.0
