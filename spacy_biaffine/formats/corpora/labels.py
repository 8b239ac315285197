"""Examples from columns of words and labels."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.training import Example

from ...doc.given import check_given
from ..entities.label_columns import read_labels
from .corpus import examples_of


class LabelColumnsCorpus:
    """Examples from a file with a token and its label a line; see `read_labels`.

    given: as in `doc.given`. limit: at most so many examples, 0 for all.
    """

    def __init__(
        self,
        path: Path,
        target: str = "tag",
        token: int = 0,
        label: int = 1,
        n_sents: int = 1,
        given: Sequence[str] = (),
        limit: int = 0,
    ) -> None:
        check_given(given)
        self.path = Path(path)
        self.target = target
        self.token = token
        self.label = label
        self.n_sents = n_sents
        self.given = list(given)
        self.limit = limit

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Examples with gold tokens. Raises FormatError, with file and line."""
        docs = read_labels(
            self.path,
            nlp.vocab,
            target=self.target,
            token=self.token,
            label=self.label,
            n_sents=self.n_sents,
        )
        return examples_of(docs, self.given, self.limit)
