"""CoNLL-U lines of a Doc that does not come from CoNLL-U.

Whitespace tokens are no words: their text goes into the MISC of the word before (SpacesAfter) or,
at the start of the Doc, of the first word (SpacesBefore).
"""

from collections.abc import Iterator

from spacy.tokens import Doc, Token

from .rows import cell, heads_and_labels, token_cells

_ESCAPES = str.maketrans(
    {"\\": "\\\\", " ": "\\s", "\t": "\\t", "\r": "\\r", "\n": "\\n", "|": "\\p"}
)


def plain_lines(doc: Doc, number: int) -> Iterator[str]:
    """Lines of all sentences (one, where the Doc has no sentence starts), '' after each.

    number: names the Doc in the ``# sent_id`` lines.
    """
    spacing = _spacing(doc)
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    written = 0
    for sentence in sentences:
        words = [token for token in sentence if token.i in spacing]
        if not words:
            continue
        if not written:
            yield f"# newdoc id = d{number}"
        written += 1
        yield f"# sent_id = d{number}-s{written}"
        yield f"# text = {_text(words, spacing)}"
        trees = heads_and_labels(words, "root")
        for position, (word, (head, deprel)) in enumerate(zip(words, trees, strict=True), 1):
            cells = token_cells(word, position, head, deprel)
            cells[9] = spacing[word.i]
            yield "\t".join(cells)
        yield ""


def _spacing(doc: Doc) -> dict[int, str]:
    """MISC of each token that is a word."""
    words = [token for token in doc if token.text.strip()]
    text = doc.text
    spacing = {}
    for position, word in enumerate(words):
        end = words[position + 1].idx if position + 1 < len(words) else len(text)
        after = text[word.idx + len(word) : end]
        at_end = position + 1 == len(words)
        parts = []
        if position == 0 and word.idx:
            parts.append("SpacesBefore=" + text[: word.idx].translate(_ESCAPES))
        if not after and not at_end:
            parts.append("SpaceAfter=No")
        elif after not in ("", " "):
            parts.append("SpacesAfter=" + after.translate(_ESCAPES))
        spacing[word.i] = "|".join(parts) or "_"
    return spacing


def _text(words: list[Token], spacing: dict[int, str]) -> str:
    glued = ["SpaceAfter=No" in spacing[word.i].split("|") for word in words]
    pairs = zip(words, glued, strict=True)
    return "".join(cell(word.text) + ("" if no_space else " ") for word, no_space in pairs).rstrip()
