"""Break the work of every command at random moments, go on, and compare with work that was not
broken. Prints the table of docs/reliability.md.

python -m benchmarks.faults --out faults.jsonl                 # all, some half an hour
python -m benchmarks.faults --out faults.jsonl --only convert --times 3

Run from the root of the repository, on Linux. Each fault is a line of faults.jsonl; those that are
there already are not repeated, so it can be stopped at any moment. What is done:

    killed, Ctrl-C    SIGKILL or SIGINT at a moment drawn from the time of the work
    disk full         no file may grow beyond a size drawn up to that of the largest output
    damaged           bytes of a file that was kept are cut off, changed, or replaced
    two at once       the same work twice at the same time

After each fault the same command is given again, to its end. A fault is well survived if what it
left was whole or absent, and if the end is that of the undisturbed work: the same bytes, or for
training the same weights.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from .breaking import Fault, faults
from .work import WORKS, Work


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="faults.jsonl")
    parser.add_argument("--only", help="work whose name begins so")
    parser.add_argument("--times", type=int, default=10, help="of each fault of each work")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    known = _lines(args.out)
    for work in WORKS:
        if args.only and not work.name.startswith(args.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            _break(work, Path(folder), args, known)
    print("\n".join(table(_lines(args.out))))
    sys.exit(any(line["lost"] for line in _lines(args.out)))


def _break(work: Work, folder: Path, args: argparse.Namespace, known: list[dict[str, Any]]) -> None:
    """All faults of a work that are not known yet."""
    done = {(line["work"], line["fault"], line["number"]) for line in known}
    missing = [
        (fault, number)
        for fault in faults(work)
        for number in range(args.times)
        if (work.name, fault.name, number) not in done
    ]
    if not missing:
        return
    whole = work.undisturbed(folder / "whole")
    print(f"{work.name}: {whole.seconds:.1f} s undisturbed", flush=True)
    for fault, number in missing:
        chance = random.Random(f"{args.seed} {work.name} {fault.name} {number}")
        line = {"work": work.name, "fault": fault.name, "number": number}
        line |= _tried(fault, work, folder / f"{fault.name}-{number}", chance, whole)
        print(json.dumps(line), flush=True)
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _tried(fault: Fault, work: Work, folder: Path, chance: random.Random, whole: Any) -> Any:
    try:
        return fault.tried(work, folder, chance, whole)
    except Exception as error:
        return {"moment": "", "lost": f"{type(error).__name__}: {error}"}


def _lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(lines: list[dict[str, Any]]) -> list[str]:
    """How often what was done while what, and what was lost; Markdown."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines:
        counts[line["work"]][line["fault"]] += 1
        counts[line["work"]]["lost"] += bool(line["lost"])
    names = list(dict.fromkeys(line["fault"] for line in lines))
    rows = [["while", *names, "lost"], ["---", *["---:"] * (len(names) + 1)]]
    for work, found in counts.items():
        rows.append([work, *(str(found[name] or "") for name in names), str(found["lost"])])
    total = sum(counts.values(), Counter())
    rows.append(["**all**", *(str(total[name]) for name in names), str(total["lost"])])
    return [f"| {' | '.join(row)} |" for row in rows]


if __name__ == "__main__":
    main()
