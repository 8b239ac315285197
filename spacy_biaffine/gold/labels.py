"""From Examples to targets of taggers."""

from spacy.training import Example

from ..doc.labels import label_of
from .alignment import partners


def aligned_labels(example: Example, target: str) -> list[str]:
    """Per predicted token, the label of the gold token that it is exactly; "" where none is known.

    target: as in `label_of`.
    """
    labels = [label_of(token, target) for token in example.reference]
    return [labels[gold] if gold >= 0 else "" for gold in partners(example)]
