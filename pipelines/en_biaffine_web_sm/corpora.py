"""Make a pipeline's corpora: trees, tags and lemmas of a treebank, for English also frames of
EWT-PropBank, entities of the Broad Twitter Corpus, of WNUT 2017 and of Universal NER.

python corpora.py UD_English-EWT CORPUS --propbank EWT-PROPBANK --btc BTC --wnut WNUT17 \
    --uner UNER_English-EWT
python corpora.py UD_French-Sequoia CORPUS

Writes CORPUS/train/{web,btc,wnut}.spacy and CORPUS/{dev,test}.spacy, "web" for the treebank. Docs
of train are runs of up to SENTENCES sentences of one document, those of dev and test whole
documents. A sentence that EWT-PropBank lacks has no known frames, so it stands in a Doc of its own.
Universal NER has entities of the treebank's sentences: they are added to those parts of the
treebank whose file is there (en_ewt-ud-PART.iob2).
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from entities import NO_TOKEN, Tagged, entities_on, read_entities
from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from spacy_biaffine.doc.graphs import Frame, Role, set_frames
from spacy_biaffine.formats.common.docbin import write_docbin
from spacy_biaffine.formats.conllu.read import Sentence, read_sentences
from spacy_biaffine.formats.conllu.to_docs import DocMaker
from spacy_biaffine.formats.convert.treebank import find_splits
from spacy_biaffine.formats.props.api import read_props, span_columns

SENTENCES = 8
PARTS = ("train", "dev", "test")
KINDS = {"person": "PER", "location": "LOC", "corporation": "ORG", "group": "ORG"}
"""WNUT 2017's types as PER, LOC and ORG. Its products and creative works are none of these."""

Frames = list[Frame]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", type=Path, help="folder")
    parser.add_argument("corpus", type=Path, help="folder")
    for name in ("propbank", "btc", "wnut", "uner"):
        parser.add_argument(f"--{name}", type=Path, help="folder; left out without")
    args = parser.parse_args()
    vocab = Vocab()
    files = find_splits(args.treebank)
    if missing := set(PARTS) - set(files):
        raise SystemExit(f"{args.treebank} has no file *-ud-{missing.pop()}.conllu")
    for part in PARTS:
        sentences, known = read_sentences(files[part]), {}
        if args.propbank:
            known = frames_by_sentence(args.propbank / f"en_ewt-propbank-{part}.tsv", vocab)
        tagged = args.uner / f"en_ewt-ud-{part}.iob2" if args.uner else None
        entities = read_entities(tagged) if tagged and tagged.exists() else {}
        docs = web_docs(sentences, known, entities, vocab, SENTENCES if part == "train" else 0)
        write(docs, args.corpus / ("train/web.spacy" if part == "train" else f"{part}.spacy"))
    if args.btc:
        write(tweets(args.btc / "btc.train.conll", vocab, {}), args.corpus / "train/btc.spacy")
    if args.wnut:
        tagged = tweets(args.wnut / "wnut17train.conll", vocab, KINDS)
        write(tagged, args.corpus / "train/wnut.spacy")


def write(docs: Iterable[Doc], path: Path) -> None:
    counts: Counter[str] = Counter()

    def counted() -> Iterator[Doc]:
        for doc in docs:
            counts.update(docs=1, words=len(doc), entities=len(doc.ents))
            counts.update(frames=len(doc._.frames))
            yield doc

    path.parent.mkdir(parents=True, exist_ok=True)
    write_docbin(counted(), path)
    print(path, dict(counts))


class Known(NamedTuple):
    words: list[str]
    frames: Frames


def frames_by_sentence(path: Path, vocab: Vocab) -> dict[str, Known]:
    """The frames of each sentence, over a Doc of its own, by sent_id."""
    ids = re.findall(r"^# sent_id = (.+)$", path.read_text(encoding="utf8"), re.MULTILINE)
    docs = read_props(path, vocab, span_columns())
    return {
        name: Known([token.text for token in doc], doc._.frames)
        for name, doc in zip(ids, docs, strict=True)
    }


def web_docs(
    sentences: Iterable[Sentence],
    known: dict[str, Known],
    entities: Tagged,
    vocab: Vocab,
    limit: int,
) -> Iterator[Doc]:
    """Docs of neighbouring sentences, at most limit (0: all), with frames and entities where
    known."""
    maker = DocMaker(vocab)
    for group in grouped(sentences, known, limit):
        doc = maker.make(group)
        if group[0].sent_id in known:
            set_frames(doc, list(moved(doc, group, known)))
        if entities:
            set_entities(doc, group, entities)
        yield doc


def set_entities(doc: Doc, group: list[Sentence], known: Tagged) -> None:
    """Give a Doc the entities of its sentences, but for those that cut a word. Words of sentences
    that Universal NER lacks stay unknown."""
    start, found, unknown = 0, [], []
    for sentence in group:
        end = start + len(sentence.words)
        if sentence.sent_id in known:
            found += [each for each in entities_on(sentence, known, start) if NO_TOKEN not in each]
        else:
            unknown.append(doc[start:end])
        start = end
    spans = [Span(doc, *ends, label) for *ends, label in found]
    doc.set_ents(spans, missing=unknown, default="outside")


def grouped(
    sentences: Iterable[Sentence], known: dict[str, Known], limit: int
) -> Iterator[list[Sentence]]:
    """Runs of sentences of one document that are alike in whether their frames are known."""
    document = 0
    tagged = []
    for sentence in sentences:
        document += sentence.starts_doc
        tagged.append((document, sentence.sent_id in known, sentence))
    for _, run in groupby(tagged, key=lambda each: each[:2]):
        group = [sentence for *_, sentence in run]
        step = limit or len(group)
        yield from (group[i : i + step] for i in range(0, len(group), step))


def moved(doc: Doc, group: list[Sentence], known: dict[str, Known]) -> Iterator[Frame]:
    """The known frames of all sentences, over one Doc. Raises ValueError where words differ."""
    start = 0
    for sentence in group:
        end = start + len(sentence.words)
        words, frames = known.get(sentence.sent_id, Known([], []))
        if words and words != [token.text for token in doc[start:end]]:
            raise ValueError(f"{sentence.place}: words differ from those of {sentence.sent_id}")
        for frame in frames:
            roles = tuple(
                Role(role.label, tuple(doc[start + s.start : start + s.end] for s in role.spans))
                for role in frame.roles
            )
            predicate = tuple(doc[start + s.start : start + s.end] for s in frame.predicate)
            yield Frame(predicate, frame.sense, roles)
        start = end


def tweets(path: Path, vocab: Vocab, kinds: dict[str, str]) -> Iterator[Doc]:
    """Docs of a file of tokens and BIO tags. kinds: new names of types; others are outside. Without
    any, names stay."""
    lines = path.read_text(encoding="utf8").splitlines()
    for filled, block in groupby(lines, key=lambda line: bool(line.strip())):
        if filled:
            rows = [line.rstrip().split("\t") for line in block]
            tags = [renamed(row[-1], kinds) for row in rows]
            yield Doc(vocab, words=[row[0] for row in rows], ents=tags)


def renamed(tag: str, kinds: dict[str, str]) -> str:
    prefix, _, kind = tag.partition("-")
    if kinds:
        return f"{prefix}-{kinds[kind]}" if kind in kinds else "O"
    return tag


if __name__ == "__main__":
    main()
