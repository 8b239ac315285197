"""Scoring of predicted entities, flat and nested: exact matches, by spaCy's own Scorer."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc, Span
from spacy.training import Example

from ..doc.scores import entities_of, has_entities

PRF = ("p", "r", "f")


def make_entity_scorer() -> Callable[..., dict[str, Any]]:
    """The registered scorer of entities."""
    return score_entities


def score_entities(
    examples: Iterable[Example], *, spans_key: str | None = None, set_ents: bool = True, **_: Any
) -> dict[str, Any]:
    """Precision, recall and F1 of spans whose edges and label are right.

    ents_p, ents_r, ents_f: over all entities (micro), those left out of which the annotation is
    missing. ents_macro_p, _r, _f: the mean over the labels that were annotated or predicted.
    ents_per_type: p, r, f by label. spans_KEY_p and so on: the same of a span group. ner_f: of what
    the component learns, the group where it has one. 0 where nothing was found nor there to be
    found, None where no Doc is annotated. Without set_ents there are no scores of doc.ents.
    """
    examples = list(examples)
    # No word on entities that the component does not write: another one may have scored them.
    scores: dict[str, Any] = {}
    if set_ents:
        scores |= _with_macro("ents", get_ner_prf(examples), _any_annotated(examples, None))
    if spans_key is not None:
        attr = f"spans_{spans_key}"
        scored = Scorer.score_spans(
            examples,
            attr,
            getter=_getter(spans_key),
            has_annotation=lambda doc: has_entities(doc, spans_key),
            allow_overlap=True,
        )
        scores |= _with_macro(attr, scored, _any_annotated(examples, spans_key))
    learned = "ents" if spans_key is None else f"spans_{spans_key}"
    return {"ner_f": scores[f"{learned}_f"], **scores}


def _getter(spans_key: str) -> Callable[[Doc, str], list[Span]]:
    return lambda doc, _: entities_of(doc, spans_key)


def _any_annotated(examples: Sequence[Example], spans_key: str | None) -> bool:
    return any(has_entities(eg.reference, spans_key) for eg in examples if len(eg.reference))


def _with_macro(attr: str, scores: dict[str, Any], is_annotated: bool) -> dict[str, Any]:
    """The scores, the mean over the labels, and 0 instead of None where there is annotation."""
    per_type = scores[f"{attr}_per_type"] or {}
    for name in PRF:
        values = [prf[name] for prf in per_type.values()]
        scores[f"{attr}_macro_{name}"] = sum(values) / len(values) if values else None
    if is_annotated:
        scores = {name: 0.0 if value is None else value for name, value in scores.items()}
        scores[f"{attr}_per_type"] = per_type
    return scores
