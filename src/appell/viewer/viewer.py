"""An open page: its address, what it shows, and how to close it."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Protocol

from numpy.typing import ArrayLike, NDArray

from appell.display import element, frame
from appell.viewer import server as _server
from appell.viewer.loop import Loop

HEIGHT = 560
"""Of the viewer in a notebook [px]."""


class Page(Protocol):
    """The page of a robot or of a run."""

    q: NDArray[Any]

    def show(self, q: ArrayLike) -> None:
        """Go to a configuration."""

    def seek(self, t: float) -> None:
        """Go to a time."""

    def tick(self, seconds: float) -> bool:
        """Draw the next picture; return whether to be called again soon."""


class Viewer:
    """A running viewer; a ``with`` block stops it at the end.

    >>> import appell
    >>> with appell.view(appell.load("two-link"), browser=False, block=False) as viewer:
    ...     viewer.url.startswith("http://127.0.0.1:")
    True
    """

    def __init__(self, server: Any, page: Page, loop: Loop, remarks: tuple[str, ...]) -> None:
        self._server, self._loop = server, loop
        self._is_over = threading.Event()
        self.page = page
        self.remarks = remarks

    def __repr__(self) -> str:
        return f"<Viewer {'stopped' if self._is_over.is_set() else 'at ' + self.url}>"

    def _repr_html_(self) -> str:
        if self._is_over.is_set():
            return element("div", "The viewer has been stopped.")
        note = f"{self.url}, served to this machine alone; over SSH, forward port {self.port}. viewer.stop() ends it."
        return element("div", frame(HEIGHT, src=self.url), element("small", note))

    @property
    def url(self) -> str:
        """Return the page's address."""
        return _server.address(self._server)

    @property
    def port(self) -> int:
        """Return the port of the server."""
        return int(self._server.get_port())

    @property
    def q(self) -> NDArray[Any]:
        """Return the configuration that is shown."""
        return self.page.q.copy()

    def show(self, q: ArrayLike) -> None:
        """Move the robot and its sliders to a configuration."""
        self.page.show(q)

    def seek(self, t: float) -> None:
        """Pause the run at a time [s]."""
        self.page.seek(t)

    def wait(self) -> None:
        """Wait until the viewer is stopped, or until Ctrl-C."""
        # with a timeout: on Windows an unlimited wait cannot be interrupted
        while not self._is_over.wait(0.5):
            pass

    def stop(self) -> None:
        """Close the page and the server; a second call does nothing."""
        if not self._is_over.is_set():
            self._is_over.set()
            self._loop.stop()
            _server.stop(self._server)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
