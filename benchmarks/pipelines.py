"""Words per second and peak memory of whole pipelines on the same plain text, tokenizer included.

python benchmarks/pipelines.py ewt-ud-test.conllu en_biaffine_web_sm en_core_web_sm

Each is measured in a process of its own, turn by turn; what counts is the median. On a machine that
has other work to do, words per CPU second say more than words per second. The text is that
of the file's documents. Memory is what Linux says of the process, with all that it has loaded.
"""

import argparse
import os
import re
import statistics
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import spacy
import torch

WARM = 5
"""Documents that are read before the clock starts."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("conllu", type=Path)
    parser.add_argument("pipelines", nargs="+", help="names or folders")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    texts = list(documents(args.conllu))
    turns = list(product(args.threads, args.pipelines))
    found: dict[tuple[int, str], list[tuple[float, ...]]] = {turn: [] for turn in turns}
    for _ in range(args.rounds):
        for threads, name in turns:
            os.environ |= {"OMP_NUM_THREADS": str(threads), "OMP_WAIT_POLICY": "PASSIVE"}
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                found[threads, name].append(pool.submit(measure, name, texts, threads).result())
    print("| pipeline | threads | words/s | words per CPU second | peak memory |")
    print("|---|---:|---:|---:|---:|")
    for (threads, name), rounds in found.items():
        speed, on_cpu, memory = map(statistics.median, zip(*rounds, strict=True))
        print(f"| {name} | {threads} | {speed:,.0f} | {on_cpu:,.0f} | {memory:,.0f} MiB |")


def documents(conllu: Path) -> Iterator[str]:
    """The text of each document, sentences with a blank between them."""
    for part in re.split(r"^# newdoc.*$", conllu.read_text("utf-8"), flags=re.MULTILINE):
        if sentences := re.findall(r"^# text = (.*)$", part, flags=re.MULTILINE):
            yield " ".join(sentences)


def measure(name: str, texts: list[str], threads: int) -> tuple[float, float, float]:
    """Words per second and per CPU second, and the most memory of the process so far, in MiB."""
    torch.set_num_threads(threads)
    nlp = spacy.load(name)
    list(nlp.pipe(texts[:WARM]))
    start, cpu = time.perf_counter(), time.process_time()
    words = sum(len(doc) for doc in nlp.pipe(texts))
    speed, on_cpu = words / (time.perf_counter() - start), words / (time.process_time() - cpu)
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text("utf-8"))
    return speed, on_cpu, int(peak[1]) / 1024 if peak else 0.0


if __name__ == "__main__":
    main()
