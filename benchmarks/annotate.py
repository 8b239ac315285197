"""Words per second of ``spacy biaffine annotate`` on generated sentences, and the peak memory of
its processes after each tenth of the run: it must not grow.

python benchmarks/annotate.py MODEL --sentences 100000 --n-process 2
"""

import argparse
import multiprocessing
import os
import random
import re
import tempfile
import time
from pathlib import Path

from spacy_biaffine.annotate.forms import form_of
from spacy_biaffine.annotate.local import run_here, run_in_processes
from spacy_biaffine.annotate.run import SHARD_SIZE, annotate
from spacy_biaffine.annotate.worker import Job

SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "ai", "ou")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder or name of a pipeline")
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--n-process", type=int, default=2)
    parser.add_argument("--shard-size", type=int, default=SHARD_SIZE)
    parser.add_argument("--gpu-id", type=int, default=-1)
    parser.add_argument("--out", default="out.spacy", help="its name says the form")
    args = parser.parse_args()
    run = run_here if args.n_process == 1 else run_in_processes(args.n_process)
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.txt"), Path(folder, args.out)
        _write_sentences(source, args.sentences)
        job = Job(args.model, form_of(target), None, None, args.gpu_id)
        watch = _Watch(args.sentences)
        summary = annotate(job, [source], target, run, shard_size=args.shard_size, told=watch.told)
    print(f"words            {summary.words:,}, {len(summary.bad)} sentences left out")
    print(f"first shard      after {watch.first:,.1f} s, most of it to load the pipelines")
    share = 1 - args.shard_size / max(args.shard_size + 1, args.sentences)
    print(
        f"from then on     {share * summary.words / (watch.seconds() - watch.first):,.0f} words/s"
    )


def _write_sentences(path: Path, number: int) -> None:
    """Sentences of 5 to 35 words; new words keep coming, as in real text."""
    chance = random.Random(0)
    with path.open("w") as file:
        for _ in range(number):
            words = [
                "".join(chance.choices(SYLLABLES, k=min(4, 1 + int(chance.expovariate(0.7)))))
                for _ in range(chance.randint(5, 35))
            ]
            file.write(" ".join(words).capitalize() + ".\n")


class _Watch:
    """Prints the memory at each tenth of the sentences."""

    def __init__(self, sentences: int) -> None:
        self._tenth = max(1, sentences // 10)
        self._start = time.perf_counter()
        self._done = 0
        self.first = 0.0

    def seconds(self) -> float:
        return time.perf_counter() - self._start

    def told(self, records: int) -> None:
        self.first = self.first or self.seconds()
        before, self._done = self._done, self._done + records
        if before // self._tenth != self._done // self._tenth:
            peaks = ", ".join(f"{_peak_mib(pid):,.0f}" for pid in _processes())
            print(f"{self._done:>9,} sentences, {self.seconds():,.1f} s, peak MiB: {peaks}")


def _processes() -> list[int]:
    """The one that reads and writes, and those that annotate."""
    return [os.getpid(), *sorted(each.pid or 0 for each in multiprocessing.active_children())]


def _peak_mib(pid: int) -> float:
    """Peak resident memory of a process so far. From /proc, so on Linux alone."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main()
