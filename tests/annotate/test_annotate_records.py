"""Files of every kind -> records -> Docs, and what can't become one."""

import pickle

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_biaffine.annotate.records import Bad, read_records
from spacy_biaffine.formats.layers.write import layers_text

CONLLU = """\
# newdoc id = a
# sent_id = 1
1-2	Vámonos	_	_	_	_	_	_	_	Mine=Yes
1	Vamos	ir	VERB	_	_	0	root	_	_
2	nos	nosotros	PRON	_	_	1	obj	_	_
3	!	!	PUNCT	_	_	1	punct	_	_

# sent_id = 2
1	Ya	ya	ADV	_	_	2	advmod	_	_
2	es	ser	AUX	_	_	1	cop	_	_

# sent_id = 3
1	Es	_	_	_	_	_	_	_	_
2	tarde	_	_	_	_	_	_	_	_

# newdoc id = b
# sent_id = 4
1	Fin	fin	NOUN	_	_	0	root	_	_
"""

HOSTILE = {
    "nothing": "",
    "blanks": "  \t ",
    "control characters": "a\x01\x0b\x1f\x7fb",
    "null bytes": "a\x00b \x00",
    "right to left": "שלום \u200f\u202eעולם\u202c",
    "emoji joiners": "👩‍👩‍👧‍👦 🏳️‍🌈",
    "combining marks": "e" + "\u0301" * 50,
    "other line ends": "a\u2028b\x85c\r d",
    "one word": "x" * 10_000,
    "private use": "\ue000\U0010ffff",
}


@pytest.fixture(scope="module")
def nlp():
    return spacy.blank("en")


def docs_of(path, nlp, *, by_doc=False):
    """Docs, or what is bad; records as another process would get them."""
    records = pickle.loads(pickle.dumps(list(read_records(path, by_doc=by_doc))))
    return [record if isinstance(record, Bad) else record.doc(nlp) for record in records]


def only_error(path, nlp):
    """Place, reason and text of the one record, of which there can be no Doc."""
    (record,) = read_records(path, by_doc=False)
    with pytest.raises(ValueError) as error:
        record.doc(nlp)
    return record.place, str(error.value), record.text


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("by_doc", [False, True])
def test_hostile_texts_stay_as_they_are(text, by_doc, tmp_path, nlp):
    path = tmp_path / "in.txt"
    path.write_text(text if by_doc else text + "\n", newline="", encoding="utf-8")
    (doc,) = docs_of(path, nlp, by_doc=by_doc)
    assert doc.text == text


def test_a_text_is_a_line_also_an_empty_one(tmp_path, nlp):
    path = tmp_path / "in.txt"
    path.write_bytes(b"\xef\xbb\xbfOne.\r\n\n  \nlast")
    assert [doc.text for doc in docs_of(path, nlp)] == ["One.", "", "  ", "last"]
    assert [r.place for r in read_records(path, by_doc=False)][3] == f"{path}:4"


def test_by_doc_a_text_is_a_file(tmp_path, nlp):
    path = tmp_path / "in.txt"
    path.write_bytes(b"\xef\xbb\xbfOne.\r\n\nTwo.\n")
    assert [doc.text for doc in docs_of(path, nlp, by_doc=True)] == ["One.\r\n\nTwo.\n"]


def test_a_byte_that_is_no_utf8_is_found_and_kept(tmp_path, nlp):
    path = tmp_path / "in.txt"
    path.write_bytes(b"caf\xe9 noir\n")
    place, reason, text = only_error(path, nlp)
    assert place == f"{path}:1"
    assert "no UTF-8 (byte 0xe9 in place of character 4)" in reason
    assert text.encode("utf-8", "surrogateescape") == b"caf\xe9 noir"


def test_json_lines_keep_their_other_keys(tmp_path, nlp):
    path = tmp_path / "in.jsonl"
    path.write_text('{"id": 7, "text": "Rain fell.\\u0000"}\n\n{"text": ""}\n', encoding="utf-8")
    one, other = docs_of(path, nlp)
    assert (one.text, one.user_data["json_keys"]) == ("Rain fell.\0", {"id": 7})
    assert (other.text, dict(other.user_data)) == ("", {})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"text": "a"', "no JSON"),
        ('["text"]', "must be an object"),
        ('{"body": "a"}', 'a string as "text"'),
        ('{"text": 3}', 'a string as "text"'),
        ('{"text": "a\\ud800b"}', "half of a surrogate pair, \\ud800"),
        ('{"text": "a", "id": "\\udfff"}', "half of a surrogate pair, \\udfff"),
        ("[" * 100_000, "no JSON"),
        ('{"text": "a", "n": ' + "9" * 5000 + "}", "no JSON"),
    ],
)
def test_bad_json_says_what_is_wrong(line, reason, tmp_path, nlp):
    path = tmp_path / "in.jsonl"
    path.write_text("\n" + line + "\n", encoding="utf-8")
    place, found, text = only_error(path, nlp)
    assert (place, text) == (f"{path}:2", line)
    assert reason in found


