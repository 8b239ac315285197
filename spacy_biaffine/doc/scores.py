"""What the components write beside spaCy's own attributes, in forms that a Doc keeps when it is
saved, copied, or sent to another process: scores, and labels of tokens.

They are in the attrs of span groups without spans. Values of tokens go with the characters at
which the tokens began, so a token that is still there finds its own after others were merged or
split; one that was merged or split itself has none. `Doc.from_docs` and `Doc.to_json` drop attrs,
and with them all that is kept here; `Span.as_doc` drops groups.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from spacy.tokens import Doc, Span, SpanGroup, Token

from ..types import Floats
from .kept import (
    CHARACTERS,
    MERGED,
    PLACES,
    UnreadableError,
    check_text,
    end_of,
    group_name,
    kept_group,
    warn_absent,
)
from .nodes import packed_spans

TOKEN_SCORES = group_name("token_scores")

TOKEN_LABELS = group_name("token_labels")

ENT_SCORES = group_name("ent_scores")

MIN_PROB = 0.001
"""Labels of a smaller probability are left out of a distribution that is kept."""

STARTS = "token starts"
"""In attrs: the first character of each token. No extension can have this name."""


def set_token_scores(doc: Doc, **scores: Floats) -> None:
    """Keep one probability per token under each name, e.g. head_prob; see `token._.head_prob`."""
    _set_values(doc, {name: [float(value) for value in each] for name, each in scores.items()})


def set_token_distribution(doc: Doc, name: str, labels: Sequence[str], probs: Floats) -> None:
    """Keep the probabilities (tokens, labels) of each token's labels; see `token._.NAME`."""
    rows = [
        {label: prob for label, prob in zip(labels, row, strict=True) if prob >= MIN_PROB}
        for row in probs.tolist()
    ]
    _set_values(doc, {name: rows})


def register_token_score(name: str) -> None:
    """Make `token._.NAME` read the score that `set_token_scores` has kept, or the distribution of
    `set_token_distribution`, a dict of probability by label; None without either."""
    # Workers that are spawned get the getter by pickle: it can be no function of this one's.
    Token.set_extension(name, getter=partial(token_score, name=name), force=True)


def token_score(token: Token, name: str) -> float | dict[str, float] | None:
    """What is kept of a token under a name, see `register_token_score`."""
    return _value(token, TOKEN_SCORES, name)


def token_score_names(doc: Doc) -> list[str]:
    """The names of all scores of tokens that a Doc has."""
    return list(token_values(doc, TOKEN_SCORES))


def token_values(doc: Doc, key: str) -> dict[str, list[Any]]:
    """All values of tokens in a group, `TOKEN_SCORES` or `TOKEN_LABELS`, by name, on the tokens
    that there are; None for a token that was merged or split since."""
    values = _aligned_attrs(doc, key).items()
    return {name: each for name, each in values if name not in (STARTS, CHARACTERS)}


def set_token_values(doc: Doc, key: str, values: Mapping[str, list[Any]]) -> None:
    """Keep values of tokens, a list of one each by name, in place of what was in the group."""
    attrs = {**values, STARTS: [token.idx for token in doc], CHARACTERS: end_of(doc)}
    doc.spans[key] = SpanGroup(doc, name=key, attrs=attrs)


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
    return _value(token, TOKEN_LABELS, name)


def set_token_label(token: Token, label: str | None, name: str) -> None:
    """Keep a token's label under a name."""
    doc = token.doc
    group = doc.spans.get(TOKEN_LABELS)
    if group is None or _place(token, group.attrs) != token.i:
        group = aligned(doc, TOKEN_LABELS)
    values = group.attrs.setdefault(name, [None] * len(doc))
    values[token.i] = label


def _set_values(doc: Doc, values: dict[str, list[Any]]) -> None:
    aligned(doc, TOKEN_SCORES).attrs.update(values)


def aligned(doc: Doc, key: str) -> SpanGroup:
    """The group of values of tokens, all of them moved to the tokens that there are; a new one
    without one."""
    doc.spans[key] = SpanGroup(doc, name=key, attrs=_aligned_attrs(doc, key))
    return doc.spans[key]


def _aligned_attrs(doc: Doc, key: str) -> dict[str, Any]:
    group = kept_group(doc, key)
    old = {} if group is None else group.attrs
    attrs: dict[str, Any] = {STARTS: [token.idx for token in doc], CHARACTERS: end_of(doc)}
    places = [_place(token, old) for token in doc]
    for name in [name for name in old if name not in attrs]:
        attrs[name] = [None if place is None else old[name][place] for place in places]
    return attrs


def _value(token: Token, key: str, name: str) -> Any:
    group = kept_group(token.doc, key)
    if group is None or name not in group.attrs:
        return None
    place = _place(token, group.attrs)
    if place is None:
        warn_absent(f"token._.{name} of some tokens", MERGED)
        return None
    return group.attrs[name][place]


def _place(token: Token, attrs: dict[str, Any]) -> int | None:
    """The number that a token had when values were written; None if it was another then."""
    doc, i = token.doc, token.i
    if STARTS not in attrs:  # of an earlier version
        sizes = {len(each) for each in attrs.values() if isinstance(each, list)}
        return i if sizes == {len(doc)} else None
    try:
        check_text(doc, attrs)
    except UnreadableError:
        return None
    starts, end = attrs[STARTS], attrs[CHARACTERS]
    place = i if i < len(starts) and starts[i] == token.idx else bisect_left(starts, token.idx)
    if place == len(starts) or starts[place] != token.idx:
        return None
    next_start = doc[i + 1].idx if i + 1 < len(doc) else end
    next_old = starts[place + 1] if place + 1 < len(starts) else end
    return place if next_start == next_old else None


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


def set_ent_scores(doc: Doc, scores: Mapping[Span, float]) -> None:
    """Keep scores of entities; see `ent._.ent_score`."""
    places = [[span.start_char, span.end_char, span.label_] for span in scores]
    attrs: dict[str, Any] = {PLACES: places, "scores": [float(score) for score in scores.values()]}
    attrs[CHARACTERS] = end_of(doc)
    doc.spans[ENT_SCORES] = SpanGroup(doc, name=ENT_SCORES, attrs=attrs)


def ent_scores(doc: Doc) -> dict[tuple[int, int, str], float]:
    """The scores that are kept of entities, by first character, the one after the last, label."""
    group = kept_group(doc, ENT_SCORES)
    if group is None:
        return {}
    try:
        check_text(doc, group.attrs)
    except UnreadableError:
        return {}
    places = group.attrs.get(PLACES)
    if places is None:  # of an earlier version
        strings = doc.vocab.strings
        places = [[span.start, span.end, strings[span.label]] for span in packed_spans(group)]
    scores = group.attrs.get("scores", ())
    # Doc.from_docs keeps groups without their attrs.
    if len(scores) != len(places):
        return {}
    return {tuple(place): score for place, score in zip(places, scores, strict=True)}


def scored_spans(doc: Doc, key: str) -> list[tuple[Span, float]]:
    """The spans of a group, or the entities of `ENT_SCORES`, each with its score."""
    if key != ENT_SCORES:
        return [*zip(doc.spans[key], doc.spans[key].attrs["scores"], strict=True)]
    found = [(ent, ent._.ent_score) for ent in doc.ents]
    return [(ent, score) for ent, score in found if score is not None]


def _ent_score(span: Span) -> float | None:
    return ent_scores(span.doc).get((span.start_char, span.end_char, span.label_))


Span.set_extension("ent_score", getter=_ent_score, force=True)
