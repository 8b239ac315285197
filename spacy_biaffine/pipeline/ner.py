"""global_pointer_ner: entities in doc.ents, and nested ones in doc.spans."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.vocab import Vocab
from thinc.api import Config, Model

from ..decode.spans import choose_flat
from ..doc.scores import blocked_tokens, entities_of, set_ent_scores, set_scored_spans
from ..doc.segments import windows_of
from ..gold.left_out import LabelNumbers, LeftOut
from ..gold.spans import SpanTargets, place_spans, span_labels, span_targets, spans_left_out
from ..models.torch_layer import Scored
from ..nn.global_pointer import SpanScores
from ..nn.losses import span_cross_entropy, with_gradient
from ..types import Ints, LabelledSpans, SpanInput
from .base import SMALL_ENCODER, Scorer, StructuredPipe

DEFAULT_MODEL = f"""
[model]
@architectures = "spacy-biaffine.GlobalPointer.v1"
lstm_layers = 1
lstm_hidden = 128
head_size = 64

[model.tok2vec]
{SMALL_ENCODER}
"""


@Language.factory(
    "global_pointer_ner",
    assigns=["doc.ents", "doc.spans", "token.ent_iob", "token.ent_type"],
    default_config={
        "model": Config().from_str(DEFAULT_MODEL)["model"],
        "spans_key": None,
        "set_ents": True,
        "keep_ents": True,
        "threshold": 0.0,
        "cross_sentences": False,
        "store_scores": False,
        "scorer": {"@scorers": "spacy-biaffine.entity_scorer.v1"},
    },
    default_score_weights={
        "ner_f": 1.0,
        "ents_f": None,
        "ents_p": None,
        "ents_r": None,
        "ents_macro_f": None,
        "ents_per_type": None,
    },
)
def make_ner(
    nlp: Language,
    name: str,
    model: Model,
    spans_key: str | None,
    set_ents: bool,
    keep_ents: bool,
    threshold: float,
    cross_sentences: bool,
    store_scores: bool,
    scorer: Scorer | None,
) -> "GlobalPointerNer":
    """Make an entity recognizer.

    model: from `spacy-biaffine.GlobalPointer.v1`.
    spans_key: the span group that holds nested entities. They are learned from there and written
        there, with their scores in the group's attrs["scores"]. None: doc.ents is learned from.
    set_ents: write doc.ents, without overlap, the best scores first.
    keep_ents: entities that are on a Doc already stay, and what overlaps them is not written to
        doc.ents. Otherwise they are replaced.
    threshold: the score above which a span is an entity; `biaffine tune-threshold` finds one.
    cross_sentences: look for entities in the whole Doc and not in its sentences.
    store_scores: keep the scores of what was written to doc.ents, as `span._.ent_score`; entities
        that were there keep theirs, or have none.
    scorer: the scoring method.
    """
    return GlobalPointerNer(
        nlp.vocab,
        model,
        name,
        spans_key=spans_key,
        set_ents=set_ents,
        keep_ents=keep_ents,
        threshold=threshold,
        cross_sentences=cross_sentences,
        store_scores=store_scores,
        scorer=scorer,
    )


class GlobalPointerNer(StructuredPipe):
    """An entity recognizer that scores every span of a sentence.

    It reads sentence starts from the Doc, in training as in prediction; a Doc without any is one
    sentence. No entity begins or ends with a blank token.
    """

    architecture = "spacy-biaffine.GlobalPointer.v1"

    def __init__(
        self,
        vocab: Vocab,
        model: Model,
        name: str = "global_pointer_ner",
        *,
        spans_key: str | None = None,
        set_ents: bool = True,
        keep_ents: bool = True,
        threshold: float = 0.0,
        cross_sentences: bool = False,
        store_scores: bool = False,
        scorer: Scorer | None = None,
    ) -> None:
        super().__init__(vocab, model, name, scorer=scorer)
        if spans_key is None and not set_ents:
            raise ValueError(
                f"[{name}] would write nothing: give the name of a span group as spans_key, or "
                f"set set_ents = true."
            )
        self.spans_key = spans_key
        self.set_ents = set_ents
        self.keep_ents = keep_ents
        self.threshold = threshold
        self.cross_sentences = cross_sentences
        self.store_scores = store_scores

    def gold_labels(self, example: Example) -> dict[str, set[str]]:
        """The labels of the gold entities."""
        return {"labels": span_labels(example, self.spans_key)}

    def left_out(self, example: Example, numbers: LabelNumbers) -> LeftOut:
        """Entities that no window holds, and too long ones."""
        span_targets([example], numbers, self.spans_key)
        return spans_left_out(
            example,
            entities_of(example.reference, self.spans_key),
            self.spans_key,
            max_length=self.model.attrs["max_length"],
            max_span_length=self.model.attrs["max_span_length"],
            cross_sentences=self.cross_sentences,
        )

    def update_model(self, examples: Sequence[Example]) -> float:
        """The multi-label cross-entropy of all spans, summed over types, per window."""
        docs = [eg.predicted for eg in examples]
        targets = span_targets(examples, self.label_numbers, self.spans_key)
        batches, backprop = self.model.begin_update(self._input(docs))
        loss, gradients = span_loss(batches, targets, self.model.attrs["max_span_length"])
        backprop(gradients)
        return loss

    def predict(self, docs: Iterable[Doc]) -> list[LabelledSpans]:
        """The spans above the threshold in every Doc."""
        self.require_weights()
        docs = list(docs)
        if not any(len(doc) for doc in docs):
            none = np.zeros(0, dtype=np.int64)
            return [LabelledSpans(none, none, none, none.astype("f")) for _ in docs]
        self.model.get_ref("pointer").attrs["predict_options"]["threshold"] = self.threshold
        return self.run_model(docs, self._input(docs))

    def set_annotations(self, docs: Iterable[Doc], scores: list[LabelledSpans]) -> None:
        """Write the span group, and of the spans that overlap the best ones to doc.ents."""
        for doc, found in zip(docs, scores, strict=True):
            spans = [
                Span(doc, int(start), int(end), label=self.labels[label])
                for start, end, label in zip(found.starts, found.ends, found.labels, strict=True)
            ]
            if self.spans_key is not None:
                set_scored_spans(doc, self.spans_key, spans, found.scores)
            if self.set_ents:
                self._write_ents(doc, spans, found)

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Scores of predicted entities, by the scorer of the config."""
        return super().score(examples, spans_key=self.spans_key, set_ents=self.set_ents, **kwargs)

    def _input(self, docs: list[Doc]) -> SpanInput:
        length = self.model.attrs["max_length"]
        return SpanInput(docs, windows_of(docs, length, cross_sentences=self.cross_sentences))

    def _write_ents(self, doc: Doc, spans: list[Span], found: LabelledSpans) -> None:
        earlier = list(doc.ents) if self.keep_ents else []
        blocked = blocked_tokens(doc) if self.keep_ents else []
        taken = np.zeros(len(doc), dtype=bool)
        for span in (*earlier, *blocked):
            taken[span.start : span.end] = True
        chosen = choose_flat(found.starts, found.ends, found.scores, taken)
        doc.set_ents([*earlier, *(spans[n] for n in chosen)], blocked=blocked, default="outside")
        if self.store_scores:
            scores = {ent: score for ent in earlier if (score := ent._.ent_score) is not None}
            scores |= {spans[n]: found.scores[n] for n in chosen}
            set_ent_scores(doc, scores)


