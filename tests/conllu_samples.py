"""Small CoNLL-U inputs for the tests."""

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_biaffine.formats.conllu.api import docs_from_conllu


def row(identifier, form, head="_", deprel="_", **cells):
    """One line. Other columns by name: lemma, upos, xpos, feats, deps, misc."""
    names = ("lemma", "upos", "xpos", "feats")
    values = [cells.get(name, "_") for name in names]
    last = [cells.get(name, "_") for name in ("deps", "misc")]
    return "\t".join([str(identifier), form, *values, str(head), deprel, *last]) + "\n"


def block(*lines):
    """A sentence: lines and the blank one after it."""
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines) + "\n"


SHORT = block(row(1, "Rain", 2, "nsubj"), row(2, "fell", 0, "root"))

CONTRACTED = block(
    "# sent_id = walk-1",
    "# text = Wir gehen zum See.",
    row(1, "Wir", 2, "nsubj", lemma="wir", upos="PRON", xpos="PPER", feats="Case=Nom|Number=Plur"),
    row(2, "gehen", 0, "root", lemma="gehen", upos="VERB", xpos="VVFIN", deps="0:root"),
    row("3-4", "zum"),
    row(3, "zu", 5, "case", lemma="zu", upos="ADP", xpos="APPR"),
    row(4, "dem", 5, "det", lemma="der", upos="DET", xpos="ART", feats="Case=Dat"),
    row(5, "See", 2, "obl", lemma="See", upos="NOUN", misc="Gloss=lake|SpaceAfter=No"),
    row(6, ".", 2, "punct", lemma=".", upos="PUNCT", xpos="$."),
)

GRAPH = block(
    "# text = Ada reads and Bo too",
    row(1, "Ada", 2, "nsubj", deps="2:nsubj|5.1:dep:of:x"),
    row(2, "reads", 0, "root", deps="0:root"),
    row(3, "and", 4, "cc", deps="5.1:cc"),
    row(4, "Bo", 2, "conj", deps="5.1:nsubj"),
    row(5, "too", 4, "orphan", deps="2:advmod:late"),
    row("5.1", "reads", deps="2:conj:and"),
)


def docs(text, **options) -> list[Doc]:
    """Docs of CoNLL-U text."""
    return list(docs_from_conllu(text, Vocab(), **options))


def doc(text, **options) -> Doc:
    """The one Doc of CoNLL-U text."""
    (only,) = docs(text, **options)
    return only
