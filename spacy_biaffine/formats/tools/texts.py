"""Texts with entities and relations by characters and ids, as tools have them -> Docs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import spacy
from spacy.tokens import Doc, Span

from ..common.lines import UTF8, FormatError
from ..common.records import Record, json_records
from ..entities.json_offsets import KEYS
from ..entities.to_docs import Offsets, is_label, span_at
from ..form import Read
from ..layers.tokens import doc_of_tokens
from ..relations.to_docs import ENTITIES, RelationReport, annotate, relation_type


class Link(NamedTuple):
    """A relation between entities, by their ids."""

    head: Any
    tail: Any
    label: Any


@dataclass
class AnnotatedText:
    """What a tool says of a text.

    entities: by id; None where the text is not annotated. links: None where relations are not.
    tokens: start and end of each; None where the tool gives none. meta: whatever else it says.
    """

    text: str
    entities: dict[Any, Offsets] | None = None
    links: list[Link] | None = None
    tokens: list[tuple[Any, Any]] | None = None
    meta: Record = field(default_factory=dict)


@dataclass
class ToolReport(RelationReport):
    """Counts filled while reading. passed_over: texts by what the annotator said of them."""

    passed_over: Counter[str] = field(default_factory=Counter)

    def rows(self) -> list[tuple[str, int]]:
        passed = [(f"texts passed over: {name}", n) for name, n in self.passed_over.most_common()]
        return [*super().rows(), *passed]


Parse = Callable[[str, Record, ToolReport], AnnotatedText | None]
"""What an object says, at a place; None for a text that is passed over and counted."""


def reader(parse_for: Callable[..., Parse], *names: str) -> Read:
    """A reader of objects by `parse_for`, given those of the options that have these names."""

    def read(
        paths: Iterable[Path],
        lang: str,
        report: ToolReport,
        *,
        skip_bad: bool = False,
        spans_key: str = ENTITIES,
        snap: bool = False,
        encoding: str = UTF8,
        **options: Any,
    ) -> Iterator[Doc]:
        parse = parse_for(**{name: options[name] for name in names if name in options})
        nlp = spacy.blank(lang)

        def make(place: str, load: Callable[[], Record]) -> Doc | None:
            try:
                found = parse(place, load(), report)
            except (KeyError, TypeError, AttributeError, IndexError) as error:
                detail = f"this is another form ({type(error).__name__}: {error})"
                raise FormatError(place, "form", detail) from error
            if found is None:
                return None
            return doc_of_text(found, nlp, place, spans_key=spans_key, snap=snap, report=report)

        for path in paths:
            for place, load in json_records(path, encoding):
                for doc in report.attempt(partial(make, place, load), skip_bad=skip_bad):
                    if doc is not None:
                        yield doc

    return read


def doc_of_text(
    found: AnnotatedText,
    nlp: spacy.Language,
    place: str,
    *,
    spans_key: str,
    snap: bool,
    report: ToolReport,
) -> Doc:
    """A Doc with its entities in a group and doc.ents, and its relations.

    Ends of relations without a label are spans without one, and no entities. Raises FormatError.
    """
    if not isinstance(found.text, str):
        raise FormatError(place, "text", f"the text must be a string, not {found.text!r:.40}")
    try:
        if found.tokens is None:
            doc = nlp.make_doc(found.text)
        else:
            doc = doc_of_tokens(found.text, found.tokens, nlp.vocab, place)
    except FormatError:
        raise
    except ValueError as error:  # longer than spaCy takes
        raise FormatError(place, "text", str(error)) from error
    if found.meta:
        doc.user_data[KEYS] = found.meta
    if found.entities is None:
        report.texts += 1
        return doc
    spans = {
        key: span_at(doc, each, place, snap=snap, report=report)
        for key, each in found.entities.items()
    }
    links = None
    if found.links is not None:
        links = [_relation(link, spans, place) for link in found.links]
    entities = [span for span in spans.values() if span.label]
    return annotate(doc, entities, links, place, spans_key=spans_key, report=report)


def _relation(link: Link, spans: Mapping[Any, Span], place: str) -> tuple[Span, Span, str]:
    for end in (link.head, link.tail):
        if end not in spans:
            raise FormatError(
                place, "relation", f"a relation names {end!r:.40}, which is no entity"
            )
    return spans[link.head], spans[link.tail], relation_type(link.label, place)


def offsets(start: Any, end: Any, label: Any, place: str, surface: Any = None) -> Offsets:
    """Checked. Raises FormatError."""
    if not is_label(label):
        detail = f"a label must be a string without blanks around it, not {label!r:.40}"
        raise FormatError(place, "label", detail)
    return place_in_text(start, end, label, place, surface)


def place_in_text(start: Any, end: Any, label: str, place: str, surface: Any = None) -> Offsets:
    """The same with any label. Raises FormatError."""
    if type(start) is not int or type(end) is not int:
        detail = f"offsets must be whole numbers, not {start!r:.40} and {end!r:.40}"
        raise FormatError(place, "offsets", detail)
    return Offsets(start, end, label, surface if isinstance(surface, str) else None)


def files_in(paths: Iterable[Path], ending: str) -> Iterator[Path]:
    """The paths; of a folder, its files with an ending. Raises FormatError where it has none."""
    for path in paths:
        files = sorted(path.glob(f"*{ending}")) if path.is_dir() else [path]
        if not files:
            raise FormatError(str(path), "folder", f"no file in this folder ends in {ending}")
        yield from files


def keep_rest(record: Record, known: Iterable[str], meta: Record) -> Record:
    """meta with the keys of a record that are not among the known ones."""
    return meta | {key: value for key, value in record.items() if key not in set(known)}
