"""Docs -> WebAnno TSV 3.3, with the layers that INCEpTION has from the start."""

from collections import defaultdict

from spacy.tokens import Doc, Span, Token

from ...doc.layers import has_sentences
from ..relations.to_docs import ENTITIES
from .spans import Annotation
from .webanno_lines import FORMAT, RELATIONS, SPANS, escaped

SPAN, RELATION = "custom.Span", "custom.Relation"


def webanno_files(doc: Doc, spans_key: str = ENTITIES) -> dict[str, str]:
    """The file of a Doc, by its ending; tokens of blanks are left out.

    Raises ValueError where an entity has no other ones, or the Doc has none.
    """
    sentences = [
        [token for token in sentence if token.text.strip()]
        for sentence in (doc.sents if has_sentences(doc) else [doc[:]])
    ]
    sentences = [words for words in sentences if words]
    if not sentences:
        raise ValueError("a Doc without words has no place in WebAnno TSV")
    table = _Table(Annotation(doc, spans_key), sentences)
    lines = table.header()
    for words in sentences:
        text = doc[words[0].i : words[-1].i + 1].text
        lines += ["", f"#Text={_one_line(text)}"]
        lines += ["\t".join([*table.place(word), *table.cells(word), ""]) for word in words]
    return {".tsv": "\n".join(lines) + "\n"}


class _Table:
    """What stands on the lines of the words."""

    def __init__(self, found: Annotation, sentences: list[list[Token]]) -> None:
        self._has_spans = found.entities is not None
        self._has_relations = found.relations is not None
        self._units = {
            word.i: f"{number}-{at}"
            for number, words in enumerate(sentences, 1)
            for at, word in enumerate(words, 1)
        }
        self._spans: dict[int, list[str]] = defaultdict(list)
        self._relations: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for span in found.entities or ():
            label = escaped(span.label_) or "*"
            for i in self._words(span):
                self._spans[i].append(f"{label}[{found.number(span) + 1}]")
        for each in found.relations or ():
            head, tail = self._words(each.head)[0], self._words(each.tail)[0]
            numbers = f"[{found.number(each.head) + 1}_{found.number(each.tail) + 1}]"
            begin = self._units[head] + numbers
            self._relations[tail].append((escaped(each.label) or "*", begin))

    def header(self) -> list[str]:
        lines = [f"{FORMAT}.3"]
        lines += [f"{SPANS}{SPAN}|label"] if self._has_spans else []
        lines += [f"{RELATIONS}{RELATION}|label|BT_{SPAN}"] if self._has_relations else []
        return [*lines, ""]

    def place(self, word: Token) -> list[str]:
        """The tool counts characters as Java does: those beyond 0xFFFF are two."""
        begin = _java_length(word.doc.text[: word.idx])
        return [
            self._units[word.i],
            f"{begin}-{begin + _java_length(word.text)}",
            _one_line(word.text),
        ]

    def cells(self, word: Token) -> list[str]:
        spans = ["|".join(self._spans[word.i]) or "_"] if self._has_spans else []
        if not self._has_relations:
            return spans
        labels, begins = zip(*self._relations[word.i] or [("_", "_")], strict=True)
        return [*spans, "|".join(labels), "|".join(begins)]

    def _words(self, span: Span) -> list[int]:
        words = [token.i for token in span if token.i in self._units]
        if not words:
            raise ValueError(f"the entity at token {span.start} has no words")
        return words


def _java_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _one_line(text: str) -> str:
    for character, name in (("\\", "\\\\"), ("\n", r"\n"), ("\r", r"\r"), ("\t", r"\t")):
        text = text.replace(character, name)
    return text
