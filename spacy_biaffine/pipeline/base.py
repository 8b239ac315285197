"""The spine: what all components of the family do alike."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, ClassVar

from spacy.errors import Errors
from spacy.language import Language
from spacy.pipeline import TrainablePipe
from spacy.tokens import Doc
from spacy.training import Example, validate_examples, validate_get_examples
from spacy.vocab import Vocab
from thinc.api import Model, Optimizer, set_dropout_rate

from ..decode.finite import NotFiniteError
from ..encoders.char_word import show_words
from ..encoders.trees import show_trees
from ..gold.left_out import LabelNumbers, LeftOut
from ..models.lazy_shim import LazyShim
from .tally import Tally, unknown_labels

Scorer = Callable[..., dict[str, Any]]

SMALL_ENCODER = """@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 96
depth = 4
embed_size = 2000
window_size = 1
maxout_pieces = 3
subword_features = true"""
"""What an encoder is by default: no pretrained weights, small."""


class StructuredPipe(TrainablePipe):
    """A trainable component with a fixed set of labels, or with none.

    A component says what its labels are (`gold_labels`), how to learn from Examples
    (`update_model`), and how to read and write Docs (`predict`, `set_annotations`). Labels,
    initialization, training and scoring are done here; saving is spaCy's own.
    """

    architecture: ClassVar[str]
    """What its models are made by. Told to those who have kept the model of a component of spaCy's
    in their config."""

    has_labels: ClassVar[bool] = True
    """Whether it needs labels to have weights."""

    def __init__(self, vocab: Vocab, model: Model, name: str, *, scorer: Scorer | None) -> None:
        if not any(isinstance(shim, LazyShim) for node in model.walk() for shim in node.shims):
            raise ValueError(
                f"[{name}] can't work with the model of another component: in "
                f'[components.{name}.model] write @architectures = "{self.architecture}" and its '
                f"settings. The [components.{name}.model.tok2vec] that is there may stay."
            )
        self.vocab = vocab
        self.model = model
        self.name = name
        self.scorer = scorer
        self.cfg: dict[str, Any] = {"labels": []}
        self._has_learned = False
        self._has_warned = False
        self._numbers = LabelNumbers(())

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels, sorted."""
        return tuple(self.cfg["labels"])

    @property
    def label_data(self) -> dict[str, Any]:
        """What `spacy init labels` writes, and `initialize` reads as its `labels`."""
        return {key: list(labels) for key, labels in self.cfg.items()}

    def add_label(self, label: str) -> int:
        """Add a label before the model has weights. Returns 1 if it was new, else 0.

        Raises ValueError once the model is initialized: its output has one row per label.
        """
        if not isinstance(label, str):
            raise ValueError(Errors.E187)
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

    def gold_labels(self, example: Example) -> dict[str, set[str]]:
        """What an Example adds to each list of `label_data`."""
        return {}

    def left_out(self, example: Example, numbers: LabelNumbers) -> LeftOut:
        """What can't be learned of an Example. The numbers are asked for all of its labels."""
        return LeftOut()

    @property
    def label_numbers(self) -> LabelNumbers:
        """The numbers of the labels, for targets."""
        if tuple(self._numbers) != self.labels:
            self._numbers = LabelNumbers(self.labels)
        return self._numbers

    def update_model(self, examples: Sequence[Example]) -> float:
        """Run the model forth and back on Examples, and return the loss."""
        raise NotImplementedError

    def set_sizes(self) -> None:
        """Tell the model how many labels there are; its dimension nO is set once it has weights."""
        self.model.set_dim("nO", len(self.labels), force=True)

    def initialize(
        self,
        get_examples: Callable[[], Iterable[Example]],
        *,
        nlp: Language | None = None,
        labels: dict[str, Any] | None = None,
    ) -> None:
        """Collect the labels over all training Examples and give the model its weights. One warning
        counts what of the gold annotation can't be learned.

        labels: the labels, where they are known: what `spacy init labels` has written.
        Raises ValueError where there are no labels, or they are of another form.
        """
        validate_get_examples(get_examples, f"{type(self).__name__}.initialize")
        self._set_labels(get_examples(), labels)
        for label in self.labels:
            self.vocab.strings.add(label)
        sample = list(islice((eg.predicted for eg in get_examples() if len(eg.predicted)), 10))
        if not sample:
            raise ValueError(f"[{self.name}] found only empty Docs in the training examples.")
        self.set_sizes()
        show_words(self.model, lambda: (eg.predicted for eg in get_examples()))
        show_trees(self.model, nlp, get_examples)
        self.model.initialize(X=sample)

    def _set_labels(self, examples: Iterable[Example], labels: dict[str, Any] | None) -> None:
        tally = Tally(self)
        if labels is None:
            self._collect_labels(tally.counted(examples))
        elif not isinstance(labels, dict) or "labels" not in labels:
            raise ValueError(
                f"[{self.name}] wants labels as `python -m spacy init labels` writes them for it, "
                f"an object with the key 'labels', not {labels!r:.80}"
            )
        else:
            self.cfg.update(labels)
            for _ in tally.counted(examples):
                pass
        if self.has_labels and not self.labels:
            raise ValueError(
                f"[{self.name}] found no labels in the training examples. Does the corpus carry "
                f"the annotation that this component learns? `python -m spacy debug data` shows "
                f"what it carries."
            )
        tally.warn(stacklevel=4)

    def require_weights(self) -> None:
        """Raise ValueError before the model is initialized or loaded."""
        if not self.model.has_dim("nO"):
            raise ValueError(
                f"[{self.name}] has no weights yet: call nlp.initialize() with training examples, "
                f"or load a trained pipeline with spacy.load()."
            )

    def run_model(self, docs: Sequence[Doc], inputs: Any) -> Any:
        """What the model predicts. Raises ValueError that names the component and the Doc where its
        scores are not finite."""
        try:
            return self.model.predict(inputs)
        except NotFiniteError as error:
            if len(docs) > 1:
                for doc in docs:  # which of them?
                    self.predict([doc])
            raise ValueError(f"[{self.name}] {error} The Doc is {docs[0].text[:60]!r}.") from error

    def _collect_labels(self, examples: Iterable[Example]) -> None:
        found = {key: set(labels) for key, labels in self.cfg.items()}
        for example in examples:
            for key, labels in self.gold_labels(example).items():
                found[key].update(labels)
        self.cfg.update({key: sorted(labels) for key, labels in found.items()})

    def update(
        self,
        examples: Iterable[Example],
        *,
        drop: float = 0.0,
        sgd: Optimizer | None = None,
        losses: dict[str, float] | None = None,
    ) -> dict[str, float]:
        """Learn from a batch. Also one without gold annotation goes forth and back through the
        model, so that a shared encoder gets its (zero) gradient; one without tokens does not, for
        encoders have no gradient to make of it."""
        losses = {} if losses is None else losses
        losses.setdefault(self.name, 0.0)
        examples = list(examples)
        validate_examples(examples, f"{type(self).__name__}.update")
        if any(len(eg.predicted) for eg in examples):
            self.require_weights()
            set_dropout_rate(self.model, drop)
            loss = self.update_model(examples)
            self._check_labels()
            losses[self.name] += loss
            self._has_learned |= loss != 0.0
        if sgd:
            self.finish_update(sgd)
        return losses

    def _check_labels(self) -> None:
        """Warn at the first gold labels that are not learned, once."""
        unknown = self._numbers.unknown
        if unknown and not self._has_warned:
            self._has_warned = True
            warnings.warn(f"[{self.name}] {unknown_labels(unknown, self.name)}", stacklevel=3)

    def finish_update(self, sgd: Optimizer) -> None:
        """Take the optimizer's step. There is none where all updates since the last one had no gold
        annotation: momentum and decay move weights by a gradient of zero too, and in a corpus of
        different layers most batches may have none for this component."""
        if self._has_learned:
            super().finish_update(sgd)
        self._has_learned = False

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of predicted Docs, by the scorer of the config; none without one."""
        return {} if self.scorer is None else self.scorer(examples, **kwargs)
