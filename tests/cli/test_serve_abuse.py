"""The page against clients that are slow, many, or sent by another page."""

import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
import spacy
from spacy.language import Language

pytest.importorskip("starlette")
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from spacy_biaffine.serve import asked, endpoints, protocol, worker
from spacy_biaffine.serve.app import make_app
from spacy_biaffine.serve.guard import host_name

FORM = {"content-type": "application/x-www-form-urlencoded"}


def client_of(**options) -> TestClient:
    app = make_app(lambda: spacy.blank("en"), **options)
    return TestClient(app, base_url="http://localhost:8000")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("192.0.2.7", 200),
        ("parser.example", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example:8000", 421),
        ("", 421),
    ],
)
def test_foreign_names_are_refused(host, status):
    client = client_of(names=["parser.example"])
    assert client.get("/", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://localhost:8000", 200),
        ("https://localhost:8000", 200),  # behind a proxy that ends TLS
        ("http://localhost:9000", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_forms_of_other_pages_are_refused(origin, status):
    headers = {} if origin is None else {"origin": origin}
    response = client_of().post("/", data={"text": "Rain"}, headers=headers)
    assert response.status_code == status


def test_browsers_tell_the_origin_of_the_own_form():
    assert client_of().get("/").headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("host", "name"), [("A.b:1", "a.b"), ("[::1]:80", "::1"), ("[::1", "::1"), ("", "")]
)
def test_host_name(host, name):
    assert host_name(host) == name


@pytest.fixture
def server(monkeypatch):
    """The port of a running server whose pipeline takes a while, with short limits."""
    monkeypatch.setattr(protocol, "SECONDS", 1.0)
    monkeypatch.setattr(protocol, "READ_SECONDS", 1.0)
    monkeypatch.setattr(asked, "SECONDS", 1.0)
    nlp = spacy.blank("en")
    nlp.add_pipe("slow_for_tests")
    config = uvicorn.Config(
        make_app(lambda: nlp),
        host="127.0.0.1",
        port=0,
        log_level="critical",
        http=protocol.TimedProtocol,
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    while not running.started:
        time.sleep(0.01)
    yield running.servers[0].sockets[0].getsockname()[1]
    running.should_exit = True
    thread.join(10)


@Language.component("slow_for_tests")
def slow(doc):
    time.sleep(0.005)
    return doc


def ask(port: int, text: str = "Rain") -> int:
    """The status of one request."""
    body = f"text={text}".encode()
    head = (
        f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n"
        f"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head.encode() + body)
        answer = connection.makefile("rb").read()
    return int(answer.split(b" ", 2)[1])


def opened(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=20)
    connection.sendall(sent)
    return connection


HALF_A_FORM = (
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntext="
)


def test_slow_clients_stop_nobody(server):
    slow_ones = [opened(server, sent) for sent in (b"", b"GET / HT", HALF_A_FORM) * 34]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: ask(server), range(80))) == {200}
    for connection in slow_ones:
        left = b"".join(iter(lambda c=connection: c.recv(4096), b""))
        assert not left or b" 408 " in left.split(b"\r\n")[0]
        connection.close()


def test_a_connection_that_goes_on_is_timed_again(server):
    request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\n\r\n".encode()
    with opened(server, request) as connection:
        answer = b""
        while b"slow_for_tests" not in answer:  # the end of the body
            answer += connection.recv(4096)
        connection.sendall(b"GET /hea")  # which ends uvicorn's own timer
        started = time.monotonic()
        assert connection.recv(4096) == b""
        assert time.monotonic() - started < 5


def test_who_does_not_read_is_closed(server, monkeypatch):
    """The answer is longer than what the system takes for a client that reads nothing."""
    monkeypatch.setattr(endpoints, "JSONResponse", _long_answer)
    request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\n\r\n".encode()
    with opened(server, request) as connection:
        time.sleep(2.5)
        left = b"".join(iter(lambda: _received(connection), b""))
    assert 1_000 < len(left) < LONG


def test_who_reads_slowly_gets_all(server, monkeypatch):
    monkeypatch.setattr(protocol, "READ_SECONDS", 20.0)
    monkeypatch.setattr(endpoints, "JSONResponse", _long_answer)
    request = f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{server}\r\nConnection: close\r\n\r\n"
    with opened(server, request.encode()) as connection:
        time.sleep(1.5)
        left = b"".join(iter(lambda: _received(connection), b""))
    assert len(left) > LONG


LONG = 30_000_000


def _long_answer(*_, **__):
    return PlainTextResponse(b"x" * LONG)


def _received(connection: socket.socket) -> bytes:
    """What comes next, nothing from a connection that was cut."""
    try:
        return connection.recv(1 << 16)
    except ConnectionError:
        return b""


def test_connections_are_counted(server, monkeypatch):
    monkeypatch.setattr(protocol, "MOST_CONNECTIONS", 3)
    held = [opened(server, b"GET") for _ in range(3)]
    with opened(server, b"") as further:
        assert _received(further) == b""
    for connection in held:
        connection.close()
    for _ in range(100):  # until the server has seen that they are closed
        time.sleep(0.02)
        with suppress(ConnectionError, IndexError):
            assert ask(server) == 200
            return
    pytest.fail("the places are not free again")


def test_the_newest_is_told_to_wait(server, monkeypatch):
    monkeypatch.setattr(worker, "MOST_WAITING", 2)
    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(lambda _: ask(server), range(60)))
    assert set(found) == {200, 503}
    assert ask(server) == 200
