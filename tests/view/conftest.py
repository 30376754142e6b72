"""One Chromium for all tests of the page; it draws without a graphics card, in software."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from appell.view.viewer import Viewer

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
PATIENCE = 90_000
"""How long a page may take on a busy machine [ms]."""
DRAWN = "[...document.querySelectorAll('canvas')].some(c => c.width > 0 && c.style.opacity === '1')"


def program() -> str | None:
    """Return a Chromium of this machine, installed now where it is missing and we may."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    may_install = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")
    if found is None and may_install:
        wait = ["apt-get", "-o", "DPkg::Lock::Timeout=300"]  # another worker of the tests may be at it
        for command in ([*wait, "update"], [*wait, "install", "-y", "--no-install-recommends", "chromium"]):
            subprocess.run(command, capture_output=True, check=False, timeout=900)
        found = next(filter(None, map(shutil.which, NAMES)), None)
    return found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return a running browser; skip where there is none and none can be installed."""
    sync_api = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("viser")
    path = program()
    if path is None:
        pytest.skip("there is no Chromium, and it cannot be installed here: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Opened(NamedTuple):
    """A page with what it complained of and what it asked for."""

    page: Any
    errors: list[str]
    requests: list[str]


@pytest.fixture(scope="session")
def visit(chromium: Any) -> Iterator[Callable[[Viewer], Opened]]:
    """Return a function that opens a viewer's page and waits until it is drawn."""
    opened: list[Any] = []

    def go(viewer: Viewer) -> Opened:
        page = chromium.new_page(viewport={"width": 700, "height": 450})
        opened.append(page)
        page.set_default_timeout(PATIENCE)
        seen = Opened(page, [], [])
        page.on("console", lambda message: seen.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("websocket", lambda socket: seen.requests.append(socket.url))
        page.goto(viewer.url)
        page.wait_for_function(DRAWN)
        return seen

    yield go
    for page in opened:
        page.close()
