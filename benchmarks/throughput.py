"""Words per second of a trained component, whole and encoder alone, and the peak memory of one long
Doc without sentence starts. Of norm_biaffine_parser also the share that decoding takes.

python benchmarks/throughput.py MODEL TEST.spacy --threads 2
python benchmarks/throughput.py MODEL TEST.spacy --component norm_biaffine_graph_parser --long 1000
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
from spacy.tokens import Doc, DocBin
from spacy.util import load_config

from spacy_biaffine.decode import mst


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
    overrides = _without_cache(args.model, args.component)
    nlp = spacy.load(args.model, config=overrides)
    golds = list(DocBin().from_disk(args.corpus).get_docs(nlp.vocab))
    pipe = nlp.get_pipe(args.component)
    size = nlp.batch_size
    encoder = pipe.model.get_ref("tok2vec")
    decoding = _Stopwatch()
    if args.component == "norm_biaffine_parser":
        options = pipe.model.get_ref("parser").attrs["predict_options"]
        options["decode"] = decoding.wrap(mst.decode_trees)

    def encode() -> None:
        docs = _fresh(golds)
        for start in range(0, len(docs), size):
            encoder.predict(docs[start : start + size])

    def annotate() -> None:
        for _ in pipe.pipe(_fresh(golds), batch_size=size):
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
    peak = _peak_mib(args.model, overrides, args.long)
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


def _fresh(docs: list[Doc]) -> list[Doc]:
    """The same words without annotation."""
    return [
        Doc(doc.vocab, words=[t.text for t in doc], spaces=[bool(t.whitespace_) for t in doc])
        for doc in docs
    ]


def _seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def _without_cache(model: str, component: str) -> dict[str, Any]:
    """Overrides that let a frozen encoder read every text anew."""
    tok2vec = load_config(Path(model, "config.cfg"))["components"][component]["model"]["tok2vec"]
    path = f"components.{component}.model.tok2vec.cache"
    return {path: None} if "cache" in tok2vec else {}


def _peak_mib(model: str, overrides: dict[str, Any], tokens: int) -> float:
    """Peak resident memory of a process that loads the model and parses one long Doc.

    From /proc, so on Linux alone: the peak of getrusage is inherited from the parent process.
    """
    code = (
        "import re, spacy; from spacy.tokens import Doc; "
        f"nlp = spacy.load({model!r}, config={overrides!r}); "
        f"words = ('the cat that we saw sat on a mat and slept ' * {tokens}).split()[:{tokens}]; "
        "doc = nlp(Doc(nlp.vocab, words=words)); "
        "print(re.search('VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(run.stdout.split()[-1]) / 1024


if __name__ == "__main__":
    main()
