"""Load a pipeline and print the trees of a text. Imports nothing but spaCy."""

import sys
from collections.abc import Iterator
from pathlib import Path

import spacy
from spacy.tokens import Span, Token


def tree_rows(token: Token, here: str = "", above: str = "", below: str = "") -> Iterator[tuple]:
    """(token, what is drawn before it), from the first word of a token's subtree to the last.

    above, below: what is drawn before the rows over and under the token.
    """
    lefts, rights = list(token.lefts), list(token.rights)
    for child in lefts:
        arm, outside = ("┌─ ", "   ") if child is lefts[0] else ("├─ ", "│  ")
        yield from tree_rows(child, above + arm, above + outside, above + "│  ")
    yield token, here
    for child in rights:
        arm, outside = ("└─ ", "   ") if child is rights[-1] else ("├─ ", "│  ")
        yield from tree_rows(child, below + arm, below + "│  ", below + outside)


def print_tree(sent: Span) -> None:
    """Print one sentence as a tree, a word a line, its label beside it."""
    rows = [(drawn + token.text, token.dep_) for token, drawn in tree_rows(sent.root)]
    width = max(len(left) for left, _ in rows)
    for left, label in rows:
        print(f"  {left:{width}}  {label}")


def main(name: str, text: str) -> None:
    """Load, parse, print."""
    assert "spacy_biaffine" not in sys.modules
    nlp = spacy.load(name)
    plugin = Path(str(sys.modules["spacy_biaffine"].__file__)).resolve()
    assert plugin.is_relative_to(Path(sys.prefix).resolve()), f"not the wheel's: {plugin}"
    print(f'\nspacy.load("{name}"): {nlp.meta["lang"]}, {nlp.pipe_names}, nothing else imported')
    doc = nlp(text)
    for sent in doc.sents:
        print(f"\n{sent.text}\n")
        print_tree(sent)
    print()


if __name__ == "__main__":
    main(*sys.argv[1:])
