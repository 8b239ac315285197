"""Cells as tasks of a Ray cluster."""

import secrets
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError

from .pool import POLL_SECONDS, Finished, collect, start_process

RETRIES = 5
"""How often a cell is begun anew because the node that ran it has died."""


class RayPool:
    """One task a cell. Each needs one CPU, and the folder `work` on the node that it comes to.

    size: most tasks at a time; None for as many as the cluster has CPUs.
    """

    def __init__(self, address: str, work: Path, size: int | None, *, keep: bool) -> None:
        ray.init(address=address, log_to_driver=False)
        self.size = size or int(ray.cluster_resources().get("CPU", 1))
        self.work = work
        self.keep = keep
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(run_cell)
        self._running: dict[Any, str] = {}

    def start(self, key: str, config: str) -> None:
        """Submit a cell."""
        task = self._run.remote(key, str(self.work), config, self.keep)
        self._running[task] = key

    def wait(self) -> list[Finished]:
        """Those that have finished since the last call."""
        if not self._running:
            return []
        done, _ = ray.wait(list(self._running), timeout=POLL_SECONDS)
        return [self._get(task, self._running.pop(task)) for task in done]

    def _get(self, task: Any, key: str) -> Finished:
        try:
            return ray.get(task)
        except RayError as error:
            return Finished(key, None, f"{type(error).__name__}: {error}")

    def stop(self) -> None:
        """End all that still runs, and leave the cluster."""
        for task in self._running:
            ray.cancel(task, force=True)
        self._running.clear()
        ray.shutdown()


def run_cell(key: str, work: str, config: str, keep: bool) -> Finished:
    """Run a cell on this node.

    Its folder is new at each attempt: on a shared disk, one that is thought dead may still write.
    """
    folder = Path(work) / f"{key}-{secrets.token_hex(4)}"
    process = start_process(folder, config)
    process.wait()
    return collect(folder, keep=keep)._replace(key=key)
