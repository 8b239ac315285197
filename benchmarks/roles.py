"""Speed and memory of syntax_srl: sentences per second in batches and one by one, what roles add to
the encoder's time, and the peak memory of a process that reads one long sentence.

Times are CPU seconds of one thread, which other work on the machine disturbs least; what counts is
the median of the ratios of one round.

python benchmarks/roles.py MODEL TEST.spacy
python benchmarks/roles.py MODEL TEST.spacy --profile    # and what the time goes to
"""

import argparse
import cProfile
import pstats
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import spacy
import torch
from measuring import peak_mib, without_cache
from spacy.tokens import Doc

from spacy_biaffine.doc.given import give
from spacy_biaffine.formats.common.docbin import read_docbin

GIVEN = ["heads", "tag", "lemma", "predicates"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="folder of a pipeline with syntax_srl")
    parser.add_argument("corpus", type=Path, help=".spacy file, a sentence a Doc, with trees")
    parser.add_argument("--component", default="syntax_srl")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=300, help="words of the long sentence")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(1)
    overrides = without_cache(args.model)
    nlp = spacy.load(args.model, config=overrides)
    golds = [doc for doc in read_docbin(args.corpus, nlp.vocab) if len(doc)][: args.sentences]
    pipe = nlp.get_pipe(args.component)
    encoder = pipe.model.get_ref("tok2vec")

    def encode(docs: list[Doc]) -> None:
        for start in range(0, len(docs), nlp.batch_size):
            encoder.predict(docs[start : start + nlp.batch_size])

    def label(docs: list[Doc]) -> None:
        for _ in pipe.pipe(docs, batch_size=nlp.batch_size):
            pass

    def label_singly(docs: list[Doc]) -> None:
        for doc in docs:
            pipe(doc)

    ways = {"encoder": encode, "batches": label, "singly": label_singly}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(args.rounds + 1):
        for name, run in ways.items():
            spent = cpu_seconds(run, fresh(golds))
            if turn:  # the first round warms up
                seconds[name].append(spent)
    for name, spent in seconds.items():
        print(f"{name:10} {len(golds) / statistics.median(spent):8,.0f} sentences/s")
    print(f"batches / singly      {ratio(seconds['singly'], seconds['batches']):.1f} times as fast")
    print(f"roles add             {ratio(seconds['batches'], seconds['encoder']) - 1:+.0%}")
    chain = f"[max(0, i - 1) for i in range({args.long})]"  # each word hangs on the one before it
    doc = f"Doc(nlp.vocab, words=text({args.long}), heads={chain}, deps=['dep'] * {args.long})"
    peak = peak_mib(args.model, overrides, doc)
    print(f"peak memory           {peak:,.0f} MiB, {args.long} words in a sentence", flush=True)
    if args.profile:
        profile = cProfile.Profile()
        profile.runcall(label, fresh(golds))
        pstats.Stats(profile).sort_stats("cumulative").print_stats(40)


def fresh(docs: list[Doc]) -> list[Doc]:
    """The same sentences with trees, tags, lemmas and bare predicates."""
    return [give(doc, GIVEN) for doc in docs]


def cpu_seconds(run: Callable[[list[Doc]], None], docs: list[Doc]) -> float:
    start = time.process_time()
    run(docs)
    return time.process_time() - start


def ratio(first: list[float], second: list[float]) -> float:
    """The median of the ratios of one round."""
    return statistics.median(a / b for a, b in zip(first, second, strict=True))


if __name__ == "__main__":
    main()
