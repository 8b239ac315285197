"""Gold annotation that can't be learned: which kinds there are, and what helps."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Kind(NamedTuple):
    """One kind: what it is, in the plural, and what to do about it."""

    what: str
    remedy: str


LeftOut = Counter[Kind]
"""How many there are of each kind."""

TOKENIZE = "give the corpus the tokens of the pipeline, or the pipeline those of the corpus"
SENTENCE = "keep each in one sentence; those of more than max_length words are read in parts"

# Trees
HEAD_OUTSIDE = Kind(
    "heads that are whitespace, or in another part of a sentence",
    "sentences of more than max_length words are read in parts: raise max_length",
)

# Entities
ENTITY_OTHER_TOKENS = Kind("entities that begin or end inside a token, or are whitespace", TOKENIZE)
ENTITY_NO_LABEL = Kind("entities without a label", "give them one")
ENTITY_ACROSS = Kind(
    "entities across sentences", "global_pointer_ner finds them with cross_sentences = true"
)
ENTITY_IN_PARTS = Kind("entities that no window of max_length words holds", "raise max_length")
ENTITY_TOO_LONG = Kind("entities of more than max_span_length words", "raise max_span_length")
ENTITY_OVERLAPS = Kind(
    "entities that overlap a longer one",
    "tags mark flat entities: find nested ones with global_pointer_ner, and relate them with "
    "tagger_size = 0",
)

# Relations and arcs
RELATION_OTHER_TOKENS = Kind(
    "relations of entities that begin or end inside a token, or are whitespace", TOKENIZE
)
RELATION_NO_ENTITY = Kind(
    "relations of spans that are none of the entities",
    "name the group of the entities as spans_key of the graph",
)
RELATION_OVERLAPS = Kind("relations of entities that overlap a longer one", ENTITY_OVERLAPS.remedy)
RELATION_NO_TOKEN = Kind(
    "relations of entities without a token of their own",
    "of entities on the same tokens each needs one that stands for it: take some out",
)
RELATION_TO_ITSELF = Kind("relations of an entity with itself", "take them out")
RELATION_SECOND = Kind(
    "further relations of a pair of entities",
    "the first one is learned: make one label of several",
)
ARC_OTHER_TOKENS = Kind("arcs of tokens that the pipeline splits or joins", TOKENIZE)
ARC_TO_ITSELF = Kind("arcs of a token to itself", "take them out")
ARC_SECOND = Kind(
    "further arcs of a pair of tokens", "the first one is learned: make one label of several"
)
ARC_NO_LABEL = Kind("relations or arcs without a label", "give them one")
ARC_OUTSIDE = Kind("relations or arcs across sentences", SENTENCE)
ARC_SECOND_HEAD = Kind(
    "relations or arcs that would be a further head of their word",
    "a tree has one: use spacy-biaffine.GraphArcs.v1",
)

# Roles
PREDICATE_OTHER_TOKENS = Kind("predicates that begin with no token of the pipeline", TOKENIZE)
PREDICATE_SECOND = Kind("further frames of a word", "the first one is learned: take others out")
PREDICATE_TOO_MANY = Kind(
    "predicates beyond the most that are found in a sentence",
    "raise max_predicates and predicate_share",
)
ARGUMENT_OTHER_TOKENS = Kind("arguments that begin or end inside a token", TOKENIZE)
ARGUMENT_OUTSIDE = Kind("arguments in another sentence than their predicate", SENTENCE)
ARGUMENT_TOO_LONG = Kind("arguments of more than max_span_length words", "raise max_span_length")
ARGUMENT_OVERLAPS = Kind(
    "arguments that overlap one of the same predicate",
    "at most one of them will be found: take the others out",
)


class LabelNumbers(Mapping[str, int]):
    """The numbers of labels. Labels that were asked for and have none are kept in `unknown`."""

    def __init__(self, labels: Sequence[str]) -> None:
        self._numbers = {label: number for number, label in enumerate(labels)}
        self.unknown: set[str] = set()

    def __getitem__(self, label: str) -> int:
        """Raises KeyError for an unknown label. No label, "", is none."""
        if label not in self._numbers and label:
            self.unknown.add(label)
        return self._numbers[label]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)
