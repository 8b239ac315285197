"""The page that shows an analysis, and ``python -m spacy biaffine serve``."""

import asyncio
import re
from html import unescape
from threading import current_thread

import pytest
import spacy
from cli_cases import call, pipeline
from factories import gold_docs
from spacy.tokens import Doc
from spacy.vocab import Vocab

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from spacy_biaffine.doc.graphs import (
    Arc,
    Frame,
    Relation,
    Role,
    set_arcs,
    set_frames,
    set_relations,
)
from spacy_biaffine.doc.scores import set_token_scores
from spacy_biaffine.formats.conllu.api import docs_from_conllu
from spacy_biaffine.serve.app import make_app
from spacy_biaffine.serve.examples import examples_of
from spacy_biaffine.serve.page import analysis, page
from spacy_biaffine.serve.worker import Worker

LIMIT = 12_000
MARKUP = "<script>alert('x')</script>"


def client_of(app, **options):
    return TestClient(app, base_url="http://localhost", **options)


@pytest.fixture(scope="module")
def client():
    return client_of(make_app(pipeline, max_length=LIMIT), raise_server_exceptions=False)


def post(client, text):
    return client.post("/", data={"text": text})


def check_headers(response):
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert response.headers["x-content-type-options"] == "nosniff"


def test_empty_form(client):
    response = client.get("/")
    assert response.status_code == 200
    check_headers(response)
    assert f'maxlength="{LIMIT}"' in response.text
    assert '<label for="text">' in response.text
    assert "<section" not in response.text


def test_nothing_from_elsewhere(client):
    html = re.sub(r'xmlns(:\w+)?="[^"]*"', "", post(client, "Cold rain fell .").text)
    assert not re.search(r"https?://|<script|<link|<img|@import|url\(", html)


def test_every_layer_of_a_pipeline(client):
    html = post(client, "Cold rain fell all night .").text
    headings = re.findall("<h2>(.*?)</h2>", html)
    assert headings == [
        "Entities",
        "Entities in the group sc",
        "Trees",
        "Roles",
        "Relations",
        "Dependency graph",
        "Tokens",
    ]
    for column in ("head probability", "label probability", "tag probability"):
        assert f">{column}</th>" in html


def without_ids(response):
    """displaCy numbers its pictures at random."""
    return re.sub(r"[0-9a-f]{32}", "", response.text)


def test_an_address_for_each_text(client):
    text = "Cold rain fell & <all> night ."
    asked = client.get("/", params={"text": text})
    assert asked.status_code == 200
    check_headers(asked)
    assert without_ids(asked) == without_ids(post(client, text))
    link = re.search(r'<a href="(/\?text=[^"]*)">Link', asked.text).group(1)
    assert without_ids(client.get(unescape(link))) == without_ids(asked)


def test_jumps_lead_to_layers(client):
    html = post(client, "Cold rain fell all night .").text
    places = re.findall(r'<a href="#([^"]+)">', html)
    assert "trees" in places and "entities-in-the-group-sc" in places
    assert places == re.findall(r'<section id="([^"]+)">', html)


def test_examples_to_click(client):
    html = client.get("/").text
    links = re.findall(r'<li><a href="([^"]*)"', html)
    assert len(links) == 3
    assert client.get(unescape(links[0])).status_code == 200
    assert examples_of("none") == examples_of("no/../such") == []


def test_conllu_to_take_away(client):
    response = client.get("/analysis.conllu", params={"text": "Cold rain fell ."})
    assert response.status_code == 200
    check_headers(response)
    assert response.headers["content-disposition"] == 'attachment; filename="analysis.conllu"'
    (doc,) = docs_from_conllu(response.text, Vocab(), by_doc=True)
    assert [token.text for token in doc] == ["Cold", "rain", "fell", "."]
    assert doc.has_annotation("DEP")
    assert client.get("/analysis.conllu", params={"text": "a" * (LIMIT + 1)}).status_code == 414
    assert client.get("/analysis.conllu").status_code == 400