def span_loss(
    batches: list[Scored[SpanScores]], targets: SpanTargets, max_span_length: int | None
) -> tuple[float, list[tuple]]:
    """`span_cross_entropy` per window that is annotated, and the gradients of the scores."""
    gold = [
        _fitting(place_spans(batch.tokens, targets.spans), max_span_length) for batch in batches
    ]
    known = [known_spans(batch.tokens, targets.known) for batch in batches]
    windows = max(1, sum(int(each.any(axis=(1, 2)).sum()) for each in known))

    def loss(scores: list[SpanScores]) -> torch.Tensor:
        each = [
            span_cross_entropy(*batch, *(torch.from_numpy(a).to(batch.pairs.device) for a in pair))
            for batch, *pair in zip(scores, gold, known, strict=True)
        ]
        return torch.stack(each).sum() / windows

    return with_gradient(loss, [batch.scores for batch in batches])


def known_spans(tokens: Ints, known: np.ndarray) -> np.ndarray:
    """(B, n, n) bool: spans, first by last word, that hold no unknown word and no padding.

    tokens: (B, n) token numbers, -1 at padding; known: (tokens,) bool.
    """
    unknown = np.cumsum(np.append(~known, True)[tokens], axis=1)
    before = np.pad(unknown, ((0, 0), (1, 0)))[:, :-1]
    # What ends before it begins is no span, though there is no unknown word in it.
    return np.triu(unknown[:, None, :] == before[:, :, None])


def _fitting(places: Ints, max_span_length: int | None) -> Ints:
    if max_span_length is None:
        return places
    return places[places[:, 3] - places[:, 2] < max_span_length]
