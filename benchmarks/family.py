"""Words per second of a pipeline whose components share an encoder, against the same components run
one by one, each with a copy of the encoder, and against the encoder alone.

Both find the same. Times are CPU seconds of one thread, tokenization left out; what counts is the
median of the ratios of one round.

python benchmarks/family.py training/treebank/family/model-best corpus/treebank/family/test.spacy
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import spacy
import torch
from measuring import without_cache
from spacy.language import Language
from spacy.tokens import Doc

from spacy_biaffine.doc.given import give
from spacy_biaffine.formats.common.docbin import read_docbin


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="folder of a pipeline")
    parser.add_argument("corpus", type=Path, help=".spacy file")
    parser.add_argument("--encoder", default="tok2vec", help="the component that the others share")
    parser.add_argument("--docs", type=int, default=0, help="how many, 0 for all")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    torch.set_num_threads(1)
    nlp = load(args.model)
    golds = list(read_docbin(args.corpus, nlp.vocab))[: args.docs or None]
    bare = [give(gold, []) for gold in golds]
    words = sum(map(len, bare))
    family = [pipe for _, pipe in nlp.pipeline]
    turns = {"family": lambda: seconds(family, bare)}
    turns[args.encoder] = lambda: seconds([nlp.get_pipe(args.encoder)], bare)
    names = [name for name in nlp.pipe_names if name in nlp.get_pipe(args.encoder).listener_map]
    for name in names:
        turns[name] = alone(args.model, args.encoder, name, bare)
    times: dict[str, list[float]] = {name: [] for name in turns}
    for each in range(args.rounds + 1):
        for name, turn in turns.items():
            taken = turn()
            if each:  # the first one warms up
                times[name].append(taken)
    times["one by one"] = [sum(each) for each in zip(*(times[name] for name in names), strict=True)]
    print(f"{words} words in {len(bare)} Docs")
    for name, taken in times.items():
        print(f"{name:28}{words / statistics.median(taken):8.0f} words/s")
    for name in ("one by one", args.encoder):
        ratios = [a / b for a, b in zip(times[name], times["family"], strict=True)]
        print(f"{name} / family, time: {statistics.median(ratios):.2f}")


def load(model: Path) -> Language:
    """The pipeline, its encoder without a cache of features."""
    return spacy.load(model, config=without_cache(model))


def alone(model: Path, encoder: str, name: str, bare: list[Doc]) -> Callable[[], float]:
    """A turn of one component on a copy of the encoder; what it reads is on the Docs already."""
    nlp = load(model)
    before = nlp.pipe_names[: nlp.pipe_names.index(name)]
    with nlp.select_pipes(enable=before):
        docs = list(nlp.pipe(Doc(nlp.vocab).from_bytes(doc.to_bytes()) for doc in bare))
    nlp.replace_listeners(encoder, name, list(listeners(nlp.get_pipe_config(name)["model"])))
    pipe = nlp.get_pipe(name)
    return lambda: seconds([pipe], docs)


def listeners(block: Mapping[str, Any], path: str = "model") -> Iterator[str]:
    """Where a model's config has listeners."""
    if "Listener" in block.get("@architectures", ""):
        yield path
    for key, value in block.items():
        if isinstance(value, Mapping):
            yield from listeners(value, f"{path}.{key}")


def seconds(pipes: list[Any], docs: list[Doc]) -> float:
    """CPU seconds of some components, one after the other, on copies of the Docs."""
    stream: Any = [doc.copy() for doc in docs]
    start = time.process_time()
    for pipe in pipes:
        stream = pipe.pipe(stream, batch_size=128)
    for _ in stream:
        pass
    return time.process_time() - start


if __name__ == "__main__":
    main()