def test_conllu_keeps_words_and_sentences_and_puts_bad_ones_aside(tmp_path, nlp):
    path = tmp_path / "in.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    found = docs_of(path, nlp)
    (bad,) = (each for each in found if isinstance(each, Bad))
    one, three, four = (each for each in found if isinstance(each, Doc))
    assert [token.text for token in one] == ["Vamos", "nos", "!"]
    assert one.text == "Vamosnos !"
    assert [token.text for token in three] == ["Es", "tarde"]
    assert not three.has_annotation("DEP")
    assert four[0].is_sent_start
    assert bad.place == f"{path}:9"
    assert "sentence 2" in bad.reason and "no root" in bad.reason
    assert bad.text == CONLLU.split("\n\n")[1]


def test_conllu_by_doc(tmp_path, nlp):
    path = tmp_path / "in.conllu"
    path.write_text(CONLLU.replace("2\tadvmod", "0\troot"), encoding="utf-8")
    docs = docs_of(path, nlp, by_doc=True)
    assert [[len(sent) for sent in doc.sents] for doc in docs if doc.has_annotation("DEP")] == [
        [3, 2],
        [1],
    ]


def test_conllu_sentences_give_their_lines_back(tmp_path):
    path = tmp_path / "in.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    one, _, four = (r for r in read_records(path, by_doc=False) if not isinstance(r, Bad))
    assert one.text == CONLLU.split("\n\n")[0]
    assert (one.place, four.place) == (f"{path}:1", f"{path}:16")


def test_conllu_with_bytes_that_are_no_utf8(tmp_path, nlp):
    path = tmp_path / "in.conllu"
    path.write_bytes(CONLLU.encode("latin-1"))
    one, _, four = (r for r in read_records(path, by_doc=False) if not isinstance(r, Bad))
    with pytest.raises(ValueError, match="no UTF-8 \\(byte 0xe1"):
        one.doc(nlp)
    assert four.doc(nlp).text == "Fin"


@pytest.mark.parametrize("text", ["", "# comment\n", "no conllu\n"])
def test_conllu_without_sentences_is_one_bad_record(text, tmp_path):
    path = tmp_path / "in.conllu"
    path.write_text(text, encoding="utf-8")
    (bad,) = read_records(path, by_doc=False)
    assert isinstance(bad, Bad)
    assert bad.place.startswith(str(path)) and bad.reason


def test_docs_keep_what_they_have(tmp_path, nlp):
    doc = Doc(nlp.vocab, words=["Rain", "fell"], spaces=[False, True], ents=["B-WEATHER", "O"])
    doc.spans["sc"] = [doc[0:2]]
    DocBin(docs=[doc, Doc(nlp.vocab)]).to_disk(tmp_path / "in.spacy")
    one, empty = docs_of(tmp_path / "in.spacy", spacy.blank("en"))
    assert (one.text, one.ents[0].label_, len(one.spans["sc"])) == ("Rainfell ", "WEATHER", 1)
    assert len(empty) == 0


def test_a_broken_docbin_is_one_bad_record(tmp_path):
    path = tmp_path / "in.spacy"
    path.write_bytes(b"nothing of the kind")
    (bad,) = read_records(path, by_doc=False)
    assert bad.place == str(path)
    assert "no DocBin" in bad.reason


def test_lines_with_layers_keep_their_tokens(tmp_path, nlp):
    doc = Doc(nlp.vocab, words=["Rain fell", "."], spaces=[False, False], tags=["X", "Y"])
    doc.user_data["json_keys"] = {"id": 7}
    path = tmp_path / "in.jsonl"
    path.write_text(
        layers_text(doc) + layers_text(doc).replace('"start": 9', '"start": 8'), encoding="utf-8"
    )
    one, other = docs_of_each(path, nlp)
    assert ([t.text for t in one], one[0].tag_) == (["Rain fell", "."], "X")
    assert one.user_data["json_keys"] == {"id": 7}
    assert f"{path}:2: a token 1 needs start < end" in other


def docs_of_each(path, nlp):
    """Docs, or what is wrong."""
    for record in read_records(path, by_doc=False):
        try:
            yield record.doc(nlp)
        except ValueError as error:
            yield str(error)
