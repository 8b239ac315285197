"""Running commands, shown as one would type them."""

import os
import subprocess
import sys
from pathlib import Path

from thinc.compat import has_cupy, has_gpu
from wasabi import msg


def check_gpu(gpu_id: int) -> None:
    """Stop where a GPU is wanted, and Thinc finds none."""
    if gpu_id >= 0 and not has_gpu:
        reason = "Thinc finds none" if has_cupy else "CuPy is not installed"
        msg.fail(
            f"--vars.gpu_id {gpu_id} asks for a GPU, and {reason}",
            "A GPU needs CuPy for its CUDA (pip install cupy-cuda12x), and torch with CUDA. "
            "Without --vars.gpu_id the CPU trains.",
            exits=1,
        )


def spacy_command(*arguments: object, log: Path | None = None) -> None:
    """Print and run `python -m spacy ...`."""
    words = ["python", "-m", "spacy", *map(str, arguments)]
    print(subprocess.list2cmdline(words), flush=True)
    run(sys.executable, *words[1:], log=log)


def run(*command: object, log: Path | None = None) -> None:
    """Run a command, and stop if it fails. Its output goes to the terminal, or into log."""
    # PASSIVE: where other programs want the same cores, threads that wait in a busy loop cost more
    # time than they save.
    environment = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, "PYTHONUTF8": "1"}
    words = [str(word) for word in command]
    if log is None:
        done = subprocess.run(words, env=environment)
    else:
        with log.open("w", encoding="utf-8") as out:
            done = subprocess.run(words, env=environment, stdout=out, stderr=subprocess.STDOUT)
    if done.returncode:
        if log is not None:
            print(log.read_text(encoding="utf-8"))
        sys.exit(done.returncode)


def settings_of(written: str) -> dict[str, str]:
    """Settings of a config by their names: 'training.max_steps=20 nlp.batch_size=8'."""
    settings = {}
    for setting in written.split():
        key, equals, value = setting.partition("=")
        if not equals or "." not in key:
            msg.fail(f"'{setting}' is no setting: write SECTION.NAME=VALUE", exits=1)
        settings[key] = value
    return settings
