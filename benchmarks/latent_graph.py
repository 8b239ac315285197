"""Bonds of molecules from their atoms: normalized against raw scores, at one to three graph
attention layers, as in Appendix B of the paper, on the 1,000 molecules of GDB-1K.

python benchmarks/latent_graph.py gdb1k.sdf            # github.com/deepchem/deepchem, datasets/
python benchmarks/latent_graph.py gdb1k.sdf --steps 50 --seeds 0 --layers 1

Bonds can be told from distances, so in the end all find them. What differs is how soon.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from latent_graph_model import Graphs, LatentGraph, edge_counts, edge_loss, unlabelled_f1
from torch import Tensor

ATOMS = ("H", "C", "N", "O", "S")
FEATURES = len(ATOMS) + 3
SPLIT = (800, 100, 100)

Graph = tuple[Tensor, Tensor]


def read_sdf(path: Path) -> list[Graph]:
    """Molecules of an SDF file (V2000): nodes are the kind of atom and its place, edges the bonds.

    Numbers are cut by column: in large molecules they touch each other.
    """
    graphs: list[Graph] = []
    for block in path.read_text(encoding="utf8").split("$$$$\n"):
        lines = block.splitlines()
        if len(lines) < 4:
            continue
        n_atoms, n_bonds = int(lines[3][0:3]), int(lines[3][3:6])
        atoms, bonds = lines[4 : 4 + n_atoms], lines[4 + n_atoms : 4 + n_atoms + n_bonds]
        if not lines[3].rstrip().endswith("V2000") or len(bonds) < n_bonds:
            raise ValueError(f"{path}: molecule {len(graphs) + 1} is not in SDF (V2000)")
        places = torch.tensor([[float(a[i : i + 10]) for i in (0, 10, 20)] for a in atoms])
        kinds = torch.tensor([ATOMS.index(atom[31:34].strip()) for atom in atoms])
        nodes = torch.cat([torch.eye(len(ATOMS))[kinds], places - places.mean(dim=0)], dim=1)
        pairs = torch.tensor([[int(bond[0:3]), int(bond[3:6])] for bond in bonds]).view(-1, 2) - 1
        graphs.append((nodes, torch.cat([pairs, pairs.flip(1)])))
    return graphs


@torch.inference_mode()
def f1(model: LatentGraph, graphs: Graphs) -> float:
    """Unlabelled F1, with dropout off."""
    model.eval()
    return unlabelled_f1(edge_counts(model(graphs.nodes, graphs.mask), graphs))


def run(
    splits: list[list[Graph]], *, layers: int, normalize: bool, seed: int, args: argparse.Namespace
) -> tuple[float, int]:
    """Test F1 of the model that is the best on dev, and how many parameters it has."""
    torch.manual_seed(seed)
    train, dev, test = splits
    dev_graphs, test_graphs = Graphs.of(dev), Graphs.of(test)
    model = LatentGraph(FEATURES, args.size, layers=layers, normalize=normalize)
    optimizer = torch.optim.AdamW(model.parameters(), args.rate)
    best = (-1.0, 0.0)
    for step in range(1, args.steps + 1):
        model.train()
        chosen = torch.randint(len(train), (args.batch,)).tolist()
        graphs = Graphs.of([train[number] for number in chosen])
        optimizer.zero_grad()
        edge_loss(model(graphs.nodes, graphs.mask), graphs).backward()
        optimizer.step()
        if step % args.every == 0 or step == args.steps:
            best = max(best, (f1(model, dev_graphs), f1(model, test_graphs)))
    return best[1], sum(parameter.numel() for parameter in model.parameters())


def cell(scores: list[float]) -> str:
    """Mean ± standard deviation."""
    values = torch.tensor(scores, dtype=torch.float64)
    spread = values.std().item() if len(values) > 1 else 0.0
    return f"{values.mean().item():.3f} ± {spread:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sdf", type=Path)
    parser.add_argument("--layers", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--every", type=int, default=50, help="steps between evaluations")
    parser.add_argument("--batch", type=int, default=32, help="molecules in a batch")
    parser.add_argument("--size", type=int, default=148, help="width of states and scores")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    graphs = read_sdf(args.sdf)
    order = torch.randperm(len(graphs), generator=torch.Generator().manual_seed(0)).tolist()
    train, dev, _ = SPLIT
    cuts = (order[:train], order[train : train + dev], order[train + dev :])
    splits = [[graphs[number] for number in cut] for cut in cuts]
    print(f"{len(graphs)} molecules, {args.steps} steps, test F1 over seeds {args.seeds}\n")
    print("| a | layers | parameters | F1 | seconds a run |\n| :-- | --: | --: | --: | --: |")
    for normalize, name in ((False, "1"), (True, "1/sqrt(d)")):
        for layers in args.layers:
            start = time.perf_counter()
            settings = {"layers": layers, "normalize": normalize, "args": args}
            found = [run(splits, seed=seed, **settings) for seed in args.seeds]
            seconds = (time.perf_counter() - start) / len(found)
            scores = [score for score, _ in found]
            print(
                f"| {name} | {layers} | {found[0][1]} | {cell(scores)} | {seconds:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
