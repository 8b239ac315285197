"""Memory and speed of global_pointer_ner.

python benchmarks/ner.py memory                    # peak of predicting one long Doc, per setting
python benchmarks/ner.py speed TEST.spacy MODEL... # words per second, whole and encoder alone

Models are trained pipelines with a global_pointer_ner, a spancat or an ner, to be compared on the
same words; they run in turn, and each has the median of its rounds.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import spacy
import torch
from measuring import without_cache
from spacy.tokens import Doc, DocBin

SETTINGS = [(2000, 10, True), (200, 1000, True), (2000, 10, False), (200, 1000, False)]
"""Words, types, efficient."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("memory")
    one = commands.add_parser("predict")
    one.add_argument("words", type=int)
    one.add_argument("types", type=int)
    one.add_argument("efficient", type=int)
    speed_parser = commands.add_parser("speed")
    speed_parser.add_argument("corpus", type=Path)
    speed_parser.add_argument("models", nargs="+")
    speed_parser.add_argument("--threads", type=int, default=2)
    speed_parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if args.command == "memory":
        memory()
    elif args.command == "predict":
        predict(args.words, args.types, efficient=bool(args.efficient))
    else:
        torch.set_num_threads(args.threads)
        speed(args.corpus, args.models, args.rounds)


def memory() -> None:
    """Each setting in a process of its own: the peak of a process never falls."""
    for words, types, efficient in SETTINGS:
        command = [sys.executable, __file__, "predict", str(words), str(types), str(int(efficient))]
        run = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        name = "Efficient GlobalPointer" if efficient else "GlobalPointer"
        print(f"{name}, {words:,} words, {types:,} types: {run.stdout.strip()}", flush=True)


def predict(words: int, types: int, *, efficient: bool) -> None:
    """Print how far predicting one Doc lifts the peak, with new weights and with a bias that makes
    half of all spans entities."""
    from spacy_biaffine.experiments.measure import peak_memory_mb

    torch.set_num_threads(1)
    nlp = spacy.blank("xx")
    config = {"model": {"efficient": efficient, "max_length": 2000}}
    pipe: Any = nlp.add_pipe("global_pointer_ner", config={**config, "spans_key": "sc"})
    for number in range(types):
        pipe.add_label(f"T{number}")
    pipe.model.set_dim("nO", types)
    pipe.model.initialize(X=[Doc(nlp.vocab, words=["a"])])
    text = ("the cat that we saw sat on a mat and slept " * words).split()[:words]
    nlp(Doc(nlp.vocab, words=text[:10]))
    before = peak_memory_mb() or 0.0
    nlp(Doc(nlp.vocab, words=text))
    new = (peak_memory_mb() or 0.0) - before
    with torch.no_grad():
        pipe.model.get_ref("pointer").shims[0].module.pointer.bias.zero_()
    nlp(Doc(nlp.vocab, words=text))
    worst = (peak_memory_mb() or 0.0) - before
    print(f"{new:,.0f} MiB above {before:,.0f}; {worst:,.0f} MiB where half of all are found")


def speed(corpus: Path, models: list[str], rounds: int) -> None:
    """Print words per second of each model; vectors that training kept are computed anew."""
    pipelines = {name: spacy.load(name, config=without_cache(name)) for name in models}
    golds = list(DocBin().from_disk(corpus).get_docs(spacy.blank("xx").vocab))
    words = sum(map(len, golds))
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for _ in range(rounds + 1):
        for name, nlp in pipelines.items():
            times[name].append((_seconds(_encoding(nlp, golds)), _seconds(_running(nlp, golds))))
    for name, measured in times.items():
        # The first round warms up.
        alone, whole = zip(*measured[1:], strict=True)
        ratio = statistics.median(a / w for a, w in measured[1:])
        print(
            f"{name}: {words / statistics.median(whole):,.0f} words/s; encoder alone "
            f"{words / statistics.median(alone):,.0f}; {ratio:.2f} of its speed"
        )


def _running(nlp: Any, golds: list[Doc]) -> Callable[[], None]:
    docs = _fresh(nlp, golds)

    def run() -> None:
        for _ in nlp.pipe(docs):
            pass

    return run


def _encoding(nlp: Any, golds: list[Doc]) -> Callable[[], None]:
    """The frozen transformer where there is one, else the whole tok2vec."""
    _, pipe = nlp.pipeline[-1]
    nodes = [node for node in pipe.model.walk() if node.name == "frozen_transformer"]
    encoder = nodes[0] if nodes else pipe.model.get_ref("tok2vec")
    docs = _fresh(nlp, golds)

    def run() -> None:
        for start in range(0, len(docs), nlp.batch_size):
            encoder.predict(docs[start : start + nlp.batch_size])

    return run


def _fresh(nlp: Any, golds: list[Doc]) -> list[Doc]:
    """The same words and sentence starts without entities."""
    return [
        Doc(
            nlp.vocab,
            words=[t.text for t in doc],
            spaces=[bool(t.whitespace_) for t in doc],
            sent_starts=[t.is_sent_start for t in doc],
        )
        for doc in golds
    ]


def _seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
