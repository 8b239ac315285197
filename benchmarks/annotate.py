"""Words per second of ``spacy biaffine annotate`` on generated sentences, the peak memory of its
processes after each tenth of the run, which must not grow, and a checksum of what it has written,
which must not depend on where it ran: in processes, or on two Ray nodes of this machine, one of
which is killed in the middle (--ray, on Linux).

python benchmarks/annotate.py MODEL --sentences 100000 --n-process 2 --out out.conllu
python benchmarks/annotate.py MODEL --sentences 100000 --ray --out out.conllu
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from spacy_biaffine.annotate.forms import form_of
from spacy_biaffine.annotate.local import Run, run_here, run_in_processes
from spacy_biaffine.annotate.run import SHARD_SIZE, annotate
from spacy_biaffine.annotate.worker import Job

SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in ("a", "e", "i", "o", "u", "ai", "ou")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", help="folder or name of a pipeline")
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--n-process", type=int, default=2)
    parser.add_argument("--ray", action="store_true", help="two Ray nodes instead of processes")
    parser.add_argument("--shard-size", type=int, default=SHARD_SIZE)
    parser.add_argument("--gpu-id", type=int, default=-1)
    parser.add_argument("--out", default="out.spacy", help="its name says the form")
    args = parser.parse_args()
    here = run_here if args.n_process == 1 else run_in_processes(args.n_process)
    place = two_nodes() if args.ray else nullcontext((here, lambda: None))
    with tempfile.TemporaryDirectory() as folder, place as (run, at_half):
        source, target = Path(folder, "in.txt"), Path(folder, args.out)
        _write_sentences(source, args.sentences)
        job = Job(args.model, form_of(target), None, None, args.gpu_id)
        watch = _Watch(args.sentences, at_half)
        summary = annotate(job, [source], target, run, shard_size=args.shard_size, told=watch.told)
        checksum = hashlib.sha256(target.read_bytes()).hexdigest()
    print(f"words            {summary.words:,}, {len(summary.bad)} sentences left out")
    print(f"records          {watch.done:,}; sha256 {checksum[:16]}")
    print(f"first shard      after {watch.first:,.1f} s, most of it to load the pipelines")
    share = 1 - args.shard_size / max(args.shard_size + 1, args.sentences)
    print(
        f"from then on     {share * summary.words / (watch.seconds() - watch.first):,.0f} words/s"
    )


@contextmanager
def two_nodes() -> Iterator[tuple[Run, Callable[[], None]]]:
    """A local Ray cluster, and what kills one of its nodes."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Else Ray takes 127.0.0.1 for another of this machine's addresses, which may be closed.
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    from ray.cluster_utils import Cluster

    from spacy_biaffine.annotate.on_ray import run_on_ray

    node = {"num_cpus": 1, "node_ip_address": "127.0.0.1"}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    second = cluster.add_node(**node)
    try:
        yield (
            run_on_ray(cluster.address),
            lambda: cluster.remove_node(second, allow_graceful=False),
        )
    finally:
        cluster.shutdown()


def _write_sentences(path: Path, number: int) -> None:
    """Sentences of 5 to 35 words; new words keep coming, as in real text."""
    chance = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(number):
            words = [
                "".join(chance.choices(SYLLABLES, k=min(4, 1 + int(chance.expovariate(0.7)))))
                for _ in range(chance.randint(5, 35))
            ]
            file.write(" ".join(words).capitalize() + ".\n")


class _Watch:
    """Prints the memory at each tenth of the sentences, and calls `at_half` after half of them."""

    def __init__(self, sentences: int, at_half: Callable[[], None]) -> None:
        self._tenth = max(1, sentences // 10)
        self._half = sentences // 2
        self._at_half = at_half
        self._start = time.perf_counter()
        self.done = 0
        self.first = 0.0

    def seconds(self) -> float:
        return time.perf_counter() - self._start

    def told(self, records: int) -> None:
        self.first = self.first or self.seconds()
        before, self.done = self.done, self.done + records
        if before < self._half <= self.done:
            self._at_half()
        if before // self._tenth != self.done // self._tenth:
            peaks = ", ".join(f"{_peak_mib(pid):,.0f}" for pid in _processes())
            print(f"{self.done:>9,} sentences, {self.seconds():,.1f} s, peak MiB: {peaks}")


def _processes() -> list[int]:
    """The one that reads and writes, and those that annotate."""
    children = [each.pid or 0 for each in multiprocessing.active_children()]
    others = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    actors = [pid for pid in others if _command(pid).startswith("ray::Actor")]
    return [os.getpid(), *sorted(children + actors)]


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:  # it has ended
        return ""


def _peak_mib(pid: int) -> float:
    """Peak resident memory of a process so far. From /proc, so on Linux alone."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))
    return int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    main()
