"""Shards are annotated on this machine."""

import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, get_context, parent_process

from .shards import Finished, Shard
from .worker import Job, Worker

Annotated = Generator[Finished, None, None]

Run = Callable[[Job, Iterable[Shard]], Annotated]
"""Annotates shards, in any order. Raises what `Worker` does."""

WAITING = 2
"""Shards that are read ahead for each process: it finds the next one when it is done."""


def run_here(job: Job, shards: Iterable[Shard]) -> Annotated:
    """In this process."""
    yield from map(Worker(job), shards)


def run_in_processes(size: int) -> Run:
    """In `size` processes, each with a pipeline of its own and, for torch, one thread.

    They are spawned, not forked: a fork of a process that has used torch or CUDA may hang.
    """

    def run(job: Job, shards: Iterable[Shard]) -> Annotated:
        pool = ProcessPoolExecutor(size, get_context("spawn"), _begin, (job,))
        running: set[Future[Finished]] = set()
        try:
            for shard in shards:
                running.add(pool.submit(_annotate, shard))
                if len(running) >= WAITING * size:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    yield from (each.result() for each in done)
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (each.result() for each in done)
        except BrokenProcessPool as error:
            raise ValueError(
                f"one of {size} processes has died; was there too little memory? The same command "
                f"goes on from here, --n-process 1 or a smaller --shard-size need less."
            ) from error
        finally:
            pool.shutdown(cancel_futures=True)

    return run


_job: Job
_worker: Worker | None = None


def _begin(job: Job) -> None:
    """Prepare a process. The pipeline is loaded with the first shard, so that errors are told."""
    global _job
    import torch

    _job = job
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _annotate(shard: Shard) -> Finished:
    global _worker
    if _worker is None:
        _worker = Worker(_job)
    return _worker(shard)


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(1)
