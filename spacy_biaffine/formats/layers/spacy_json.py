"""What spaCy's `Doc.to_json` gives <-> Docs, with every layer but scores.

Graphs are there too, in span groups whose labels say all (`doc/stored_graphs.py`).
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..common.lines import UTF8, FormatError
from ..common.records import Record, json_records
from ..form import keys_of
from .read import LayersReport

_KEYS = ("text", "ents", "sents", "cats", "tokens", "spans")

_HELD = ("SENT_START", "HEAD", "MORPH", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID")
"""Attributes of tokens that spaCy's JSON may not give back: where they are known of some tokens
alone, or not written at all."""

_GROUPS = re.compile(r'"spans"\s*:\s*\{')


def is_spacy_json(text: str) -> bool:
    """Whether the first object of a JSON text is a Doc of spaCy."""
    keys = keys_of(text)
    if not keys >= {"text", "tokens"} or "format" in keys:
        return False
    return bool(keys & {"ents", "sents", "cats"}) or _GROUPS.search(text) is not None


def read_spacy_json(
    path: Path,
    vocab: Vocab,
    *,
    encoding: str = UTF8,
    skip_bad: bool = False,
    report: LayersReport | None = None,
) -> Iterator[Doc]:
    """A Doc for each object of a line, or of an array. Raises FormatError, with file and line.

    Values of extensions are counted and not read: spaCy would register the extensions.
    """
    report = LayersReport() if report is None else report
    for place, load in json_records(path, encoding):
        for doc in report.attempt(partial(_made, place, load, vocab, report), skip_bad=skip_bad):
            report.texts += 1
            yield doc


def _made(place: str, load: Callable[[], Record], vocab: Vocab, report: LayersReport) -> Doc:
    record = load()
    known = {key: value for key, value in record.items() if key in _KEYS}
    try:
        doc = Doc(vocab).from_json(known, validate=True)
    except (ValueError, TypeError, KeyError, IndexError, AssertionError, OverflowError) as error:
        reason = str(error) or "its tokens don't give its text"
        raise FormatError(place, "spacy-json", f"no Doc of spaCy: {reason}") from error
    if doc.text != known["text"]:
        raise FormatError(place, "spacy-json", f"the tokens give {doc.text!r:.60}, not the text")
    report.not_kept.update(key for key in record if key not in _KEYS)
    return doc


def spacy_json_text(doc: Doc, number: int = 1) -> str:
    """`Doc.to_json` as a line. Raises ValueError for what spaCy's JSON does not give back."""
    record = doc.to_json()
    back = Doc(doc.vocab).from_json(record)
    lost = [name for name in _HELD if (doc.to_array(name) != back.to_array(name)).any()]
    if lost:
        raise ValueError(
            f"spaCy's JSON does not give back {', '.join(lost)} of this Doc; --form layers does"
        )
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
