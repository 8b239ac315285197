"""Registered corpus readers whose examples have gold tokens and, if asked, given layers.

A given layer (``given = ["sents", "tag"]``) stands on the predicted Doc before any component runs,
so a component can be trained and evaluated with, say, gold sentences and gold tags as papers do.
For a pipeline's own tokenization use spaCy's ``spacy.Corpus.v1``.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from ...doc.given import check_given, give
from ..common.docbin import read_docbin
from ..common.lines import Skipped
from ..common.sentences import sentence_docs
from ..conllu.api import ReadReport, read_conllu

Reader = Callable[[Language], Iterator[Example]]
"""What training calls with a pipeline."""


def ConlluCorpus(  # noqa: N802 (spaCy names registered functions like classes)
    path: Path,
    n_sents: int = 1,
    by_doc: bool = False,
    merge_mwt: bool = False,
    skip_bad: bool = False,
    given: Sequence[str] = (),
    limit: int = 0,
) -> Reader:
    """Examples straight from a CoNLL-U file, or from all ``*.conllu`` files of a folder.

    n_sents, by_doc, merge_mwt, skip_bad: as in `read_conllu`.
    given: as in `doc.given`. limit: at most so many examples, 0 for all.
    Raises ConlluError, with file and line.
    """
    check_given(given)
    options: dict[str, Any] = {
        "n_sents": n_sents,
        "by_doc": by_doc,
        "merge_mwt": merge_mwt,
        "skip_bad": skip_bad,
    }

    def docs(nlp: Language) -> Iterator[Doc]:
        for file in _conllu_files(Path(path)):
            report = ReadReport()
            yield from read_conllu(file, nlp.vocab, **options, report=report)
            warn_of_skipped(file, report, "sentences skipped")

    return lambda nlp: examples_of(docs(nlp), given, limit)


class GivenCorpus:
    """Examples from a .spacy file, or from all .spacy files of a folder.

    given: as in `doc.given`.
    gold_sents: one example for each gold sentence (a Doc without gold sentences stays whole).
    limit: at most so many examples, 0 for all.
    max_length: Docs of more tokens are cut into their gold sentences, and what is still longer is
        left out; 0 for no limit.

    A warning counts what is left out, in the first pass over all of them.
    """

    def __init__(
        self,
        path: Path,
        given: Sequence[str] = (),
        gold_sents: bool = False,
        limit: int = 0,
        max_length: int = 0,
    ) -> None:
        check_given(given)
        self.path = Path(path)
        self.given = list(given)
        self.gold_sents = gold_sents
        self.limit = limit
        self.max_length = max_length
        self._is_told = False

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Examples with gold tokens."""
        docs = self._cut(read_docbin(self.path, nlp.vocab))
        return examples_of(docs, self.given, self.limit)

    def _cut(self, docs: Iterable[Doc]) -> Iterator[Doc]:
        left_out: Counter[str] = Counter()
        for doc in docs:
            fits = not self.max_length or len(doc) <= self.max_length
            if fits and not self.gold_sents:
                yield doc
            elif doc.has_annotation("SENT_START"):
                for sent in sentence_docs(doc, left_out):
                    if not self.max_length or len(sent) <= self.max_length:
                        yield sent
                    else:
                        left_out[f"sentences of more than {self.max_length} tokens"] += 1
            elif fits:
                yield doc
            else:
                left_out[f"Docs of more than {self.max_length} tokens, without sentences"] += 1
        if not self._is_told:
            warn_of(self.path, +left_out, "left out")
            self._is_told = True


def ParsedCorpus(  # noqa: N802 (spaCy names registered functions like classes)
    path: Path, parsed: Path, given: Sequence[str]
) -> Reader:
    """A reader of examples whose given layers are predictions, as a pipeline in use has them.

    path: gold Docs, a .spacy file or a folder. parsed: the same Docs in the same order, with the
        layers to give. given: names of layers, as for `GivenCorpus`.
    Raises ValueError where the two have other Docs.
    """
    check_given(given)

    def read(nlp: Language) -> Iterator[Example]:
        files = (Path(path), Path(parsed))  # a config holds strings
        pairs = zip_longest(*(read_docbin(file, nlp.vocab) for file in files))
        for number, (gold, other) in enumerate(pairs):
            if gold is None or other is None or _words(gold) != _words(other):
                raise ValueError(
                    f"Doc {number} (from 0) of {path} and of {parsed} are not the same"
                )
            if len(gold):
                yield Example(give(other, given), gold)

    return read


def _words(doc: Doc) -> list[str]:
    return [token.text for token in doc]


def examples_of(docs: Iterable[Doc], given: Sequence[str], limit: int) -> Iterator[Example]:
    """An Example for each Doc that has tokens, at most limit, 0 for all."""
    examples = (Example(give(doc, given), doc) for doc in docs if len(doc))
    return islice(examples, limit) if limit else examples


def warn_of_skipped(file: Path, report: Skipped, what: str = "left out") -> None:
    """Warnings that count what was left out and what is doubtful, if anything is."""
    warn_of(file, report.skipped, what)
    doubtful = {f"{what} (first: {report.first[what]})": n for what, n in report.doubtful.items()}
    warn_of(file, doubtful, "perhaps mistakes")


def warn_of(file: Path, counts: Mapping[str, int], what: str) -> None:
    """One warning with counts, if there are some."""
    if counts:
        counted = ", ".join(f"{n} {kind}" for kind, n in counts.items())
        warnings.warn(f"{file}: {what}: {counted}", stacklevel=3)


def _conllu_files(path: Path) -> list[Path]:
    """The file, or the folder's files. A whole treebank is refused: train would hold test."""
    if path.is_file():
        return [path]
    files = sorted(path.glob("*.conllu"))
    if not files:
        raise FileNotFoundError(f"{path}: no CoNLL-U file, nor a folder with *.conllu files")
    splits = [f for f in files if f.stem.endswith(("-ud-train", "-ud-dev", "-ud-test"))]
    if len(splits) > 1:
        names = ", ".join(file.name for file in splits)
        raise ValueError(f"{path} holds several parts of a treebank ({names}); name one file")
    return files
