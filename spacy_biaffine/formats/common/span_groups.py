"""Fast loading of Docs that have span groups.

srsly asks the installed packages for decoders whenever it unpacks something, and spaCy unpacks each
group of each Doc by itself: 0.5 ms a Doc, more than all the rest. Here all groups of a DocBin are
unpacked in two calls.
"""

import struct
from collections.abc import Iterator
from typing import Any

import srsly
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.vocab import Vocab

# As SpanGroup.to_bytes packs a span: id, kb_id, label, start, end, start_char, end_char.
_SPAN = struct.Struct(">QQQllll")
_NO_GROUPS = srsly.msgpack_dumps([])


def docs_of(docbin: DocBin, vocab: Vocab) -> Iterator[Doc]:
    """The same Docs as ``docbin.get_docs(vocab)``. Uses the DocBin up."""
    packed = docbin.span_groups
    names = _unpack_all([each or _NO_GROUPS for each in packed])
    groups = iter(_unpack_all([group for doc_names in names for group in doc_names]))
    docbin.span_groups = [b""] * len(docbin)
    for doc, doc_names, old_form in zip(docbin.get_docs(vocab), names, packed, strict=True):
        if isinstance(doc_names, dict):
            for keys, group in zip(doc_names.values(), groups, strict=False):
                for key in keys:
                    doc.spans[key] = _span_group(doc, group)
        elif doc_names:  # before spaCy 3.3 the names were inside the groups
            doc.spans.from_bytes(old_form)
            for _ in doc_names:
                next(groups)
        yield doc


def _unpack_all(packed: list[bytes]) -> Any:
    """Values that were packed one by one: side by side they are the items of one long array."""
    header = b"\xdd" + len(packed).to_bytes(4, "big")
    return srsly.msgpack_loads(header + b"".join(packed))


def _span_group(doc: Doc, unpacked: dict[str, Any]) -> SpanGroup:
    spans = []
    for packed in unpacked["spans"]:
        span_id, kb_id, label, start, end, _, _ = _SPAN.unpack(packed)
        spans.append(Span(doc, start, end, label=label, kb_id=kb_id, span_id=span_id))
    return SpanGroup(doc, name=unpacked["name"], attrs=unpacked["attrs"], spans=spans)
