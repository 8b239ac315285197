"""What the components write beside spaCy's own attributes, in forms that a Doc keeps when it is
saved, copied, or sent to another process: span groups with plain data in their attrs."""

from collections.abc import Sequence

from spacy.tokens import Doc, Span, SpanGroup, Token

from .types import Floats

TOKEN_SCORES = "token_scores"

ENT_SCORES = "ent_scores"


def set_token_scores(doc: Doc, **scores: Floats) -> None:
    """Keep one probability per token under each name, e.g. head_prob; see `token._.head_prob`."""
    attrs = dict(doc.spans[TOKEN_SCORES].attrs) if TOKEN_SCORES in doc.spans else {}
    attrs |= {name: [float(value) for value in values] for name, values in scores.items()}
    doc.spans[TOKEN_SCORES] = SpanGroup(doc, name=TOKEN_SCORES, attrs=attrs)


def register_token_score(name: str) -> None:
    """Make `token._.NAME` read the score that `set_token_scores` has kept, None without one."""

    def get(token: Token) -> float | None:
        doc = token.doc
        scores = doc.spans[TOKEN_SCORES].attrs.get(name) if TOKEN_SCORES in doc.spans else None
        # Tokens that were merged or split since have no scores that could be told apart.
        return scores[token.i] if scores and len(scores) == len(doc) else None

    Token.set_extension(name, getter=get, force=True)


def entities_of(doc: Doc, spans_key: str | None) -> list[Span]:
    """The spans of a group, nested ones too; with None those of doc.ents."""
    if spans_key is None:
        return list(doc.ents)
    return list(doc.spans[spans_key]) if spans_key in doc.spans else []


def has_entities(doc: Doc, spans_key: str | None) -> bool:
    """Whether the Doc is annotated: with the group, be it empty, or with entities or none."""
    return doc.has_annotation("ENT_IOB") if spans_key is None else spans_key in doc.spans


def set_scored_spans(doc: Doc, key: str, spans: Sequence[Span], scores: Floats) -> None:
    """Write a span group whose attrs["scores"] has one score per span, as spaCy's spancat does."""
    attrs = {"scores": [float(score) for score in scores]}
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)


def _ent_score(span: Span) -> float | None:
    if ENT_SCORES not in span.doc.spans:
        return None
    group = span.doc.spans[ENT_SCORES]
    for other, score in zip(group, group.attrs["scores"], strict=True):
        if (other.start, other.end, other.label) == (span.start, span.end, span.label):
            return score
    return None


Span.set_extension("ent_score", getter=_ent_score, force=True)
