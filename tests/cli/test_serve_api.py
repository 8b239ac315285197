"""What programs get of the page: JSON, files, and their description."""

import json
import re
from xml.etree import ElementTree

import pytest
from cli_cases import call, pipeline
from spacy.vocab import Vocab

pytest.importorskip("starlette")
from starlette.testclient import TestClient

import spacy_biaffine
from spacy_biaffine.serve.app import make_app

LIMIT = 1_000
TEXT = "Cold rain fell all night ."


@pytest.fixture(scope="module")
def client():
    app = make_app(pipeline, max_length=LIMIT)
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=False)


@pytest.fixture(scope="module")
def described(client):
    return client.get("/openapi.json").json()


def plain(record):
    """Without probabilities: the page asks for them, the test's pipeline does not."""
    return re.sub(r'"score": [-\de.]+', "", json.dumps(record))


def test_every_way_to_ask_gets_the_same(client):
    answers = [
        client.get("/api", params={"text": TEXT}),
        client.post("/api", json={"text": TEXT}),
        client.get("/", params={"text": TEXT}, headers={"accept": "application/json"}),
        client.post("/", data={"text": TEXT}, headers={"accept": "application/json"}),
        client.get("/analysis.json", params={"text": TEXT}),
    ]
    assert [answer.status_code for answer in answers] == [200] * 5
    assert {answer.headers["content-type"] for answer in answers} == {"application/json"}
    assert len({answer.text for answer in answers}) == 1
    record = answers[0].json()
    doc = spacy_biaffine.from_layers_json(record, Vocab())
    assert doc.text == TEXT
    assert plain(spacy_biaffine.to_layers_json(doc)) == plain(record)


@pytest.mark.parametrize("accept", ["", "*/*", "text/html,application/json", "text/html"])
def test_browsers_get_the_page(client, accept):
    answer = client.get("/", params={"text": TEXT}, headers={"accept": accept})
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["vary"] == "Accept"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "this is no JSON"),
        (b"[]", 400, "one key"),
        (b'{"text": 1}', 400, "one key"),
        (b'{"text": "a", "more": 1}', 400, "one key"),
        (b'{"text": "a", "text": "b"}', 400, "stands twice"),
        (b'{"text": "\\ud800"}', 400, "surrogate"),
        (b'{"text": "\xff"}', 400, "can't be read"),
        (b'{"text": " \\n "}', 400, "no words"),
        (b'{"text": "' + b"a" * (LIMIT + 1) + b'"}', 413, "at most 1,000 characters"),
        (b'{"text": "' + b"a" * (LIMIT * 20) + b'"}', 413, "at most 1,000 characters"),
        (b"[" * 9_000, 400, "this is no JSON"),
    ],
)
def test_bodies_that_are_refused(client, body, status, message):
    answer = client.post("/api", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_the_longest_body(client):
    text = "\U0001f469" * LIMIT
    assert client.post("/api", json={"text": text}).status_code == 200


def test_problems_are_json_for_programs(client):
    wants = {"accept": "application/json"}
    assert client.get("/api").json() == {"error": "The text has no words."}
    assert client.post("/api", data={"text": "a"}).status_code == 415
    assert client.get("/none", headers=wants).json() == {"error": "Not Found"}
    answer = client.get("/", params={"text": "a" * (LIMIT + 1)}, headers=wants)
    assert answer.status_code == 414
    assert "too long" in answer.json()["error"]


def test_pictures_to_take_away(client):
    answer = client.get("/analysis.svg", params={"text": TEXT})
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["content-disposition"] == 'attachment; filename="analysis.svg"'
    outer = ElementTree.fromstring(answer.text)
    places = [float(inner.get("y")) for inner in outer]
    assert len(places) >= 2
    assert places == sorted(set(places))
    ends = [float(inner.get("y")) + float(inner.get("height")) for inner in outer]
    assert float(outer.get("height")) == pytest.approx(ends[-1], abs=0.1)
    assert float(outer.get("width")) == max(float(inner.get("width")) for inner in outer)
    trees = client.get("/analysis.svg", params={"text": TEXT, "layer": "trees"})
    assert 0 < len(ElementTree.fromstring(trees.text)) < len(places)
    assert client.get("/analysis.svg", params={"text": TEXT, "layer": "x"}).status_code == 400
    only = client.get("/analysis.svg", params={"text": TEXT, "layer": "entities"})
    assert only.status_code == 404


def test_links_to_files(client):
    page = client.get("/", params={"text": TEXT}).text
    links = re.findall(r'<a href="(/analysis[^"]+)" download', page)
    assert len(links) >= 3
    assert {client.get(link).status_code for link in links} == {200}


def test_description_is_valid(described):
    openapi = pytest.importorskip("openapi_spec_validator")
    openapi.validate(described)


def test_description_says_what_comes(client, described):
    jsonschema = pytest.importorskip("jsonschema")
    assert set(described["paths"]["/api"]) == {"get", "post"}
    assert described["components"]["schemas"]["asked"]["properties"]["text"]["maxLength"] == LIMIT
    check = jsonschema.Draft202012Validator(
        {"$ref": "#/components/schemas/layers", "components": described["components"]}
    )
    record = client.get("/api", params={"text": TEXT}).json()
    check.validate(record)
    assert list(check.iter_errors({**record, "tokens": [{"start": "0"}]}))


def test_each_status_is_described(client, described):
    of_get, of_post = (described["paths"]["/api"][name]["responses"] for name in ("get", "post"))
    for params in ({}, {"text": "a" * (LIMIT + 1)}, {"text": "a"}):
        assert str(client.get("/api", params=params).status_code) in of_get
    for options in ({"json": {}}, {"json": {"text": "a" * 2_000}}, {"data": {"text": "a"}}):
        assert str(client.post("/api", **options).status_code) in of_post


def test_names_that_may_be_asked_for(monkeypatch, tmp_path):
    import spacy
    import uvicorn

    calls = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: calls.append(app))
    model = tmp_path / "model"
    spacy.blank("en").to_disk(model)
    code, output = call("serve", model, "--host", "0.0.0.0", "--allowed-host", "Parser.Example")
    assert code == 0
    assert "parser.example" in output
    assert "--allowed-host NAME" in output
    client = TestClient(calls[0])
    for host, status in (("parser.example:80", 200), ("evil.example", 421)):
        assert client.get("/health", headers={"host": host}).status_code == status
