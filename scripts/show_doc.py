"""Load a pipeline and print what it finds in a text, or in Docs. Imports nothing but spaCy."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span, Token

Rows = list[list[str]]


def tree_rows(
    token: Token, here: str = "", above: str = "", below: str = ""
) -> Iterator[tuple[Token, str]]:
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


def word_rows(sent: Span, extensions: Iterable[str]) -> Rows:
    """A word a row, as a tree where there is one, with its labels. Empty without labels."""
    doc = sent.doc
    if doc.has_annotation("DEP"):
        rows = [(token, [drawn + token.text, token.dep_]) for token, drawn in tree_rows(sent.root)]
    else:
        rows = [(token, [token.text]) for token in sent]
    for name, read in {
        "TAG": lambda token: token.tag_,
        "POS": lambda token: token.pos_,
        "MORPH": lambda token: str(token.morph),
    }.items():
        if doc.has_annotation(name):
            for token, row in rows:
                row.append(read(token))
    for name in extensions:
        for token, row in rows:
            row.append(str(token._.get(name)))
    return [row for _, row in rows if len(row) > 1]


def entity_rows(doc: Doc, groups: Iterable[str]) -> Rows:
    """Entities of doc.ents and of span groups, each once."""
    spans = [*doc.ents, *(span for key in groups for span in doc.spans.get(key, ()))]
    return [[_text(span), span.label_] for span in sorted(dict.fromkeys(spans))]


def relation_rows(doc: Doc) -> Rows:
    """Relations."""
    return [[_text(each.head), each.label, _text(each.tail)] for each in doc._.relations]


def arc_rows(doc: Doc) -> Rows:
    """Arcs of a dependency graph."""
    return [
        [arc.dependent.text, arc.label, "(root)" if arc.head is None else arc.head.text]
        for arc in doc._.dep_graph
    ]


def frame_rows(doc: Doc) -> Rows:
    """A row for each predicate, and below it one for each of its roles."""
    rows = []
    for frame in doc._.frames:
        rows.append([" ... ".join(span.text for span in frame.predicate), frame.sense or ""])
        for role in frame.roles:
            rows.append([f"  {role.label}", " ... ".join(map(_text, role.spans))])
    return rows


def _text(span: Span) -> str:
    return f"[{span.text}]"


def print_rows(rows: Rows) -> None:
    """Columns side by side."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:{width}}" for cell, width in zip(row, widths, strict=True))
        print(f"  {'  '.join(cells)}".rstrip())


def print_doc(doc: Doc, extensions: Iterable[str], groups: Iterable[str]) -> None:
    """Print words by sentence, then what spans the Doc."""
    sents = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
    for sent in sents:
        print(f"\n{sent.text}")
        if rows := word_rows(sent, extensions):
            print()
            print_rows(rows)
    found = {}
    if doc.has_annotation("ENT_IOB") or any(key in doc.spans for key in groups):
        found["entities"] = entity_rows(doc, groups)
    for key, rows_of in {
        "relations": relation_rows,
        "dep_graph": arc_rows,
        "frames": frame_rows,
    }.items():
        if f"spacy_biaffine.graph.{key}" in doc.spans:
            found[key] = rows_of(doc)
    for what, rows in found.items():
        print(f"\n{what}:" if rows else f"\n{what}: none")
        print_rows(rows)


def settings_of(nlp: Language) -> tuple[list[str], list[str]]:
    """The token extensions and the span groups that the components write."""
    blocks = [nlp.config["components"][name] for name in nlp.pipe_names]
    targets = [block.get("target") or "" for block in blocks]
    groups = [block.get("spans_key") or block.get("graph", {}).get("spans_key") for block in blocks]
    extensions = [target.removeprefix("_.") for target in targets if target.startswith("_.")]
    return extensions, [key for key in groups if key]


def main() -> None:
    """Load, read, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="what spacy.load is given")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--text")
    what.add_argument("--docs", type=Path, help=".spacy file")
    args = parser.parse_args()
    assert "spacy_biaffine" not in sys.modules
    nlp = spacy.load(args.name)
    plugin = Path(str(sys.modules["spacy_biaffine"].__file__)).resolve()
    assert plugin.is_relative_to(Path(sys.prefix).resolve()), f"not the wheel's: {plugin}"
    print(
        f'\nspacy.load("{args.name}"): {nlp.meta["lang"]}, {nlp.pipe_names}, nothing else imported'
    )
    docs = [args.text] if args.docs is None else DocBin().from_disk(args.docs).get_docs(nlp.vocab)
    for doc in nlp.pipe(docs):
        print_doc(doc, *settings_of(nlp))
    print()


if __name__ == "__main__":
    main()
