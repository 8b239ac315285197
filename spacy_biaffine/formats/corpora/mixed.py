"""A registered corpus reader for several corpora, as a rule with different layers of annotation."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any

from spacy.language import Language
from spacy.training import Example


class MixedCorpus:
    """Examples of several corpora: one of each in turn, until all have come to their end.

    So there are some of each in a batch, also where training streams them (max_epochs = -1).

    corpora: a corpus reader under each name.
    """

    def __init__(self, corpora: Mapping[str, Any]) -> None:
        if not corpora:
            raise ValueError("MixedCorpus: name a corpus reader in [corpora.train.corpora.NAME]")
        self.corpora = dict(corpora)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Examples as their readers make them."""
        turns = zip_longest(*(corpus(nlp) for corpus in self.corpora.values()))
        return (example for turn in turns for example in turn if example is not None)
