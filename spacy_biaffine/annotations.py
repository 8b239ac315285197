"""What the components write beside spaCy's own attributes, in forms that a Doc keeps when it is
saved, copied, or sent to another process: span groups with plain data in their attrs."""

from spacy.tokens import Doc, SpanGroup, Token

from .types import Floats

TOKEN_SCORES = "token_scores"


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
