"""Files are read piece by piece; bytes that are not UTF-8 are told with their place."""

import json
import random
import tracemalloc
from pathlib import Path

import pytest
from cli.cli_cases import call
from spacy.vocab import Vocab

from spacy_biaffine.formats.common import records
from spacy_biaffine.formats.common.docbin import read_docbin
from spacy_biaffine.formats.common.lines import FormatError, numbered_lines
from spacy_biaffine.formats.common.records import json_records
from spacy_biaffine.formats.forms import FORMS
from spacy_biaffine.formats.options import ENCODING

TEXTS = [form for form in FORMS if ENCODING in form.options and len(form.sample) == 1]
"""Those of one file; brat's two are tried in its own tests."""
VALUES = ['é\\"\n\U0001f600', -1.5e10, True, None, [], {"b": [{}, "]"]}, {'"k': "{"}]


def values_of(path: Path, encoding: str = "utf8") -> list[object]:
    return [load() for _, load in json_records(path, encoding)]


@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_arrays_are_cut_anywhere(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "CHUNK", chunk)
    chance = random.Random(chunk)
    for indent in (None, 1):
        objects = [{"a": chance.choice(VALUES)} for _ in range(9)]
        text = json.dumps(objects, indent=indent, ensure_ascii=chance.random() < 0.5)
        (tmp_path / "a.json").write_text(f"\ufeff\n {text}\r\n", encoding="utf8", newline="")
        assert values_of(tmp_path / "a.json") == objects


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"a": 1},\n{"a": tru}]', r":2 \(object 1\): this is no JSON"),
        ('[{"a": 1}\n{"a": 2}]', r":1 \(object 0\): after this object the array goes on without"),
        ('[{"a": 1}]\n\n[{"a": 2}]', r":3 \(object 1\): the array ends here, and the file goes on"),
        ('[{"a": 1},', r":1 \(object 1\): this is no JSON"),
        ('[{"a": "x', r":1 \(object 0\): this is no JSON"),
        ("[", r":1 \(object 0\): this is no JSON"),
        ("[3]", r":1 \(object 0\): 3 is no JSON object"),
    ],
)
def test_broken_arrays(text, message, tmp_path):
    (tmp_path / "a.json").write_text(text, encoding="utf8")
    with pytest.raises(FormatError, match=message):
        values_of(tmp_path / "a.json")


@pytest.mark.parametrize("frame", [("", "\n", ""), ("[", ", ", "]")], ids=["lines", "one line"])
def test_memory_does_not_grow_with_the_file(frame, tmp_path):
    opening, between, closing = frame
    path = tmp_path / "a.json"
    record = json.dumps({"text": "é" * 500, "entities": []}, ensure_ascii=False)
    path.write_text(opening + between.join([record] * 8000) + closing, encoding="utf8")
    assert path.stat().st_size > 8_000_000
    tracemalloc.start()
    assert sum(1 for _, load in json_records(path) if load()) == 8000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_line_ends_and_the_mark_at_the_begin(tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfa\r\nb\x0bc\x85\xe2\x80\xa8d\n\n\xef\xbb\xbfe")
    lines = [line for _, line in numbered_lines(tmp_path / "a")]
    assert lines == ["a", "b\x0bc\udc85\u2028d", "", "\ufeffe"]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf8"])
def test_an_encoding_holds_for_the_whole_file(encoding, tmp_path):
    objects = [{"text": "été"}, {"text": "naïf"}]
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)
    (tmp_path / "a").write_bytes(text.encode(encoding))
    assert values_of(tmp_path / "a", encoding) == objects


def test_an_encoding_that_does_not_fit(tmp_path):
    (tmp_path / "a").write_bytes(b"a\nb\x81\n")
    with pytest.raises(FormatError, match=r"a:2: not cp1252 \(.*\)\. Give another --encoding"):
        list(numbered_lines(tmp_path / "a", "cp1252"))
    with pytest.raises(ValueError, match="--encoding klingon: no such encoding"):
        list(numbered_lines(tmp_path / "a", "klingon"))


def test_columns_in_an_array(tmp_path):
    (tmp_path / "a").write_bytes(b'[{"a": 1}, {"b":\n "x\xe9"},\n{"c": 2}]')
    first, second, third = json_records(tmp_path / "a")
    assert first[1]() == {"a": 1} and third[1]() == {"c": 2}
    with pytest.raises(FormatError, match=r"a:2: not UTF-8 \(byte 0xE9 at column 4\)"):
        second[1]()


def test_a_file_of_windows(tmp_path):
    (tmp_path / "a.jsonl").write_bytes('{"text": "a", "entities": []}'.encode("utf-16"))
    with pytest.raises(FormatError, match=r"byte 0xFF at column 1\). Give --encoding utf-16"):
        values_of(tmp_path / "a.jsonl")


@pytest.mark.parametrize("form", TEXTS, ids=lambda form: form.name)
def test_bytes_that_are_not_utf8(form, tmp_path):
    """An error with its place, a counted record, or what the encoding says."""
    name, text = next(iter(form.sample.items()))
    good = text.encode().rstrip() + (b"\n\n" if "\t" in text else b"\n")
    if form.name == "conll05" or form.name == "labels":
        good = text.encode()
    path = tmp_path / name
    path.write_bytes(good.replace(b"Oslo", b"Osl\xf8").replace(b"Rain", b"Ra\xefn"))
    if path.read_bytes() == good:
        path.write_bytes(good.replace(b"rain", b"ra\xefn").replace(b"pan", b"p\xe4n"))
    arguments = [path, tmp_path / "out.spacy", "--form", form.name]
    code, output = call("convert", *arguments)
    assert code == 1 and "not UTF-8 (byte 0x" in output and f"{path}:" in output
    code, output = call("convert", *arguments, "--skip-bad")
    assert code == 1
    code, output = call("convert", *arguments, "--encoding", "latin-1")
    assert code == 0, output
    (doc,) = read_docbin(tmp_path / "out.spacy", Vocab())
    assert "ø" in doc.text or "ï" in doc.text or "ä" in doc.text


def test_labels_are_left_out_and_counted(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"a\tNOUN\tx\n\nb\tnoun\tx\n\nc\xff\tNOUN\n\nd\tADJ\t_\n")
    arguments = [tmp_path / "a.txt", tmp_path / "a.spacy", "--target", "pos"]
    code, output = call("convert-labels", *arguments)
    assert code == 1 and "a.txt:3: 'noun' is no part of speech; use ADJ" in output
    code, output = call("convert-labels", *arguments, "--skip-bad")
    assert code == 0
    assert "left out: pos 1" in output and "left out: encoding 1" in output
    assert "not kept: column 3 1" in output
    assert [t.pos_ for doc in read_docbin(tmp_path / "a.spacy", Vocab()) for t in doc] == [
        "NOUN",
        "ADJ",
    ]