def test_what_is_known_of_a_pipeline():
    def load():
        nlp = spacy.blank("en")
        nlp.meta["description"] = f"For {MARKUP}"
        nlp.meta["license"] = "MIT"
        nlp.meta["performance"] = {"dep_las": 0.875, "per_type": {"x": 1}}
        return nlp

    html = client_of(make_app(load)).get("/").text
    assert "For &lt;script&gt;" in html
    assert '<td dir="auto">dep_las</td><td dir="auto">0.8750</td>' in html
    assert "On other texts expect less." in html
    assert "<details>" not in client_of(make_app(lambda: spacy.blank("xx"))).get("/").text


def test_health(client):
    response = client.get("/health")
    assert response.status_code == 200
    assert response.json()["status"] == "ok"


@pytest.mark.parametrize("text", ["", " ", "\t\r\n  \u2003\u3000", "\u2028"])
def test_no_words(client, text):
    response = post(client, text)
    assert response.status_code == 400
    assert "The text has no words." in response.text
    check_headers(response)


@pytest.mark.parametrize(
    "text",
    [
        "\x00\x01\x1b[31mred\x7f\x85",
        "rain\x00fell",
        "\ufffe\uffff\ufdd0 rain",
        "\u202eright to left\u202c",
        "מה שלומך היום? سلام عليكم",
        "👩‍👩‍👧‍👦 and 🏳️‍🌈 e\u0301",
        "\u200b\u200d\ufeff",
        "a" * 10_000,
        "&amp; &lt;b&gt; \"quoted\" 'so' </textarea></style>",
        "{text} {0} %s $x",
        "rain\r\n\r\n\r\nfell",
        ". " * 300,
    ],
    ids=range(12),
)
def test_hostile_texts(client, text):
    response = post(client, text)
    assert response.status_code == 200, response.text[-500:]
    check_headers(response)
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]", response.text)
    assert response.text.count("</textarea>") == 1
    assert response.text.count("</style>") == 1


@pytest.mark.parametrize("text", ["word " * 20_000, "a" * (LIMIT + 1), "é" * 100_000])
def test_too_long(client, text):
    response = post(client, text)
    assert response.status_code == 413
    assert "at most 12,000 characters" in response.text
    check_headers(response)


def test_longest(client):
    """Line ends count once, though browsers send two characters for each."""
    pre = "a\r\n" * 10
    assert post(client_of(make_app(pipeline, max_length=20)), pre).status_code == 200
    assert post(client_of(make_app(pipeline, max_length=19)), pre).status_code == 413
    assert post(client_of(make_app(pipeline, max_length=2)), "👩👩").status_code == 200


def test_other_requests(client):
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.get("/other").status_code == 404
    assert client.put("/").status_code == 405
    assert client.post("/", json={"text": "Rain"}).status_code == 415
    assert client.post("/", content=b"text=a&text=b", headers=form).status_code == 400
    assert client.post("/", content=b"other=a", headers=form).status_code == 400
    for response in (
        client.get(f"/{MARKUP}"),
        client.post("/", content=b"text=\xff%ff%ed%a0%80", headers=form),
    ):
        check_headers(response)
        assert "<script" not in response.text
    assert "�" in response.text


def test_markup_is_shown_as_text(client):
    html = post(client, f"Rain {MARKUP} fell").text
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_markup_on_a_doc():
    """Labels come from whoever made the training data."""
    doc = Doc(
        Vocab(),
        words=[MARKUP, "b"],
        heads=[1, 1],
        deps=[MARKUP, "ROOT"],
        tags=[MARKUP, "x"],
        lemmas=[MARKUP, ""],
        ents=[f"B-{MARKUP}", "O"],
    )
    doc.spans[MARKUP] = [doc.char_span(0, len(MARKUP), label=MARKUP)]
    set_relations(doc, [Relation(doc.ents[0], doc.ents[0], MARKUP)])
    set_arcs(doc, [Arc(doc[1], doc[0], MARKUP), Arc(None, doc[1], MARKUP)])
    set_frames(doc, [Frame((doc[1:2],), MARKUP, (Role(MARKUP, (doc[:1],)),))])
    html = page(MARKUP, 9, MARKUP, analysis(doc))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") > 20


