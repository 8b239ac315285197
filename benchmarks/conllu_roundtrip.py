"""There and back: CoNLL-U -> Docs -> DocBin -> Docs -> CoNLL-U, over whole treebanks.

    python benchmarks/conllu_roundtrip.py TREEBANK_FOLDER [TREEBANK_FOLDER ...]

Prints, for each treebank (all its .conllu files): equal lines of all lines, sentences whose
``doc.text`` and whose ``source_text(doc)`` are the ``# text`` comment, the same after merging
multiword tokens, and words per second of reading and of writing. Exits with 1 if a line differs.
"""

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_biaffine.formats.conllu.api import ReadReport, read_conllu, source_text, to_conllu
from spacy_biaffine.formats.conllu.kept import kept_sentences

_TEXT = re.compile(r"# text = (.*)")


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("treebanks", nargs="+", type=Path)
    parser.add_argument("--n-sents", type=int, default=1, help="sentences to a Doc")
    args = parser.parse_args()
    print(
        "| treebank | sentences | words | ranges | empty nodes | equal lines | boundaries kept "
        "| doc.text | source_text | merged doc.text | read words/s | write words/s |"
    )
    print("|" + "---|" * 12)
    exact = True
    for folder in args.treebanks:
        total: Counter[str] = Counter()
        for file in sorted(folder.glob("*.conllu")):
            total += measure(file, args.n_sents)
        exact &= total["equal"] == total["lines"] > 0
        print(row(folder.name, total), flush=True)
    return 0 if exact else 1


def measure(file: Path, n_sents: int) -> Counter[str]:
    """Counts of one file."""
    report = ReadReport()
    start = time.perf_counter()
    read = list(read_conllu(file, Vocab(), n_sents=n_sents, report=report))
    read_time = time.perf_counter() - start
    docs = list(DocBin().from_bytes(DocBin(docs=read).to_bytes()).get_docs(Vocab()))
    start = time.perf_counter()
    written = "".join(to_conllu(doc) for doc in docs)
    write_time = time.perf_counter() - start
    original = file.read_bytes().decode("utf-8").split("\n")
    pairs = list(zip(original, written.split("\n"), strict=False))
    counts = Counter(
        sentences=report.sentences,
        words=report.words,
        ranges=report.ranges,
        empty=report.empty_nodes,
        lines=max(len(original), len(written.split("\n"))),
        equal=sum(a == b for a, b in pairs),
        bounds=sum(
            [(s.start, s.end) for s in doc.sents] == [(s.start, s.end) for s in kept_sentences(doc)]
            for doc in docs
        ),
        docs=len(docs),
        text=sum(doc.text == wanted_text(doc) for doc in docs),
        source=sum(source_text(doc) == wanted_text(doc) for doc in docs),
        microseconds_read=int(read_time * 1e6),
        microseconds_write=int(write_time * 1e6),
    )
    merged = read_conllu(file, Vocab(), n_sents=n_sents, merge_mwt=True)
    counts["merged"] = sum(doc.text == wanted_text(doc) for doc in merged)
    return counts


def wanted_text(doc: Doc) -> str | None:
    """The Doc's ``# text`` comments, spaced as the Doc spaces its sentences; None without."""
    parts = []
    for sentence in kept_sentences(doc):
        found = [m[1] for m in map(_TEXT.match, sentence.lines("comments")) if m]
        if not found:
            return None
        parts.append(found[0] + doc[sentence.end - 1].whitespace_)
    return "".join(parts)


def row(name: str, n: Counter[str]) -> str:
    """One line of the table."""
    cells = [
        name,
        f"{n['sentences']:,}",
        f"{n['words']:,}",
        f"{n['ranges']:,}",
        f"{n['empty']:,}",
        f"{n['equal']:,} / {n['lines']:,}",
        *(f"{n[key]:,} / {n['docs']:,}" for key in ("bounds", "text", "source", "merged")),
        *(
            f"{1e6 * n['words'] / n[key]:,.0f}"
            for key in ("microseconds_read", "microseconds_write")
        ),
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
