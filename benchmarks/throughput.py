"""Words per second of a trained component, whole and encoder alone, and the peak memory of one long
Doc without sentence starts. Of norm_biaffine_parser also the share that decoding takes.

python benchmarks/throughput.py MODEL TEST.spacy --threads 2
python benchmarks/throughput.py MODEL TEST.spacy --component norm_biaffine_graph_parser --long 1000
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import spacy
import torch
from measuring import peak_mib, without_cache
from spacy.tokens import Doc, DocBin

from spacy_biaffine.decode import mst
from spacy_biaffine.doc.given import give


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", help="folder of a pipeline")
    parser.add_argument("corpus", type=Path, help=".spacy file")
    parser.add_argument("--component", default="norm_biaffine_parser")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--long", type=int, default=5000, help="tokens of the long Doc")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    overrides = without_cache(args.model)
    nlp = spacy.load(args.model, config=overrides)
    golds = list(DocBin().from_disk(args.corpus).get_docs(nlp.vocab))
    pipe = nlp.get_pipe(args.component)
    size = nlp.batch_size
    encoder = pipe.model.get_ref("tok2vec")
    decoding = _Stopwatch()
    if args.component == "norm_biaffine_parser":
        options = pipe.model.get_ref("parser").attrs["predict_options"]
        options["decode"] = decoding.wrap(mst.decode_trees)

    def fresh() -> list[Doc]:
        return [give(gold, []) for gold in golds]

    def encode() -> None:
        docs = fresh()
        for start in range(0, len(docs), size):
            encoder.predict(docs[start : start + size])

    def annotate() -> None:
        for _ in pipe.pipe(fresh(), batch_size=size):
            pass

    words = sum(map(len, golds))
    alone, whole, share = [], [], []
    for _ in range(args.rounds + 1):
        alone.append(_seconds(encode))
        decoding.seconds = 0.0
        whole.append(_seconds(annotate))
        share.append(decoding.seconds / whole[-1])
    # The first round warms up.
    alone, whole, share = alone[1:], whole[1:], share[1:]
    ratio = statistics.median(a / w for a, w in zip(alone, whole, strict=True))
    print(f"words                  {words:,}")
    print(f"encoder alone          {words / statistics.median(alone):,.0f} words/s")
    print(f"encoder and component  {words / statistics.median(whole):,.0f} words/s")
    print(f"whole / encoder alone  {ratio:.2f} of its speed")
    if decoding.seconds:
        print(f"decoding               {statistics.median(share):.1%} of the time")
    peak = peak_mib(args.model, overrides, f"Doc(nlp.vocab, words=text({args.long}))")
    print(f"peak memory, {args.long:,} tokens in one Doc: {peak:,.0f} MiB")


class _Stopwatch:
    """Adds up the time spent in a function."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wrap(self, function: Callable) -> Callable:
        def timed(*args):
            start = time.perf_counter()
            result = function(*args)
            self.seconds += time.perf_counter() - start
            return result

        return timed


def _seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
