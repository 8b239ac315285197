"""The spine: what all components of the family do alike."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate

from ..gold import misaligned

Scorer = Callable[..., dict[str, Any]]


class StructuredPipe(TrainablePipe):
    """A trainable component with a fixed set of labels.

    A component says which labels an Example has (`gold_labels`), how to learn from Examples
    (`update_model`), and how to read and write Docs (`predict`, `set_annotations`). Labels,
    initialization, training and scoring are done here; saving is spaCy's own.
    """

    def __init__(self, vocab: Vocab, model: Model, name: str, *, scorer: Scorer | None) -> None:
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.cfg: dict[str, Any] = {"labels": []}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> list[str]:
        """What `spacy init labels` writes, and `initialize` reads as its `labels`."""
        return list(self.labels)

    def add_label(self, label: str) -> int:
        """Add a label before the model has weights. Returns 1 if it was new, else 0.

        Raises ValueError once the model is initialized: its output has one row per label.
        """
        if label in self.labels:
            return 0
        if self.model.has_dim("nO"):
            raise ValueError(
                f"[{self.name}] can't take the new label '{label}': the model is already "
                f"initialized with {len(self.labels)} labels. Add it to the training data, or to "
                f"the labels of [initialize.components.{self.name}], and initialize again."
            )
        self.cfg["labels"] = sorted([*self.labels, label])
        return 1

    def gold_labels(self, example: Example) -> Iterable[str]:
        """The labels that an Example shows."""
        raise NotImplementedError

    def update_model(self, examples: Sequence[Example]) -> float:
        """Run the model forth and back on Examples, and return the loss."""
        raise NotImplementedError

    def prepare(self, example: Example) -> None:
        """Learn what else there is to learn from a training Example before training."""

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        """Collect the labels over all training Examples and give the model its weights.

        labels: the labels, where they are known: what `spacy init labels` has written.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        found = set(labels or self.labels)
        sample: list[Doc] = []
        tokens = unaligned = 0
        for example in get_examples():
            self.prepare(example)
            if labels is None:
                found.update(self.gold_labels(example))
            if len(sample) < 10 and len(example.predicted):
                sample.append(example.predicted)
            tokens += len(example.predicted)
            unaligned += misaligned(example)
        self._check(found, sample, tokens, unaligned)
        self.cfg["labels"] = sorted(found)
        for label in self.labels:
            self.vocab.strings.add(label)
        self.model.set_dim("nO", len(self.labels), force=True)
        self.model.initialize(X=sample)

    def _check(self, labels: set[str], sample: list[Doc], tokens: int, unaligned: int) -> None:
        if not labels:
            raise ValueError(
                f"[{self.name}] found no labels in the training examples. Does the corpus carry "
                f"the annotation that this component learns? `python -m spacy debug data` shows "
                f"what it carries."
            )
        if not sample:
            raise ValueError(f"[{self.name}] found only empty Docs in the training examples.")
        if unaligned:
            warnings.warn(
                f"[{self.name}] {unaligned} of {tokens} tokens ({unaligned / tokens:.1%}) are "
                f"tokenized otherwise than in the gold standard: they are left out of training.",
                stacklevel=3,
            )

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch. Also one without gold annotation goes forth and back through the
        model, so that a shared encoder gets its (zero) gradient."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if examples:
            set_dropout_rate(self.model, drop)
            losses[self.name] += self.update_model(examples)
        if sgd:
            self.finish_update(sgd)
        return losses

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of predicted Docs, by the scorer of the config."""
        if self.scorer is None:
            raise NotImplementedError(Errors.E931.format(parent="Pipe", method="score", name=self.name))
        return self.scorer(examples, **kwargs)

