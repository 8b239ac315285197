"""Examples from columns of words and labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...doc.given import check_given
from ..entities.label_columns import read_labels
from .corpus import Reader, examples_of


def LabelColumnsCorpus(  # noqa: N802 (spaCy names registered functions like classes)
    path: Path,
    target: str = "tag",
    token: int = 0,
    label: int = 1,
    n_sents: int = 1,
    given: Sequence[str] = (),
    limit: int = 0,
) -> Reader:
    """Examples from a file with a token and its label a line; see `read_labels`.

    given: as in `doc.given`. limit: at most so many examples, 0 for all.
    Raises FormatError, with file and line.
    """
    check_given(given)
    options: dict[str, Any] = {"target": target, "token": token, "label": label, "n_sents": n_sents}
    return lambda nlp: examples_of(read_labels(Path(path), nlp.vocab, **options), given, limit)
