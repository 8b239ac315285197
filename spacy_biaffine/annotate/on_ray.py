"""Shards are annotated on a Ray cluster."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from .local import Annotated, Run
from .shards import Finished, Shard
from .worker import Job, Worker

DEATHS = 5
"""How often a shard is given to another actor since the one that had it is gone."""


class Actor:
    """One pipeline on some node."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def load(self) -> None:
        """Load the pipeline; apart from the actor's start, so that errors are told from deaths."""
        self._worker = Worker(self._job)

    def annotate(self, shard: Shard) -> Finished:
        """See `Worker`."""
        return self._worker(shard)


def run_on_ray(address: str) -> Run:
    """On the cluster at an address: an actor for each CPU, or for each GPU if the job needs one.

    MODEL must be found on every node, at the same place. Text goes to the nodes and Docs come back
    by Ray: nothing else is shared. The shard of a node that dies goes to another one, and counts
    when this process has it, so that each counts once.
    """

    def run(job: Job, shards: Iterable[Shard]) -> Annotated:
        ray.init(address=address, log_to_driver=False)
        try:
            yield from _Cluster(job).run(iter(shards))
        except RayTaskError as error:
            raise ValueError(f"on a node of {address}: {error.cause}") from error
        finally:
            ray.shutdown()

    return run


class _Cluster:
    """Actors, each of which loads, annotates one shard, or waits for a place on a node.

    A shard is given to an actor that has loaded, never to one that waits: it might wait for ever.
    """

    def __init__(self, job: Job) -> None:
        kind = "CPU" if job.gpu < 0 else "GPU"
        size = int(ray.cluster_resources().get(kind, 0))
        if size == 0:
            raise ValueError(f"the Ray cluster has no {kind}")
        # Ray shows each actor its own GPU alone, as number 0.
        self._job = job if job.gpu < 0 else job._replace(gpu=0)
        self._actor = ray.remote(num_cpus=1, num_gpus=int(job.gpu >= 0))(Actor)
        self._busy: dict[Any, tuple[Any, Shard | None]] = {}
        self._deaths: Counter[int] = Counter()
        for _ in range(size):
            self._add_actor()

    def run(self, shards: Iterator[Shard]) -> Iterator[Finished]:
        again: list[Shard] = []
        idle: list[Any] = []
        while True:
            while idle and (shard := again.pop() if again else next(shards, None)) is not None:
                actor = idle.pop()
                self._busy[actor.annotate.remote(shard)] = actor, shard
            if idle and not any(shard for _, shard in self._busy.values()):
                return
            for call in ray.wait(list(self._busy))[0]:
                actor, shard = self._busy.pop(call)
                try:
                    result = ray.get(call)
                except RayTaskError:
                    raise
                except RayError as error:
                    self._replace(actor, shard, error)
                    again += [shard] if shard is not None else []
                    continue
                idle.append(actor)
                if result is not None:
                    yield result

    def _add_actor(self) -> None:
        actor = self._actor.remote(self._job)
        self._busy[actor.load.remote()] = actor, None

    def _replace(self, actor: Any, shard: Shard | None, error: RayError) -> None:
        """Begin a new actor for one that is gone. Raises ValueError for a shard that ends all."""
        ray.kill(actor)
        self._add_actor()
        number = -1 if shard is None else shard.number
        self._deaths[number] += 1
        if self._deaths[number] > DEATHS:
            what = "loads" if shard is None else f"has {shard.records[0].place} and what follows"
            raise ValueError(f"{DEATHS + 1} actors died, each while it {what}: {error}")
