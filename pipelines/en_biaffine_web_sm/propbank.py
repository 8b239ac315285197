"""Join the PropBank release's frames of the English Web Treebank with the words of UD_English-EWT.

python propbank.py --ewt UD_English-EWT --propbank propbank-release OUT

The release has no words, only their Penn tags, predicates and arguments. Documents are paired by
name and their sentences in order; a pair is kept if both sides have the same number of words and
at least 70 % of the tags are equal. Sentences that are left out are counted.

Writes OUT/en_ewt-propbank-{train,dev,test}.tsv with the columns number, word, lemma, UPOS, XPOS,
head, label, frame, sense, and for each predicate one of arguments in the brackets of CoNLL-2005.

propbank-release is a folder or a .tar.gz of github.com/propbank/propbank-release.
"""

import argparse
import hashlib
import re
import tarfile
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path

from spacy_biaffine.formats.common.atomic import whole_text
from spacy_biaffine.formats.conllu.read import (
    DEPREL,
    FORM,
    HEAD,
    LEMMA,
    UPOS,
    XPOS,
    Sentence,
    read_sentences,
)

PARTS = ("train", "dev", "test")
EQUAL_TAGS = 0.7
COMMIT = "4abade0b53ce4a181e1d98b3518101c1a44d395a"
DIGEST = "de6c69af96e5e9501b070aa78fc31fb57019d5555af44178971d2622ec5c2617"
"""SHA-256 of the files of that commit that are read here, one after the other in order of names."""

FILE = re.compile(r"google/ewt/(\w+)/00/(.+)\.xml\.gold_skel$")
TAG, FRAME = 4, 6
"""Columns of a skeleton: document, sentence, word, [WORD], tag, brackets of the tree, frame, sense,
and one for each predicate."""

Rows = list[list[str]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ewt", type=Path, required=True)
    parser.add_argument("--propbank", type=Path, required=True)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    skeletons = read_skeletons(args.propbank)
    for part in PARTS:
        sentences = read_sentences(args.ewt / f"en_ewt-ud-{part}.conllu")
        counts: Counter[str] = Counter()
        path = args.out / f"en_ewt-propbank-{part}.tsv"
        with whole_text(path) as file:
            file.writelines(joined(sentences, skeletons, counts))
        print(path, dict(counts))


def read_skeletons(release: Path) -> dict[str, list[Rows]]:
    """The sentences of each document, by GENRE-NAME. Raises ValueError where there are none."""
    files = dict(sorted(skeleton_files(release)))
    if not files:
        raise ValueError(f"{release}: no data/google/ewt/*/00/*.gold_skel of propbank-release here")
    digest = hashlib.sha256(b"".join(files.values())).hexdigest()
    if digest != DIGEST:
        print(f"{release} is not commit {COMMIT} of propbank-release: other figures will come out")
    return {name: list(sentences_of(text.decode("utf8"))) for name, text in files.items()}


def skeleton_files(release: Path) -> Iterator[tuple[str, bytes]]:
    """GENRE-NAME and content of each skeleton in a folder or archive."""
    if release.is_dir():
        for path in release.rglob("*.gold_skel"):
            if match := FILE.search(path.as_posix()):
                yield "-".join(match.groups()), path.read_bytes()
        return
    with tarfile.open(release) as archive:
        for member in archive:
            match, file = FILE.search(member.name), archive.extractfile(member)
            if match and file:
                yield "-".join(match.groups()), file.read()


def sentences_of(text: str) -> Iterator[Rows]:
    for block in re.split(r"\n\s*\n", text.strip()):
        yield [line.split() for line in block.splitlines()]


def joined(
    sentences: Iterable[Sentence], skeletons: dict[str, list[Rows]], counts: Counter[str]
) -> Iterator[str]:
    """The sentences with arguments, as blocks of lines."""
    for name, document in documents(sentences):
        if name not in skeletons:
            counts["sentences of documents without PropBank"] += len(document)
            continue
        pairs = [
            (sentence, number)
            for sentence, number in in_order(document, skeletons[name])
            if alike(sentence, skeletons[name][number])
        ]
        counts["sentences with other words"] += len(document) - len(pairs)
        for sentence, number in pairs:
            rows = skeletons[name][number]
            senses = sum(row[FRAME + 1] != "-" for row in rows)
            counts.update(sentences=1, words=len(rows), predicates=senses)
            yield block_of(sentence, rows, number)


def documents(sentences: Iterable[Sentence]) -> Iterator[tuple[str, list[Sentence]]]:
    """The documents and their names."""
    found: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        found.setdefault(sentence.sent_id.rpartition("-")[0], []).append(sentence)
    yield from found.items()


def in_order(document: list[Sentence], skeleton: list[Rows]) -> Iterator[tuple[Sentence, int]]:
    """Pairs of sentences. Where one side has more of them, the numbers of words say which."""
    if len(document) == len(skeleton):
        yield from zip(document, range(len(skeleton)), strict=True)
        return
    lengths = [len(sentence.words) for sentence in document]
    matcher = SequenceMatcher(None, lengths, [len(rows) for rows in skeleton], autojunk=False)
    for first, second, size in matcher.get_matching_blocks():
        yield from ((document[first + i], second + i) for i in range(size))


def alike(sentence: Sentence, rows: Rows) -> bool:
    if len(sentence.words) != len(rows):
        return False
    pairs = zip(sentence.words, rows, strict=True)
    equal = sum(word[XPOS] == row[TAG] for word, row in pairs)
    return equal >= EQUAL_TAGS * len(rows)


def block_of(sentence: Sentence, rows: Rows, number: int) -> str:
    lines = [f"# sent_id = {sentence.sent_id}", f"# propbank = {rows[0][0]} {number}"]
    for place, (word, row) in enumerate(zip(sentence.words, rows, strict=True), 1):
        cells = [word[column] for column in (FORM, LEMMA, UPOS, XPOS, HEAD, DEPREL)]
        lines.append("\t".join([str(place), *cells, *row[FRAME:]]))
    return "\n".join(lines) + "\n\n"


if __name__ == "__main__":
    main()
