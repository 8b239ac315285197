"""What can be sent with the form: a choice of layers, files; and what the page makes of both."""

import re

import pytest
from cli_cases import pipeline
from factories import gold_docs
from spacy.tokens import Doc
from spacy.vocab import Vocab

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from spacy_biaffine.doc.graphs import FRAMES, WORD_FRAMES, frames_of, set_frames
from spacy_biaffine.doc.layers import LAYERS
from spacy_biaffine.serve.app import make_app
from spacy_biaffine.serve.page import analysis, page, shown
from spacy_biaffine.serve.views import VIEWS

LIMIT = 200
TEXT = "Cold rain fell all night ."
CONLLU = "".join(
    f"{n}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n" for n, word in enumerate(["can", "not", "so-so"], 1)
)


@pytest.fixture(scope="module")
def client():
    app = make_app(pipeline, max_length=LIMIT)
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


def headings(html):
    return re.findall("<h2>(.*?)</h2>", html)


def send(client, content, name="a.txt", **fields):
    if isinstance(content, str):
        content = content.encode()
    return client.post("/", data=fields, files={"file": (name, content)})


def words_of(html):
    """The column of the section on tokens."""
    rows = html.partition('<section id="tokens">')[2]
    return re.findall(r'<tr class="[^"]*">\s*<td dir="auto">\d+</td>\s*<td dir="auto">(.*?)<', rows)


def test_every_layer_of_the_table_has_its_place():
    """Sentences are seen in all of them."""
    assert {*VIEWS, "sentences"} == {layer.name for layer in LAYERS}


def test_layers_are_chosen(client):
    for response in (
        client.get("/", params={"text": TEXT, "layer": ["tags", "trees"]}),
        client.post("/", data={"text": TEXT, "layer": ["trees", "tags"]}),
        send(client, TEXT, layer=["tags", "trees", "trees"]),
    ):
        assert headings(response.text) == ["Trees", "Tokens"]
        assert re.findall(r'value="(\w+)" checked', response.text) == ["trees", "tags"]
    link = re.search(r'<a href="([^"]*)">Link', response.text).group(1).replace("&amp;", "&")
    assert headings(client.get(link).text) == ["Trees", "Tokens"]
    everything = client.get("/", params={"text": TEXT}).text
    assert re.findall(r'value="(\w+)" checked', everything) == list(VIEWS)


@pytest.mark.parametrize("fields", [{"layer": "tree"}, {"layer": "trees", "other": "a"}])
def test_other_fields_are_refused(client, fields):
    assert client.post("/", data={"text": TEXT, **fields}).status_code == 400
    assert send(client, TEXT, **fields).status_code == 400


def test_file_with_a_text(client):
    response = send(client, "\ufeffRain\r\nfell", text="not this one")
    assert response.status_code == 200
    assert words_of(response.text) == ["Rain", "fell"]
    assert "\nRain\nfell</textarea>" in response.text
    assert "Link to this analysis" in response.text


@pytest.mark.parametrize("name", ["a.conllu", "a.CONLLU", "a.txt"])
def test_file_with_words(client, name):
    response = send(client, "# text = x\n" + CONLLU + "\n" + CONLLU + "\n", name)
    assert response.status_code == 200
    assert words_of(response.text) == ["can", "not", "so-so"] * 2
    assert "Link to this analysis" not in response.text


def test_no_file_was_chosen(client):
    """Browsers send a file without a name."""
    parts = [f'name="text"\r\n\r\n{TEXT}', 'name="file"; filename=""\r\n\r\n']
    body = "".join(f"--x\r\nContent-Disposition: form-data; {part}\r\n" for part in parts)
    kind = {"content-type": "multipart/form-data; boundary=x"}
    response = client.post("/", content=body + "--x--\r\n", headers=kind)
    assert words_of(response.text) == TEXT.split()


@pytest.mark.parametrize(
    ("content", "name", "status", "message"),
    [
        (CONLLU.replace("3\t", "7\t"), "a.conllu", 400, "a.conllu:3: "),
        ("Rain fell", "a.conllu", 400, "a.conllu:1: "),
        ("", "a.conllu", 400, "a.conllu: no sentences"),
        ("", "a.txt", 400, "The text has no words."),
        (b"Rain\nf\xe9ll", "a.txt", 400, "a.txt:2: this is no UTF-8 (byte 0xe9)"),
        ("a" * (LIMIT + 1), "a.txt", 413, "at most 200 characters"),
        ("1\t" + "a" * (LIMIT + 1) + "\t_" * 8 + "\n\n", "a.conllu", 413, "at most 200 characters"),
        ("a" * 100 * (LIMIT + 50), "a.conllu", 413, "files 24,000 bytes"),
    ],
)
def test_files_that_are_refused(client, content, name, status, message):
    response = send(client, content, name)
    assert response.status_code == status
    assert message in response.text


def test_forms_that_are_broken(client):
    two = [("file", ("a.txt", b"a")), ("file", ("b.txt", b"b"))]
    assert client.post("/", files=two).status_code == 400
    for kind in ("multipart/form-data", "multipart/form-data; boundary=x"):
        response = client.post("/", content=b"--y\r\n\r\n", headers={"content-type": kind})
        assert response.status_code == 400
        assert 'role="alert"' in response.text


def test_words_of_a_role_are_marked_when_it_is_pointed_at():
    doc = gold_docs(Vocab())[1]
    found = shown(doc)
    frame = doc._.frames[0]
    spans = [frame.predicate, *(role.spans for role in frame.roles)]
    for number, parts in enumerate(spans):
        words = ",".join(f".w{token.i}" for span in parts for token in span)
        assert f"#roles:has(.r{number}:hover) :is({words})" in found.rules
        assert f" r{number}" in found.sections
    for token in doc:
        assert f'<span class="w{token.i}">{token.text}</span>' in found.sections
    assert found.rules in page("", 9, rules=found.rules)


def test_roles_of_words_are_shown():
    doc = gold_docs(Vocab())[1]
    set_frames(doc, frames_of(doc, FRAMES), WORD_FRAMES)
    assert "Roles of words" in headings(analysis(doc))
    assert "#roles-of-words:has(.r0:hover)" in shown(doc).rules


def test_nothing_is_marked_without_sentences():
    doc = Doc(Vocab(), words=["a", "b"])
    set_frames(doc, [])
    assert headings(analysis(doc)) == ["Roles", "Tokens"]
    assert shown(doc).rules == ""
