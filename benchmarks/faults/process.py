"""A command of the package in a process that has everything imported already."""

import fcntl
import multiprocessing
import os
import resource
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from typer.main import get_command

import spacy_biaffine.cli
import spacy_biaffine.pipeline.parser

FORK = multiprocessing.get_context("fork")

PIPE_BYTES = 1 << 20
"""More than a command prints."""


class Process:
    """A command that runs in a folder."""

    def __init__(self, folder: Path, arguments: Sequence[object], largest_file: int | None) -> None:
        self._said, says = os.pipe()
        fcntl.fcntl(says, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        words = [str(each) for each in arguments]
        self._process = FORK.Process(target=_run, args=(folder, words, largest_file, says))
        self._process.start()
        os.close(says)

    def end(self, number: signal.Signals) -> bool:
        """Send a signal, and wait; whether it came in time."""
        was_alive = self._process.is_alive()
        if was_alive and self._process.pid:
            os.kill(self._process.pid, number)
        return self.wait() != 0 and was_alive

    def wait(self) -> int:
        self._process.join()
        with os.fdopen(self._said, "rb") as file:
            self.said = file.read().decode("utf-8", "replace")
        return self._process.exitcode or 0


def _run(folder: Path, words: list[str], largest_file: int | None, says: int) -> None:
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(says, 1)
    os.dup2(says, 2)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", 1, encoding="utf-8") for number in (1, 2))
    if largest_file is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    try:
        get_command(spacy_biaffine.cli.app)(words, prog_name="biaffine")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except KeyboardInterrupt:
        code = 130
    except BaseException:
        traceback.print_exc()
        code = 1
    else:
        code = 0
    os._exit(code)
