"""The page as a browser shows it: at two widths, by keyboard, under the pointer, to screen readers.

Needs pip install -e ".[browser]" and Chromium.
"""

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from cli_cases import pipeline

pytest.importorskip("starlette")
sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
if CHROMIUM is None:
    pytest.skip("there is no Chromium", allow_module_level=True)

import uvicorn  # noqa: E402 (with starlette)

from spacy_biaffine.serve.app import make_app  # noqa: E402

TEXT = "Cold rain fell all night . Nobody slept ."
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(make_app(pipeline), port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.05)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield started
        started.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1280, "height": 900})
    yield opened
    opened.close()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("text", ["", TEXT])
def test_axe_finds_nothing(address: str, page: Any, width: int, scheme: str, text: str) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}/?text={quote(text)}")
    found = axe.Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    widths = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]  # what is wider scrolls inside itself


def test_a_text_is_analysed_by_keyboard(address: str, page: Any) -> None:
    page.goto(address)
    assert page.evaluate("document.activeElement.id") == "text"
    page.keyboard.type(TEXT)
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "BUTTON":
            break
    page.keyboard.press("Enter")
    page.wait_for_selector("section#trees")
    assert page.input_value("#text") == TEXT


def test_pictures_and_tables_scroll_by_keyboard(address: str, page: Any) -> None:
    page.goto(f"{address}/?text={quote(TEXT)}")
    for each in page.query_selector_all(".scroll"):
        assert each.get_attribute("tabindex") == "0"
        assert each.get_attribute("aria-label")


def test_a_link_jumps_to_a_layer(address: str, page: Any) -> None:
    page.goto(f"{address}/?text={quote(TEXT)}")
    page.click("nav[aria-label=Layers] a[href='#roles']")
    top = page.evaluate("document.getElementById('roles').getBoundingClientRect().top")
    assert top < 900


def test_words_of_a_role_are_marked_under_the_pointer(address: str, page: Any) -> None:
    page.goto(f"{address}/?text={quote(TEXT)}")
    row = page.query_selector("#roles tr.r0")
    plain = marked_words(page)
    row.scroll_into_view_if_needed()
    row.hover()
    assert marked_words(page) != plain


def marked_words(page: Any) -> list[str]:
    script = "all => all.map(each => getComputedStyle(each).backgroundColor)"
    colors: list[str] = page.eval_on_selector_all("#roles .source span", script)
    return colors
