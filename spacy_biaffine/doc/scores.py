"""What the components write beside spaCy's own attributes, in forms that a Doc keeps when it is
saved, copied, or sent to another process: span groups with plain data in their attrs."""

from collections.abc import Iterable, Sequence
from functools import partial

from spacy.tokens import Doc, Span, SpanGroup, Token

from ..types import Floats

TOKEN_SCORES = "token_scores"

TOKEN_LABELS = "token_labels"

MIN_PROB = 0.001
"""Labels of a smaller probability are left out of a distribution that is kept."""

ENT_SCORES = "ent_scores"


def set_token_scores(doc: Doc, **scores: Floats) -> None:
    """Keep one probability per token under each name, e.g. head_prob; see `token._.head_prob`."""
    attrs = dict(doc.spans[TOKEN_SCORES].attrs) if TOKEN_SCORES in doc.spans else {}
    attrs |= {name: [float(value) for value in values] for name, values in scores.items()}
    doc.spans[TOKEN_SCORES] = SpanGroup(doc, name=TOKEN_SCORES, attrs=attrs)


def register_token_score(name: str) -> None:
    """Make `token._.NAME` read the score that `set_token_scores` has kept, or the distribution of
    `set_token_distribution`, a dict of probability by label; None without either."""
    # Workers that are spawned get the getter by pickle: it can be no function of this one's.
    Token.set_extension(name, getter=partial(token_score, name=name), force=True)


def token_score(token: Token, name: str) -> float | dict[str, float] | None:
    """What is kept of a token under a name, see `register_token_score`."""
    doc = token.doc
    scores = doc.spans[TOKEN_SCORES].attrs.get(name) if TOKEN_SCORES in doc.spans else None
    # Tokens that were merged or split since have no scores that could be told apart.
    return scores[token.i] if scores and len(scores) == len(doc) else None


def set_token_distribution(doc: Doc, name: str, labels: Sequence[str], probs: Floats) -> None:
    """Keep the probabilities (tokens, labels) of each token's labels; see `token._.NAME`."""
    attrs = dict(doc.spans[TOKEN_SCORES].attrs) if TOKEN_SCORES in doc.spans else {}
    attrs[name] = [
        {label: prob for label, prob in zip(labels, row, strict=True) if prob >= MIN_PROB}
        for row in probs.tolist()
    ]
    doc.spans[TOKEN_SCORES] = SpanGroup(doc, name=TOKEN_SCORES, attrs=attrs)


def register_token_label(name: str) -> None:
    """Make `token._.NAME` a label that can be written and that a saved Doc keeps, where there is no
    extension of that name. Raises ValueError where there is one that can't be written."""
    if Token.has_extension(name):
        _, method, getter, setter = Token.get_extension(name)
        if method is not None or (getter is not None and setter is None):
            raise ValueError(f"token._.{name} is registered already, and can't be written.")
        return

    getter, setter = partial(token_label, name=name), partial(set_token_label, name=name)
    Token.set_extension(name, getter=getter, setter=setter)


def token_label(token: Token, name: str) -> str | None:
    """The label that is kept of a token under a name, see `register_token_label`."""
    doc = token.doc
    labels = doc.spans[TOKEN_LABELS].attrs.get(name) if TOKEN_LABELS in doc.spans else None
    return labels[token.i] if labels and len(labels) == len(doc) else None


def set_token_label(token: Token, label: str | None, name: str) -> None:
    """Keep a token's label under a name."""
    doc = token.doc
    if TOKEN_LABELS not in doc.spans:
        doc.spans[TOKEN_LABELS] = SpanGroup(doc, name=TOKEN_LABELS)
    attrs = doc.spans[TOKEN_LABELS].attrs
    if len(attrs.get(name) or ()) != len(doc):
        attrs[name] = [None] * len(doc)
    attrs[name][token.i] = label


def entities_of(doc: Doc, spans_key: str | None) -> list[Span]:
    """The spans of a group, nested ones too; with None those of doc.ents."""
    if spans_key is None:
        return list(doc.ents)
    return list(doc.spans[spans_key]) if spans_key in doc.spans else []


def has_entities(doc: Doc, spans_key: str | None) -> bool:
    """Whether the Doc is annotated: with the group, be it empty, or with entities or none."""
    return doc.has_annotation("ENT_IOB") if spans_key is None else spans_key in doc.spans


def blocked_tokens(doc: Doc) -> list[Span]:
    """Tokens that were marked as part of no entity, whatever comes."""
    return [doc[t.i : t.i + 1] for t in doc if t.ent_iob == 3 and not t.ent_type]


def set_scored_spans(doc: Doc, key: str, spans: Sequence[Span], scores: Iterable[float]) -> None:
    """Write a span group whose attrs["scores"] has one score per span, as spaCy's spancat does."""
    attrs = {"scores": [float(score) for score in scores]}
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)


def _ent_score(span: Span) -> float | None:
    if ENT_SCORES not in span.doc.spans:
        return None
    group = span.doc.spans[ENT_SCORES]
    scores = group.attrs.get("scores", ())
    # Doc.from_docs keeps groups without their attrs.
    if len(scores) != len(group):
        return None
    for other, score in zip(group, scores, strict=True):
        if (other.start, other.end, other.label) == (span.start, span.end, span.label):
            return score
    return None


Span.set_extension("ent_score", getter=_ent_score, force=True)
