"""Imported for its effect: torch works in the workers of `nlp.pipe(n_process=2)`, on any system.

A forked child (Linux) has none of the parent's OpenMP threads and waits for them for ever in its
first parallel operation (torch 2.13, measured). With one thread there is nothing to wait for. A
spawned child (macOS, Windows) imports this module anew; it too takes one thread, so that processes
do not crowd each other out. torch's own DataLoader does the same in its workers.
"""

import os
from multiprocessing import parent_process

import torch


def _use_one_thread() -> None:
    torch.set_num_threads(1)


if parent_process() is not None:
    _use_one_thread()
if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_use_one_thread)
