"""Pages of the viewer in the tests' Chromium."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from appell.viewer.view import Viewer

PATIENCE = 90_000
"""How long a page may take on a busy machine [ms]."""
DRAWN = "[...document.querySelectorAll('canvas')].some(c => c.width > 0 && c.style.opacity === '1')"


class Opened(NamedTuple):
    """A page with what it complained of and what it asked for."""

    page: Any
    errors: list[str]
    requests: list[str]


@pytest.fixture(scope="session")
def visit(browser: Any) -> Iterator[Callable[[Viewer], Opened]]:
    """Return a function that opens a viewer's page and waits until it is drawn."""
    pytest.importorskip("viser")
    opened: list[Any] = []

    def go(viewer: Viewer) -> Opened:
        page = browser.new_page(viewport={"width": 700, "height": 450})
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
