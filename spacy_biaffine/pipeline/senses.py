"""The senses of predicates that training has seen, by lemma."""

from collections import Counter
from collections.abc import Iterable, Mapping

from spacy.tokens import Token

SenseCounts = dict[str, dict[str, int]]
"""By lemma, how often each sense was seen; plain data."""


def lemma_of(token: Token) -> str:
    """The token's lemma, in lower case as frame files have it; the form where there is none."""
    return (token.lemma_ or token.text).lower()


class Senses:
    """Which senses a lemma has, and which of them is the most frequent."""

    def __init__(self, counts: Mapping[str, Mapping[str, int]] | None = None) -> None:
        self._counts = {lemma: Counter(senses) for lemma, senses in (counts or {}).items()}

    @classmethod
    def of(cls, predicates: Iterable[tuple[Token, str]]) -> "Senses":
        """Of tokens with their senses.

        Each is counted for its lemma and for its form, so that it is found where text comes without
        lemmas.
        """
        senses = cls()
        for token, sense in predicates:
            for key in {lemma_of(token), token.text.lower()}:
                senses._counts.setdefault(key, Counter())[sense] += 1
        return senses

    def seen(self, lemma: str) -> list[str]:
        """The senses of a lemma, the most frequent first, of equal ones in alphabetical order."""
        counts: Mapping[str, int] = self._counts.get(lemma, {})
        return sorted(counts, key=lambda sense: (-counts[sense], sense))

    def best(self, lemma: str) -> str | None:
        """The most frequent sense of a lemma, None where none was seen."""
        return next(iter(self.seen(lemma)), None)

    def to_data(self) -> SenseCounts:
        """Lemmas and senses in alphabetical order, for a component's cfg; see `__init__`."""
        return {
            lemma: {sense: counts[sense] for sense in sorted(counts)}
            for lemma, counts in sorted(self._counts.items())
        }
