"""What the page shows of each layer, as data for its templates."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup
from spacy.tokens import Doc, Span, Token

from ..doc.graphs import FRAMES, WORD_FRAMES, frames_of
from ..doc.layers import BY_NAME, entity_groups
from ..doc.scores import token_score_names
from ..pictures.displacy import entities_html
from ..pictures.layers import pictures_of

Cell = str | float | None
"""Text; a probability; nothing."""


@dataclass(frozen=True)
class Row:
    """is_first: of something new. number: that of a role, whose words are marked in the text."""

    cells: Sequence[Cell]
    is_first: bool = False
    number: int | None = None


@dataclass(frozen=True)
class Table:
    """words: those of the sentence that the rows are about."""

    header: Sequence[str]
    rows: Sequence[Row]
    words: Sequence[Token] = ()


@dataclass(frozen=True)
class Section:
    """A part of the page. marked: the text with its entities."""

    name: str
    tables: Sequence[Table] = ()
    pictures: Sequence[Markup] = ()
    marked: Markup | None = None

    @property
    def place(self) -> str:
        """Where a link jumps to."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def is_empty(self) -> bool:
        return not (self.pictures or any(table.rows for table in self.tables))


@dataclass(frozen=True)
class View:
    """How a layer is shown. name: that of the choice."""

    name: str
    sections: Callable[[Doc], list[Section]]
    is_always: bool = False


def sections_of(doc: Doc, chosen: Iterable[str]) -> list[Section]:
    """The sections of the chosen layers that are on a Doc; of all layers where none is chosen."""
    chosen = set(chosen) or set(VIEWS)
    shown = [
        view
        for layer, view in VIEWS.items()
        if layer in chosen and (view.is_always or BY_NAME[layer].is_on(doc))
    ]
    return [section for view in shown for section in view.sections(doc)]


def numbered_roles(doc: Doc, key: str) -> list[tuple[int, tuple[Span, ...]]]:
    """The words of each predicate and each role, by the numbers of their rows."""
    parts = [
        spans
        for frame in frames_of(doc, key)
        for spans in (frame.predicate, *(role.spans for role in frame.roles))
    ]
    return list(enumerate(parts))


def _drawn(doc: Doc, layer: str) -> list[Markup]:
    return [Markup(picture) for picture in pictures_of(doc, layer)]


def _entities(doc: Doc) -> list[Section]:
    found = [(entity, entity._.ent_score) for entity in doc.ents]
    return [_entity_section("Entities", found, entities_html(doc))]


def _groups(doc: Doc) -> list[Section]:
    sections = []
    for key in entity_groups(doc):
        group = doc.spans[key]
        scores = group.attrs.get("scores", ())
        if len(scores) != len(group):
            scores = [None] * len(group)
        found = list(zip(group, scores, strict=True))
        name = f"Entities in the group {key}"
        sections.append(_entity_section(name, found, entities_html(doc, key)))
    return sections


def _entity_section(name: str, found: list[tuple[Span, float | None]], marked: str) -> Section:
    # Scores of spans are no probabilities: the higher, the surer.
    has_scores = any(score is not None for _, score in found)
    header = ("entity", "type", "score")[: 2 + has_scores]
    rows = [
        Row((span.text, span.label_, "" if score is None else f"{score:.2f}")[: len(header)])
        for span, score in found
    ]
    return Section(name, [Table(header, rows)], marked=Markup(marked))


def _trees(doc: Doc) -> list[Section]:
    return [Section("Trees", pictures=_drawn(doc, "trees"))]


def _roles(doc: Doc, *, name: str, key: str) -> list[Section]:
    """A table for each sentence that has predicates."""
    numbers = iter(number for number, _ in numbered_roles(doc, key))
    sentences: dict[int, Span] = {}
    rows: dict[int, list[Row]] = defaultdict(list)
    for frame in frames_of(doc, key):
        first = frame.predicate[0]
        sentence = first.sent if doc.has_annotation("SENT_START") else doc[:]
        sentences[sentence.start] = sentence
        cells = (_words(frame.predicate), frame.sense or "", "predicate", "", frame.score)
        rows[sentence.start].append(Row(cells, is_first=True, number=next(numbers)))
        rows[sentence.start] += [
            Row(("", "", role.label, _words(role.spans), role.score), number=next(numbers))
            for role in frame.roles
        ]
    header = ("predicate", "sense", "role", "words", "probability")
    tables = [Table(header, rows[n], list(sentence)) for n, sentence in sentences.items()]
    return [Section(name, tables, _drawn(doc, key))]


def _relations(doc: Doc) -> list[Section]:
    rows = [
        Row((each.head.text, each.label, each.tail.text, each.score)) for each in doc._.relations
    ]
    table = Table(("from", "relation", "to", "probability"), rows)
    return [Section("Relations", [table], _drawn(doc, "relations"))]


def _graph(doc: Doc) -> list[Section]:
    return [Section("Dependency graph", pictures=_drawn(doc, "dep_graph"))]


def _tokens(doc: Doc) -> list[Section]:
    has_tree = doc.has_annotation("DEP")
    columns: list[tuple[str, bool, Callable[[Token], Cell]]] = [
        ("number", True, lambda token: str(token.i + 1)),
        ("token", True, lambda token: token.text),
        ("tag", doc.has_annotation("TAG"), lambda token: token.tag_),
        ("part of speech", doc.has_annotation("POS"), lambda token: token.pos_),
        ("features", doc.has_annotation("MORPH"), lambda token: str(token.morph)),
        ("lemma", doc.has_annotation("LEMMA"), lambda token: token.lemma_),
        ("label", has_tree, lambda token: token.dep_),
        ("head", has_tree, _head),
    ]
    columns += [(_column(name), True, _score(name)) for name in token_score_names(doc)]
    shown = [(name, read) for name, is_there, read in columns if is_there]
    rows = [
        Row([read(token) for _, read in shown], is_first=bool(token.is_sent_start))
        for token in doc
        if not token.is_space
    ]
    return [Section("Tokens", [Table([name for name, _ in shown], rows)])]


def _head(token: Token) -> str:
    return "root" if token.head.i == token.i else f"{token.head.i + 1} {token.head.text}"


def _column(name: str) -> str:
    """head_prob: head probability; tag_scores: tag probability."""
    return name.removesuffix("_prob").removesuffix("_scores").replace("_", " ") + " probability"


def _score(name: str) -> Callable[[Token], float | None]:
    """The probability of a token, of a distribution that of its best label."""

    def read(token: Token) -> float | None:
        score = token._.get(name) if Token.has_extension(name) else None
        return max(score.values(), default=None) if isinstance(score, dict) else score

    return read


def _words(spans: Iterable[Span]) -> str:
    return " … ".join(span.text for span in spans)


ROLES = {FRAMES: "Roles", WORD_FRAMES: "Roles of words"}

VIEWS = {
    "entities": View("Entities", _entities),
    "spans": View("Groups of entities", _groups),
    "trees": View("Trees", _trees),
    **{key: View(name, partial(_roles, name=name, key=key)) for key, name in ROLES.items()},
    "relations": View("Relations", _relations),
    "dep_graph": View("Dependency graph", _graph),
    "tags": View("Tokens", _tokens, is_always=True),
}
"""By the names of layers (`doc/layers.py`), in the order of the page. All show sentences."""
