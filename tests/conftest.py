"""Fixtures for all tests."""

import multiprocessing
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from factories import FACTORIES, Factory, train
from hypothesis import HealthCheck, settings
from spacy.language import Language

torch.set_num_threads(1)

if "TESTS_START_METHOD" in os.environ:  # of worker processes, to try that of another system
    multiprocessing.set_start_method(os.environ["TESTS_START_METHOD"])

# How long an example takes says more about what else the machine does than about the code.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """No workers for single files: starting them takes longer than most files do."""
    paths = [Path(argument.partition("::")[0]) for argument in config.args]
    return 0 if all(path.suffix == ".py" for path in paths) else None


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


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A Ray cluster: a head node with one CPU, and room for more."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    # Else Ray takes 127.0.0.1 for another of this machine's addresses, which may be closed.
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    own = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "include_dashboard": False}
    started = Cluster(initialize_head=True, head_node_args=own)
    yield started
    started.shutdown()
