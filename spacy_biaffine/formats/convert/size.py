"""Docs and tokens far beyond what encoders read at once: as a rule the file lacks a mark."""

from spacy.tokens import Doc

from ..common.lines import Skipped

LONG_DOC = 20_000
"""Tokens; encoders read 512 wordpieces at once, the longest ones 8,192."""

LONG_TOKEN = 512
"""Characters; a wordpiece is one or more of them."""


def doubt_size(doc: Doc, name: str, report: Skipped) -> None:
    """Count a Doc of very many tokens, and tokens of very many characters."""
    if not len(doc):
        report.doubt("docs without a token, which training passes over", name)
    if len(doc) > LONG_DOC:
        what = f"docs of more than {LONG_DOC:,} tokens; cut them at their documents or sentences"
        report.doubt(what, f"{name}, {len(doc):,} tokens")
    for token in doc if _n_characters(doc) > LONG_TOKEN else ():
        if len(token) > LONG_TOKEN:
            what = f"tokens of more than {LONG_TOKEN} characters, which no encoder reads whole"
            report.doubt(what, f"{name}, token {token.i + 1}, {len(token):,} characters")


def _n_characters(doc: Doc) -> int:
    return doc[-1].idx + len(doc[-1]) if len(doc) else 0
