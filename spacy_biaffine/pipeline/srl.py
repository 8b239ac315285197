"""syntax_srl: predicates with their senses and arguments, as doc._.frames or doc._.word_frames."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..decode.pieces import FURTHER, join_pieces
from ..doc.graphs import FRAMES, WORD_FRAMES, Frame, Role, frames_of, set_frames
from ..doc.segments import annotated, sentence_parts
from ..gold.left_out import LabelNumbers, LeftOut
from ..gold.roles import role_labels, role_targets, roles_left_out
from ..nn.losses import IGNORED
from ..types import FoundFrame, Ints, RoleInput, RoleTargets
from .base import SMALL_ENCODER, Scorer, StructuredPipe
from .given import as_given, predicates_on
from .role_loss import last_words, padded_rows, role_loss
from .senses import SenseCounts, Senses, lemma_of

DEFAULT_MODEL = f"""
[model]
@architectures = "spacy-biaffine.SyntaxSRL.v1"
span_size = 128
role_size = 100

[model.tok2vec]
@architectures = "spacy-biaffine.SynG2GLayers.v1"
size = 128
layers = 2
heads = 4

[model.tok2vec.tok2vec]
{SMALL_ENCODER}
"""


@Language.factory(
    "syntax_srl",
    assigns=["doc._.frames", "doc._.word_frames", "doc.spans"],
    requires=["token.dep", "token.head"],
    default_config={
        "model": Config().from_str(DEFAULT_MODEL)["model"],
        "given_predicates": False,
        "word_frames": False,
        "scorer": {"@scorers": "spacy-biaffine.role_scorer.v1"},
    },
    default_score_weights={
        "roles_f": 1.0,
        "roles_p": None,
        "roles_r": None,
        "roles_per_type": None,
        "role_words_f": None,
        "predicates_f": None,
        "senses_acc": None,
        "semantic_f": None,
    },
)
def make_srl(
    nlp: Language,
    name: str,
    model: Model,
    given_predicates: bool,
    word_frames: bool,
    scorer: Scorer | None,
) -> "SyntaxSRL":
    """Make a role labeller.

    model: from `spacy-biaffine.SyntaxSRL.v1`.
    given_predicates: find the arguments of the predicates that are on the Doc, in doc._.frames,
        and of no others. Off, predicates are found too, and what is on the Doc is replaced.
    word_frames: learn from and write doc._.word_frames instead of doc._.frames, so that a pipeline
        may have both, roles of spans and roles of words, by two components. The names of the scores
        then begin with word_.
    scorer: the scoring method.
    """
    return SyntaxSRL(
        nlp.vocab,
        model,
        name,
        given_predicates=given_predicates,
        word_frames=word_frames,
        scorer=scorer,
    )


class SyntaxSRL(StructuredPipe):
    """A role labeller that reads the dependency tree, where its encoder does.

    Sentences that are marked on a Doc are read one by one; a Doc without marks is read as a whole.
    An argument has one span, or several where training has seen pieces C-X of an argument X; so has
    a predicate.
    """

    architecture = "spacy-biaffine.SyntaxSRL.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "syntax_srl",
        *,
        given_predicates: bool = False,
        word_frames: bool = False,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(vocab, model, name, scorer=scorer)
        self.given_predicates = given_predicates
        self.word_frames = word_frames
        self.frames_key = WORD_FRAMES if word_frames else FRAMES
        self._known: tuple[SenseCounts, Senses, list[str]] | None = None

    @property
    def label_data(self) -> dict[str, Any]:
        """The roles; the senses of predicates, by lemma; the longest argument in words."""
        return dict(self.cfg)

    @property
    def senses(self) -> list[str]:
        """The senses, in the order of their numbers in the model."""
        return self._dictionary[1]

    @property
    def _dictionary(self) -> tuple[Senses, list[str]]:
        """The senses of lemmas, and all of them in order; made anew when the labels change."""
        data: SenseCounts = self.cfg.get("senses", {})
        if self._known is None or self._known[0] is not data:
            names = sorted({sense for counts in data.values() for sense in counts})
            self._known = data, Senses(data), names
        return self._known[1:]

    def gold_labels(self, example: Example) -> dict[str, set[str]]:
        """The labels of the pieces of gold arguments, X and C-X."""
        return {"labels": role_labels(example, self.frames_key)}

    def _collect_labels(self, examples: Iterable[Example]) -> None:
        """Also the senses, and how long arguments are."""
        counts: dict[str, Counter[str]] = {}
        longest = 1

        def watched() -> Iterator[Example]:
            nonlocal longest
            for example in examples:
                frames = frames_of(example.reference, self.frames_key)
                named = [(frame.predicate[0][0], frame.sense) for frame in frames if frame.sense]
                for lemma, senses in Senses.of(named).to_data().items():
                    counts.setdefault(lemma, Counter()).update(senses)
                roles = (role.spans for frame in frames for role in frame.roles)
                further = (frame.predicate[1:] for frame in frames)
                spans = (span for each in (*roles, *further) for span in each)
                longest = max(longest, *map(len, spans), 1)
                yield example

        self.cfg = {"labels": self.cfg["labels"]}
        super()._collect_labels(watched())
        self.cfg |= {"senses": Senses(counts).to_data(), "longest": longest}

    def left_out(self, example: Example, numbers: LabelNumbers) -> LeftOut:
        """Predicates and arguments that are not looked for, or can't be found together."""
        max_length, pruning = self.model.attrs["max_length"], self.model.attrs["pruning"]
        role_targets([example], numbers, max_length, self.frames_key)

        def most_predicates(n_words: int) -> int:
            return int(pruning.most_predicates(torch.tensor(n_words)))

        return roles_left_out(
            example,
            self.frames_key,
            max_length=max_length,
            max_span_length=pruning.max_span_length,
            most_predicates=None if self.given_predicates else most_predicates,
        )

    def set_sizes(self) -> None:
        """Tell the model how many roles and senses there are, and how long arguments are."""
        super().set_sizes()
        self.model.attrs["n_senses"] = len(self.senses)
        self.model.attrs["longest"] = self.cfg["longest"]

    def update_model(self, examples: Sequence[Example]) -> float:
        """The losses of predicates, of their senses and of roles; see `role_loss`."""
        docs = [eg.predicted for eg in examples]
        max_length = self.model.attrs["max_length"]
        targets = role_targets(examples, self.label_numbers, max_length, self.frames_key)
        senses = self._senses_of(docs)
        may_be = targets.known & (not self.given_predicates)
        features = {
            "predicate": _given(may_be, targets.predicates),
            "senses": senses,
            "ends": last_words(targets),
        }
        batches, backprop = self.model.begin_update(
            RoleInput(docs, annotated(targets.cuts, targets.known), features)
        )
        loss, gradients = role_loss(batches, targets, self._gold_senses(targets, senses))
        backprop(gradients)
        return loss

    def predict(self, docs: Iterable[Doc]) -> list[list[FoundFrame]]:
        """The frames of every Doc."""
        self.require_weights()
        docs = list(docs)
        if not any(len(doc) for doc in docs):
            return [[] for _ in docs]
        may_be = np.full(sum(map(len, docs)), not self.given_predicates)
        given = np.zeros(0, dtype=np.int64)
        if self.given_predicates:
            given = predicates_on(docs, self.frames_key)
        features = {"predicate": _given(may_be, given), "senses": self._senses_of(docs)}
        cuts = sentence_parts(docs, self.model.attrs["max_length"])
        return self.run_model(docs, RoleInput(docs, cuts, features))

    def set_annotations(self, docs: Iterable[Doc], scores: list[list[FoundFrame]]) -> None:
        """Write the frames, with the probabilities of predicates and roles as their scores."""
        senses, names = self._dictionary
        for doc, found in zip(docs, scores, strict=True):
            frames = {}
            for each in found:
                sense = names[each.sense] if each.sense >= 0 else None
                if sense is None and names:
                    sense = senses.best(lemma_of(doc[each.predicate]))
                frames[each.predicate] = self._frame(doc, each, sense)
            written: Iterable[Frame] = frames.values()
            if self.given_predicates:
                written = as_given(doc, frames, self.frames_key)
            set_frames(doc, written, self.frames_key)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of predicted frames, by the scorer of the config."""
        return super().score(examples, word_frames=self.word_frames, **kwargs)

    def _frame(self, doc: Doc, found: FoundFrame, sense: str | None) -> Frame:
        pieces = [
            (self.labels[label], (doc[start:end], float(prob)))
            for (start, end, label), prob in zip(
                found.arguments.tolist(), found.role_probs, strict=True
            )
        ]
        roles = [
            Role(label, tuple(span for span, _ in spans), min(prob for _, prob in spans))
            for label, spans in join_pieces(piece for piece in pieces if piece[0] != FURTHER)
        ]
        further = [span for label, (span, _) in pieces if label == FURTHER]
        predicate = _with_further(doc[found.predicate : found.predicate + 1], further)
        return Frame(predicate, sense, tuple(roles), found.prob)

    def _senses_of(self, docs: Sequence[Doc]) -> Ints:
        """(tokens, m) numbers of the senses that the lemma of each token has, -1 for none."""
        senses, names = self._dictionary
        numbers = {sense: number for number, sense in enumerate(names)}
        tokens = [lemma_of(token) for doc in docs for token in doc]
        seen = {lemma: [numbers[sense] for sense in senses.seen(lemma)] for lemma in set(tokens)}
        return padded_rows([seen[lemma] for lemma in tokens])

    def _gold_senses(self, targets: RoleTargets, senses: Ints) -> Ints:
        """(p,) where the sense of each predicate stands among those of its token, -1 if nowhere."""
        numbers = {sense: number for number, sense in enumerate(self.senses)}
        gold = np.array([numbers.get(sense or "", -2) for sense in targets.senses], dtype=np.int64)
        is_gold = senses[targets.predicates] == gold[:, None]
        return np.where(is_gold.any(axis=1), is_gold.argmax(axis=1), IGNORED)


def _given(may_be: np.ndarray, predicates: Ints) -> Ints:
    """The feature "predicate": 1 at predicates, 0 at tokens that may be one, -1 at others."""
    feature = np.where(may_be, 0, -1).astype(np.int64)
    feature[predicates] = 1
    return feature


def _with_further(first: Span, others: Sequence[Span]) -> tuple[Span, ...]:
    """The spans of a predicate: one that follows its first token is joined to it."""
    for other in others:
        if other.start == first.end:
            joined = first.doc[first.start : other.end]
            return (joined, *(each for each in others if each is not other))
    return (first, *others)
