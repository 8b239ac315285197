"""What reading a tree costs the Transformer: time of graph layers against the same ones without.

Layers of MiniLM's size over random trees; with and without relations take turns on the same
batch, and the median of the ratios of one turn counts. Times are CPU seconds of one thread, which
other work on the machine disturbs least. Also the peak memory of a training step of the role
labeller on one long sentence.

python benchmarks/graph_attention_cost.py
"""

import argparse
import resource
import statistics
import time
from collections.abc import Callable

import torch

from spacy_biaffine.nn.graph_transformer import GraphTransformer, Interactions
from spacy_biaffine.nn.losses import cross_entropy
from spacy_biaffine.nn.role_candidates import Pruning
from spacy_biaffine.nn.roles import RoleLabeller
from spacy_biaffine.types import SentenceBatch

LABELS, ROLES, SENSES = 50, 60, 3000
READS = {
    "plain": Interactions(query=False, key=False, value=False),
    "-key": Interactions(query=True, key=False, value=False),
    "paper": Interactions(query=True, key=True, value=False),
    "+value": Interactions(query=True, key=True, value=True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--pieces", type=int, default=1000, help="in a batch")
    parser.add_argument("--lengths", type=int, nargs="+", default=[15, 30, 60, 120, 250])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--words", type=int, default=300, help="of the long sentence; 0 for none")
    args = parser.parse_args()
    torch.set_num_threads(1)
    # First of all: a peak is only told from one before it where it is higher.
    if args.words:
        print(
            f"{args.words} words: {roles_memory(args.words, args.width):.0f} MiB more at the peak"
        )
    stacks = {name: make(reads, args) for name, reads in READS.items()}
    print("length  step      plain     " + "  ".join(f"{name:>7}" for name in [*READS][1:]))
    for length in args.lengths:
        batch = random_trees(max(1, args.pieces // length), length, args.width)
        for step, run in (("predict", predict), ("train", train)):
            times = measure(stacks, batch, run, args.rounds)
            plain = statistics.median(times["plain"])
            ratios = (
                statistics.median(a / b for a, b in zip(times[name], times["plain"], strict=True))
                for name in [*READS][1:]
            )
            shown = "  ".join(f"{ratio:7.3f}" for ratio in ratios)
            print(f"{length:6}  {step:7}  {plain:6.3f} s  {shown}", flush=True)


def make(reads: Interactions, args: argparse.Namespace) -> GraphTransformer:
    sizes = {"layers": args.layers, "heads": args.heads, "hidden": 4 * args.width}
    return GraphTransformer(args.width, LABELS, reads=reads, **sizes)


def random_trees(sentences: int, length: int, width: int) -> tuple[torch.Tensor, ...]:
    """Vectors, mask, heads and labels."""
    heads = (torch.rand(sentences, length) * torch.arange(length)).long()
    heads[:, 0] = -1
    labels = torch.randint(LABELS, heads.shape)
    mask = torch.ones_like(heads, dtype=torch.bool)
    return torch.randn(sentences, length, width), mask, heads, labels


def predict(stack: GraphTransformer, batch: tuple[torch.Tensor, ...]) -> None:
    with torch.inference_mode():
        stack(*batch)


def train(stack: GraphTransformer, batch: tuple[torch.Tensor, ...]) -> None:
    stack(*batch).sum().backward()


def measure(
    stacks: dict[str, GraphTransformer],
    batch: tuple[torch.Tensor, ...],
    run: Callable[[GraphTransformer, tuple[torch.Tensor, ...]], None],
    rounds: int,
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in stacks}
    for turn in range(rounds + 1):
        for name, stack in stacks.items():
            start = time.process_time()
            run(stack, batch)
            if turn:  # the first one warms up
                times[name].append(time.process_time() - start)
    return times


def roles_memory(words: int, width: int) -> float:
    """MiB that a training step on one sentence of so many words adds to the process."""
    pruning = Pruning(0.6, 30, 0.6, 300, None)
    module = RoleLabeller(
        width, ROLES, SENSES, words, span_size=512, role_size=250, pruning=pruning
    )
    x = torch.randn(1, words, width, requires_grad=True)
    features = {
        "predicate": torch.zeros(1, words, dtype=torch.long),
        "ends": torch.full((1, words, 1), -1),
        "senses": torch.randint(SENSES, (1, words, 20)),
    }
    mask = torch.ones(1, words, dtype=torch.bool)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scores = module(SentenceBatch(x, mask, torch.tensor([words]), features))
    with_none = torch.nn.functional.pad(scores.roles, (1, 0))
    loss = cross_entropy(with_none, torch.zeros(with_none.shape[:-1], dtype=torch.long))
    (loss + scores.senses.sum() + scores.predicates.sum()).backward()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


if __name__ == "__main__":
    main()
