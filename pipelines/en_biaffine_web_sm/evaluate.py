"""Score a pipeline on the test sets: metrics as JSON, and as a table.

python evaluate.py PIPELINE --treebank UD_English-EWT --out metrics.json
    --propbank EWT-PROPBANK --entities UNER_English-EWT    frames and entities of the same documents
    --more UD_English-PUD    another treebank

Documents are read whole, first on their gold tokens, with nothing else given, then from plain
text. On gold tokens: accuracy of tags, lemmas, heads and labels over all words, F1 of sentences,
predicates, arguments and entities, each with the middle 95 % of 1,000 draws of documents. Plain
text is scored by the script of the CoNLL 2018 shared task. Test sets that are not named are left
out, and so are layers that the pipeline does not predict, which is said.
"""

import argparse
from collections import defaultdict
from pathlib import Path
from shutil import which
from typing import Any

import spacy
import srsly
import torch
from corpora import frames_by_sentence
from entities import ENTITIES, read_entities
from figures import LAYERS, Counts, compare, figure_of, roles
from gold import (
    Document,
    entities_in,
    give_frames,
    read_documents,
    test_file,
)
from plain_text import score_plain_text
from spacy.language import Language
from spacy.tokens import Doc
from table import tables

from spacy_biaffine.doc.graphs import FRAMES, has_graph
from spacy_biaffine.formats.corpora.corpus import give
from spacy_biaffine.gold.roles import frames_in_tokens

Metrics = dict[str, Any]


def main() -> None:
    args = arguments()
    torch.set_num_threads(args.threads)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    nlp = spacy.load(args.pipeline)
    metrics: Metrics = {"pipeline": args.called or called(nlp)}
    for treebank in [args.treebank, *args.more]:
        file = test_file(treebank)
        documents = read_documents(file, nlp.vocab)
        docs = list(nlp.pipe(give(document.doc, []) for document in documents))
        found = on_treebank(docs, documents, args.figures)
        if treebank == args.treebank and args.propbank:
            found |= on_frames(docs, documents, args.propbank)
        if treebank == args.treebank and args.entities:
            found |= on_entities(docs, documents, args.entities, dict(args.labels))
        metrics[treebank.name] = {"documents": len(documents), "words": sum(map(len, docs))}
        metrics[treebank.name]["gold tokens"] = {
            name: figure_of(counts)._asdict() for name, counts in found.items()
        }
        if args.text and not which("udeval"):
            print("no scores of plain text: they need the command udeval, pip install udtools")
        elif args.text:
            metrics[treebank.name]["plain text"] = score_plain_text(nlp, documents, file)
    srsly.write_json(args.out, metrics)
    print("\n".join(tables(metrics)))


def called(nlp: Language) -> str:
    return f"{nlp.lang}_{nlp.meta['name']} {nlp.meta['version']}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pipeline", help="name or folder")
    parser.add_argument("--treebank", type=Path, required=True, help="folder")
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="folders")
    parser.add_argument("--propbank", type=Path, help="folder of what propbank.py writes")
    parser.add_argument("--entities", type=Path, help="folder of Universal NER for the treebank")
    parser.add_argument("--out", type=Path, required=True, help="metrics.json")
    parser.add_argument("--called", help="name and version in tables; by default those in its meta")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--figures", nargs="*", choices=LAYERS, default=list(LAYERS))
    parser.add_argument("--text", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument(
        "--labels",
        nargs="*",
        default=[(label, label) for label in ENTITIES],
        type=lambda pair: tuple(pair.split("=")),
        metavar="LABEL=PER",
        help="entity labels of the pipeline that stand for PER, LOC or ORG; others are left out",
    )
    return parser.parse_args()


def on_treebank(
    docs: list[Doc], documents: list[Document], names: list[str]
) -> dict[str, list[Counts]]:
    pairs = list(zip(docs, documents, strict=True))
    found = {}
    for name in names:
        attr, count = LAYERS[name]
        if any(doc.has_annotation(attr) for doc in docs):
            found[name] = [count(doc, gold.doc) for doc, gold in pairs]
        else:
            print(f"no {name}: the pipeline does not predict it")
    return found


def on_frames(
    docs: list[Doc], documents: list[Document], propbank: Path
) -> dict[str, list[Counts]]:
    """Sentences whose frames are unknown do not count."""
    if not any(has_graph(doc, FRAMES) for doc in docs):
        print("no frames: the pipeline does not predict them")
        return {}
    (file,) = propbank.glob("*-test.tsv")
    known = frames_by_sentence(file, docs[0].vocab)
    found: dict[str, list[Counts]] = defaultdict(list)
    for doc, document in zip(docs, documents, strict=True):
        tokens = give_frames(document, known)
        ours = [frame for frame in frames_in_tokens(doc) if frame.predicate in tokens]
        for name, counts in roles(ours, frames_in_tokens(document.doc)).items():
            found[name].append(counts)
    return found


def on_entities(
    docs: list[Doc], documents: list[Document], folder: Path, labels: dict[str, str]
) -> dict[str, list[Counts]]:
    if not any(doc.has_annotation("ENT_IOB") for doc in docs):
        print("no entities: the pipeline does not predict them")
        return {}
    (file,) = folder.glob("*-test.iob2")
    known = read_entities(file)
    found: dict[str, list[Counts]] = {"Entities": []}
    found |= {name: [] for name in ENTITIES}
    for doc, document in zip(docs, documents, strict=True):
        wanted = entities_in(document, known)
        ours = [(e.start, e.end, labels[e.label_]) for e in doc.ents if e.label_ in labels]
        found["Entities"].append(compare(ours, wanted))
        for name in ENTITIES:
            pair = ([each for each in items if each[2] == name] for items in (ours, wanted))
            found[name].append(compare(*pair))
    return found


if __name__ == "__main__":
    main()
