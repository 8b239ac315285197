"""Fixtures for all tests."""

import pytest
import torch
from factories import FACTORIES, Factory, train
from spacy.language import Language

torch.set_num_threads(1)

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> torch.device:
    """Every device of this machine."""
    return torch.device(request.param)


@pytest.fixture(scope="session", params=FACTORIES, ids=lambda each: f"{each.name}-{each.kind}")
def factory(request: pytest.FixtureRequest) -> Factory:
    """Every component."""
    return request.param


@pytest.fixture(scope="session")
def trained(factory: Factory) -> Language:
    """A pipeline that knows the gold Docs by heart. Tests must leave it as it is."""
    nlp = factory.make()
    train(nlp, 80)
    return nlp
