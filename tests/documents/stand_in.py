"""What `spacy.load` gives code on a page: a pipeline that knows the texts of the pages by heart."""

from collections.abc import Callable
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_biaffine.doc.graphs import Frame, Relation, Role, set_frames, set_relations

COMPONENTS = (
    "tok2vec",
    "norm_biaffine_parser",
    "label_attention_tagger",
    "global_pointer_ner",
    "norm_biaffine_graph_parser",
    "syntax_srl",
)


def load(name: Any, **_: Any) -> Language:
    """A pipeline in place of a trained one. What the pages print was printed by trained ones."""
    nlp = spacy.blank("fr" if str(name).startswith("fr_") else "en")
    for component in COMPONENTS:
        nlp.add_pipe("stand_in", name=component)
    return nlp


@Language.component("stand_in")
def annotate(doc: Doc) -> Doc:
    """Annotate a text of the pages."""
    if doc.text in TEXTS:
        TEXTS[doc.text](doc)
    return doc


def _words(doc: Doc, *rows: str) -> None:
    """Write "TAG dep head", a row for each token, the head as its number."""
    assert len(rows) == len(doc), f"{doc.text!r} has {len(doc)} tokens"
    for token, row in zip(doc, rows, strict=True):
        token.tag_, token.dep_, head = row.split()
        token.head = doc[int(head)]


TEXTS: dict[str, Callable[[Doc], None]] = {}


def _knows(text: str) -> Callable[[Callable[[Doc], None]], Callable[[Doc], None]]:
    def register(write: Callable[[Doc], None]) -> Callable[[Doc], None]:
        TEXTS[text] = write
        return write

    return register


@_knows("Elle ouvre un café.")
def _french(doc: Doc) -> None:
    _words(doc, "_ nsubj 1", "_ root 1", "_ det 3", "_ obj 1", "_ punct 1")


@_knows("She opened a café on Bridge Street. Would you like to come with us?")
def _two_sentences(doc: Doc) -> None:
    _words(
        doc,
        *("_ nsubj 1", "_ root 1", "_ det 3", "_ obj 1", "_ case 6", "_ compound 6", "_ obl 1"),
        *("_ punct 1", "_ aux 10", "_ nsubj 10", "_ root 10", "_ mark 12", "_ xcomp 10"),
        *("_ case 14", "_ obl 12", "_ punct 10"),
    )


@_knows("Anna Berg lives in Oslo. She works for the city library there.")
def _all_layers(doc: Doc) -> None:
    _words(
        doc,
        *("NNP nsubj 2", "NNP flat 0", "VBZ root 2", "IN case 4", "NNP obl 2", ". punct 2"),
        *("PRP nsubj 7", "VBZ root 7", "IN case 11", "DT det 11", "NN compound 11", "NN obl 7"),
        *("RB advmod 7", ". punct 7"),
    )
    doc.ents = [Span(doc, 0, 2, "PER"), Span(doc, 4, 5, "LOC")]
    set_relations(doc, [Relation(doc[0:2], doc[4:5], "lives_in")])
    lives = {"ARG0": doc[0:2], "ARGM-LOC": doc[3:5]}
    works = {"ARG0": doc[6:7], "ARG2": doc[8:12], "ARGM-LOC": doc[12:13]}
    set_frames(
        doc,
        [
            Frame((doc[at : at + 1],), sense, tuple(Role(label, (span,)) for label, span in roles))
            for at, sense, roles in (
                (2, "live.01", lives.items()),
                (7, "work.01", works.items()),
            )
        ],
    )
