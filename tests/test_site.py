"""The built site, opened from disk and over HTTP in Chromium: search, typeset equations, no request to elsewhere."""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["index.html", "theory.html", "notation.html", "cookbook.html", "api/robot.html"]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, built without a warning."""
    pytest.importorskip("furo", reason="furo not installed; run make docs")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(folder / "html")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


class Silent(http.server.SimpleHTTPRequestHandler):
    """A server that logs nothing."""

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module", params=["disk", "http"])
def address(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    """Return the address of the site's folder."""
    if request.param == "disk":
        yield site.as_uri()
        return
    handler = functools.partial(Silent, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def page(address: str) -> Iterator[Any]:
    """Return a page of Chromium; requests to other addresses and errors of the console fail the test."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("Chromium is not installed")
    wrong: list[str] = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda x: None if x.url.startswith((address, "data:")) else wrong.append(x.url))
        page.on("console", lambda x: wrong.append(x.text) if x.type == "error" else None)
        page.on("pageerror", lambda x: wrong.append(str(x)))
        yield page
        browser.close()
    assert not wrong


def test_search_finds_pages(page: Any, address: str) -> None:
    page.goto(f"{address}/index.html")
    page.locator("input[name=q]").first.fill("floating base")
    page.keyboard.press("Enter")
    page.wait_for_selector("ul.search li a")
    page.wait_for_function("document.querySelector('.search-summary').textContent.includes('found')")
    links = page.eval_on_selector_all("ul.search li a", "x => x.map(a => a.getAttribute('href'))")
    assert any("cookbook.html" in link for link in links)
    page.locator("ul.search li a", has_text="Cookbook").first.click()
    page.wait_for_selector("h1:has-text('Cookbook')")


def test_search_finds_names_of_the_reference(page: Any, address: str) -> None:
    page.goto(f"{address}/search.html?q=inverse_dynamics_vjp")
    page.wait_for_selector("ul.search li a[href*='api/robot.html']")


@pytest.mark.parametrize("name", PAGES)
def test_pages_load_without_requests_to_elsewhere(name: str, page: Any, address: str) -> None:
    page.goto(f"{address}/{name}")
    page.wait_for_load_state("load")
    assert page.locator("h1").count() == 1
    assert page.locator("img").evaluate_all("x => x.every(i => i.complete && i.naturalWidth > 0)")


def test_equations_are_typeset(page: Any, address: str) -> None:
    page.goto(f"{address}/theory.html")
    page.wait_for_selector("mjx-container svg")
    page.wait_for_function(
        "document.querySelectorAll('.math').length <= document.querySelectorAll('mjx-container').length"
    )
    assert page.locator("mjx-container[display=true]").count() >= 12
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert "\\frac" not in page.locator("article").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system(scheme: str, page: Any, address: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.goto(f"{address}/index.html")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)")
    assert (sum(colour) > 380) == (scheme == "light")
