"""Scores of token labels."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Token
from spacy.training import Example

from ..doc.labels import label_of


def make_tagger_scorer() -> Callable[..., dict[str, Any]]:
    """The registered scorer of token labels."""
    return score_tagger


def score_tagger(examples: Iterable[Example], *, target: str, **_: Any) -> dict[str, Any]:
    """Scores of one target of the tagger, under the names that spaCy's components use.

    tag: tag_acc. pos: pos_acc. morph: pos_acc, morph_acc and morph_per_feat. ent: ents_p, ents_r,
    ents_f and ents_per_type. _.NAME: NAME_acc. Beside them label_score: the accuracy of the whole
    label, of ent the F1. Blank tokens and those without gold do not count; None where no gold is.
    """
    examples = list(examples)
    if target == "ent":
        scores = get_ner_prf(examples)
        return {"label_score": scores["ents_f"], **scores}
    name = target.removeprefix("_.")
    (score,) = Scorer.score_token_attr(
        examples, name, getter=lambda token, _: label_of(token, target)
    ).values()
    if target != "morph":
        return {"label_score": score, f"{name}_acc": score}
    parts = {
        **Scorer.score_token_attr(examples, "pos", getter=_on_words(lambda token: token.pos)),
        **Scorer.score_token_attr(examples, "morph", getter=_on_words(_morph_key)),
        **Scorer.score_token_attr_per_feat(examples, "morph", getter=_on_words(_morph_key)),
    }
    return {"label_score": score, **parts}


def _on_words(read: Callable[[Token], Any]) -> Callable[[Token, str], Any]:
    return lambda token, _: 0 if token.is_space else read(token)


def _morph_key(token: Token) -> int:
    key: int = cast(Any, token.morph).key
    return key
