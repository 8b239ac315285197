import math
from typing import Any

import pytest
import torch
from spacy.language import Language
from spacy.training import Example
from spacy.util import load_config_from_str, load_model_from_config
from thinc.api import fix_random_seed
from tiny_grid import CONFIG, random_docs

from spacy_biaffine.experiments.watch import effective_rank, effective_ranks, score_spread, watches
from spacy_biaffine.pipeline.base import StructuredPipe


def test_effective_rank_by_hand() -> None:
    assert effective_rank(torch.eye(4)) == pytest.approx(4)
    assert effective_rank(torch.ones(3, 5)) == pytest.approx(1, abs=1e-4)
    assert effective_rank(torch.zeros(2, 2)) == 0
    # Singular values 3 and 1: exp(-(3/4 ln 3/4 + 1/4 ln 1/4)).
    expected = math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
    assert effective_rank(torch.diag(torch.tensor([3.0, 0.0, -1.0]))) == pytest.approx(expected)


def test_score_spread_leaves_mask_and_padding_out() -> None:
    low = torch.finfo(torch.float32).min
    arcs = torch.tensor(
        [
            [[1.0, low, 3.0], [2.0, 6.0, low]],  # two words
            [[5.0, low, low], [9.0, 9.0, 9.0]],  # one word, and padding
        ]
    )
    mask = torch.tensor([[True, True], [True, False]])
    overall, per_word = score_spread(arcs, mask)
    values = torch.tensor([1.0, 3.0, 2.0, 6.0, 5.0])
    assert overall.item() == pytest.approx(values.std(correction=0).item())
    assert per_word.item() == pytest.approx((1 + 2 + 0) / 3)


def make(layers: int) -> tuple[Language, list[Example]]:
    config = load_config_from_str(CONFIG, {"components.parser.model.lstm_layers": layers})
    nlp = load_model_from_config(config, auto_fill=True)
    docs = random_docs(4, seed=0)
    examples = [Example(nlp.make_doc(doc.text), doc) for doc in docs]
    fix_random_seed(0)
    nlp.initialize(lambda: examples)
    return nlp, examples


@pytest.mark.parametrize("layers", [0, 2])
def test_readings_are_those_of_the_last_updates(layers: int) -> None:
    nlp, examples = make(layers)
    found = watches(nlp)
    assert list(found) == ["parser"]
    watch = found["parser"]
    assert set(watch.read()) == {"effective_rank", "rank_share"}
    for _ in range(3):
        nlp.update(examples, sgd=nlp.resume_training(), drop=0.0)
    reading = watch.read()
    assert reading["arc_score_std"] > 0
    assert reading["arc_score_std_heads"] > 0
    assert reading["gradient_norm"] > 0
    names = [f"lstm_{i + 1}" for i in range(layers)]
    assert list(reading["effective_rank"]) == [*names, "arc_head", "arc_dependent", "arc"]
    assert all(0 < share <= 1 for share in reading["rank_share"].values())
    watch.close()


def test_gradient_norm_is_that_of_the_update() -> None:
    nlp, examples = make(1)
    pipe: Any = nlp.get_pipe("parser")
    assert isinstance(pipe, StructuredPipe)
    watch = watches(nlp)["parser"]
    for _ in range(2):  # gradients add up
        pipe.update(examples, drop=0.0)
    gradients = [p.grad.flatten() for p in watch.module.parameters() if p.grad is not None]
    expected = torch.cat(gradients).norm().item()
    pipe.finish_update(nlp.resume_training())
    assert watch.read()["gradient_norm"] == pytest.approx(expected, rel=1e-5)
    watch.close()


def test_watching_changes_nothing_and_leaves_no_trace() -> None:
    weights = []
    for is_watched in (False, True):
        nlp, examples = make(1)
        found = watches(nlp) if is_watched else {}
        sgd = nlp.resume_training()
        for _ in range(3):
            nlp.update(examples, sgd=sgd, drop=0.0)
        for watch in found.values():
            watch.close()
            assert not watch.module._forward_hooks
            assert "finish_update" not in vars(watch.shim)
        pipe: Any = nlp.get_pipe("parser")
        weights.append(pipe.model.to_bytes())
    assert weights[0] == weights[1]


def test_ranks_of_layers_by_hand() -> None:
    nlp, _ = make(1)
    module = watches(nlp)["parser"].module
    ranks = effective_ranks(module)
    lstm = module.lstm.layers[0]
    matrices = [w for name, w in lstm.named_parameters() if "weight" in name]
    expected = [effective_rank(w) for w in matrices]
    assert len(expected) == 4
    assert ranks["effective_rank"]["lstm_1"] == pytest.approx(sum(expected) / 4)
    shares = [r / min(w.shape) for r, w in zip(expected, matrices, strict=True)]
    assert ranks["rank_share"]["lstm_1"] == pytest.approx(sum(shares) / 4)
