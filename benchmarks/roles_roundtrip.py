"""Semantic roles: files -> Docs -> CoNLL-2005 and CoNLL-2009 -> Docs, and what senses are seen.

    python benchmarks/roles_roundtrip.py TRAIN.tsv DEV.tsv [OTHER.tsv ...]

The files are in the form of EWT-PropBank (``convert-roles --form propbank``). Prints, for each one,
counts, how many sentences come back from either form with the frames that were written, and how
many lines of CoNLL-2005 have the brackets of the source; then, with the senses of TRAIN, by lemma
and by form alone, how many predicates of the others have a lemma and a sense that was seen, and of
how many the most frequent one is right. Exits with 1 where something does not come back.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from spacy.tokens import Doc, Token
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import Frame
from spacy_biaffine.formats.props.api import (
    EWT_PROPBANK,
    PropsReport,
    SpanColumns,
    conll09,
    frames_of_words,
    read_props,
    span_columns,
    write_conll05,
    write_conll09,
)
from spacy_biaffine.pipeline.senses import Senses, lemma_of

WRITTEN = span_columns(SpanColumns(word=0, frame=1))


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="the first one is for training")
    files = parser.parse_args().files
    print("| file | sentences | words | predicates | arguments | CoNLL-2005 | lines | CoNLL-2009 |")
    print("|" + "---|" * 8)
    exact = True
    predicates = []
    for file in files:
        report = PropsReport()
        docs = list(read_props(file, Vocab(), span_columns(), report=report))
        same, lines, same_words = come_back(file, docs)
        exact &= same == same_words == len(docs) and lines[0] == lines[1]
        counts = (report.sentences, report.words, report.predicates, report.roles.total())
        cells = [file.name, *(f"{n:,}" for n in counts)]
        cells += [f"{same:,} / {len(docs):,}", f"{lines[0]:,} / {lines[1]:,}"]
        print("| " + " | ".join([*cells, f"{same_words:,} / {len(docs):,}"]) + " |", flush=True)
        predicates.append([(f.predicate[0][0], f.sense) for doc in docs for f in doc._.frames])
    print_senses(files, predicates)
    return 0 if exact else 1


def come_back(file: Path, docs: list[Doc]) -> tuple[int, tuple[int, int], int]:
    """Sentences that come back from CoNLL-2005, equal lines of all lines, and from CoNLL-2009."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "roles.txt"
        write_conll05(docs, path)
        spans = list(read_props(path, Vocab(), WRITTEN))
        lines = equal_lines(file, path)
        write_conll09(docs, path)
        words = list(read_props(path, Vocab(), conll09()))
    same = [
        [(predicate, roles) for predicate, _, roles in plain(doc._.frames)]
        == [(predicate, roles) for predicate, _, roles in plain(back._.frames)]
        for doc, back in zip(docs, spans, strict=True)
    ]
    same_words = [
        plain(frames_of_words(doc._.frames)) == plain(back._.frames)
        for doc, back in zip(docs, words, strict=True)
    ]
    return sum(same), lines, sum(same_words)


def plain(frames: list[Frame]) -> list[tuple]:
    """Predicate, sense and roles in numbers of tokens."""
    return [
        (
            [(span.start, span.end) for span in frame.predicate],
            frame.sense,
            [(role.label, [(s.start, s.end) for s in role.spans]) for role in frame.roles],
        )
        for frame in frames
    ]


def equal_lines(source: Path, written: Path) -> tuple[int, int]:
    """How many lines have the same brackets, and how many lines there are."""
    lines = source.read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines if not line.startswith("# ")]
    others = [line.split("\t") for line in written.read_text(encoding="utf-8").split("\n")]
    pairs = list(zip(rows, others, strict=True))
    return sum(a[EWT_PROPBANK.fixed :] == b[2:] for a, b in pairs), len(pairs)


def print_senses(files: list[Path], predicates: list[list[tuple[Token, str]]]) -> None:
    """A table of what the senses of the first file know of the others."""
    senses = Senses.of(predicates[0])
    print("\n| file | by | lemma seen | sense seen | most frequent right |\n|" + "---|" * 5)
    keys = {"lemma": lemma_of, "form": lambda token: token.text.lower()}
    for file, found in zip(files[1:], predicates[1:], strict=True):
        for name, key in keys.items():
            judged = [
                (bool(seen := senses.seen(key(t))), sense in seen, sense == senses.best(key(t)))
                for t, sense in found
            ]
            shares = (
                f"{100 * sum(column) / len(judged):.2f}" for column in zip(*judged, strict=True)
            )
            print(f"| {file.name} | {name} | " + " | ".join(shares) + " |")


if __name__ == "__main__":
    sys.exit(main())