def test_analysis_of_a_gold_doc():
    doc = gold_docs(Vocab())[1]
    set_token_scores(doc, head_prob=[0.3, *[0.7] * 5, 0.95])
    html = analysis(doc)
    for row in (
        ["us", "on", "Yesterday", ""],
        ["came", "come.01", "predicate", "", ""],
        ["", "", "ARG1", "letters … that pleased us", ""],
        ["Yesterday", "EVENT"],
    ):
        assert "".join(f'<td dir="auto">{cell}</td>' for cell in row) in html
    assert html.count("<svg") == 1 + 2 + 1 + 1
    assert '<td class="number doubtful">30.0 %</td>' in html
    assert html.count('<td class="number unsure">70.0 %</td>') == 5
    assert '<td class="number">95.0 %</td>' in html
    assert '<td dir="auto">root</td>' in html


def test_nothing_on_a_doc():
    html = analysis(Doc(Vocab(), words=["a"]))
    assert re.findall("<h2>(.*?)</h2>", html) == ["Tokens"]


def test_failing_pipeline():
    def load():
        nlp = spacy.blank("en")
        nlp.max_length = 3
        return nlp

    client = client_of(make_app(load), raise_server_exceptions=False)
    response = post(client, "too long")
    assert response.status_code == 500
    assert "The pipeline failed" in response.text
    check_headers(response)
    assert post(client, "ok").status_code == 200


def test_one_thread():
    """Loaded once, and run where it was loaded."""
    threads = []

    def load():
        threads.append(current_thread().name)
        return spacy.blank("en")

    def read(doc):
        threads.append(current_thread().name)
        return [token.text for token in doc]

    async def run_all():
        return await asyncio.gather(*(worker.run(f"text {n}", read) for n in range(20)))

    worker = Worker(load)
    results = asyncio.run(run_all())
    assert results == [["text", str(n)] for n in range(20)]
    assert len(threads) == 21
    assert set(threads) == {threads[0]}
    assert threads[0] != current_thread().name


def test_vocab_does_not_grow(client):
    """Whoever types words can't fill the memory with them."""
    vocab = pipeline().vocab
    post(client, "warm up")
    before = len(vocab.strings), sum(1 for _ in vocab)
    for n in range(5):
        post(client, f"unheard{n} of{n} words{n}")
    assert (len(vocab.strings), sum(1 for _ in vocab)) == before


def test_command(monkeypatch, tmp_path):
    import uvicorn

    calls = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: calls.append((app, options)))
    model = tmp_path / "model"
    spacy.blank("en").to_disk(model)
    code, output = call("serve", model, "--port", 8123, "--max-length", 5)
    assert code == 0
    assert "http://127.0.0.1:8123" in output
    assert "password" not in output
    ((app, options),) = calls
    assert options["host"] == "127.0.0.1"
    assert post(client_of(app), "abcdef").status_code == 413
    assert "no password" in call("serve", model, "--host", "0.0.0.0")[1]


def test_command_without_arguments(monkeypatch):
    import uvicorn

    calls = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: calls.append(app))
    monkeypatch.setattr("spacy.util.is_package", lambda name: False)
    code, output = call("serve")
    assert code == 1
    assert "en_biaffine_web_sm is not installed" in output
    loaded = []
    monkeypatch.setattr("spacy.util.is_package", lambda name: True)
    monkeypatch.setattr("spacy.load", lambda name: loaded.append(name) or spacy.blank("en"))
    assert call("serve")[0] == 0
    assert loaded == ["en_biaffine_web_sm"]
    assert len(calls) == 1


def test_command_without_a_model(tmp_path):
    code, output = call("serve", tmp_path / "none")
    assert code == 1
    assert "Can't find model" in output
