"""Opening a page of a robot, to move it, or of a run, to play it; the open page, and the thread that draws it."""

from __future__ import annotations

import os
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Protocol

from numpy.typing import ArrayLike, NDArray

from appell.display import element, frame, is_notebook
from appell.errors import InputError
from appell.loading import load
from appell.messages import listed
from appell.results.animation import robot_of
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.shapes.drawable import drawable
from appell.shapes.palette import BRAND
from appell.viewer import server as _server
from appell.viewer.panel import PageOptions, Reference, RobotPage, settled
from appell.viewer.playback import RunPage

WIDTH = 380
"""The panel's width in pixels."""


def view(  # noqa: PLR0913  # a user sets a few of many, each by name
    shown: Robot | Run | str | os.PathLike[str],
    *,
    q: ArrayLike | None = None,
    reference: Run | Callable[[float], Any] | ArrayLike | None = None,
    traces: Iterable[str] = (),
    drag: str | None = None,
    source: str | os.PathLike[str] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
    port: int = 0,
    browser: bool | None = None,
    block: bool | None = None,
) -> Viewer:
    """Open a page in the browser that shows a robot, moved by sliders and a gizmo, or plays a run.

    The page is served to this machine alone. It shows the robot's visual shapes where they are found, otherwise
    rods from joint to joint. All browsers that open the page show the same.

    Parameters
    ----------
    shown
        A robot, a run, or an argument of :func:`appell.load`: a robot's file or a name of the catalogue.
    q
        The first configuration (nq,) of a robot; unless given, neutral, moved within the joints' limits.
    reference
        A motion that a translucent ghost robot shows beside a run: another run of the same robot, or a trajectory,
        that is any function of the time [s] that returns (q, v, a), as :class:`appell.control.Tracking` takes. Beside
        a robot, a configuration (nq,).
    traces
        Names of frames whose paths are drawn.
    drag
        The frame of a robot that carries the gizmo; none unless given. The page has a list of all frames.
    source
        The robot file whose shapes are drawn; unless given, the robot's own shapes are.
    packages
        Folders that hold the packages of ``package://`` names; they come before the robot's own folder and those of
        ``ROS_PACKAGE_PATH``. Meshes outside of all of these are not read.
    port
        The port of the page; any free port for 0.
    browser
        Whether to open the page in a browser; by default it is, except in a notebook, where the viewer that is
        returned displays itself in the cell. The address is in the viewer's ``url``.
    block
        Whether to print the address and return only when the viewer is stopped, by Ctrl-C; by default it does, except
        in a notebook.

    Returns
    -------
    Viewer
        The running viewer, with ``url``, ``q``, and ``stop()``, which is called at the end of a ``with`` block.

    Raises
    ------
    InputError
        When viser is not installed, an argument does not fit, the run has no states, or the port is taken.

    Examples
    --------
    >>> import appell
    >>> with appell.view(appell.load("two-link"), browser=False, block=False) as viewer:
    ...     viewer.q
    array([0., 0.])
    """
    what = shown if isinstance(shown, Robot | Run) else _loaded(shown)
    robot = robot_of(what, "view") if isinstance(what, Run) else what
    options = _options(what, robot, q, reference, traces, drag)
    _server.import_viser()
    drawn = drawable(robot, source, packages)
    server = _server.start(port, "appell")
    try:
        _furnish(server)
        pages: list[Page] = []
        loop = DrawingLoop(lambda seconds: pages[0].tick(seconds))  # noqa: PLW0108  # the page is made below
        if isinstance(what, Run):
            pages.append(RunPage(server, drawn, what, options, loop.wake))
        else:
            pages.append(RobotPage(server, drawn, options, loop.wake))
        viewer = Viewer(server, pages[0], loop, tuple(drawn.remarks))
        loop.start()
    except BaseException:
        _server.stop(server)
        raise
    if (not is_notebook() if browser is None else browser) and _has_screen():
        webbrowser.open(viewer.url)
    if not is_notebook() if block is None else block:
        _wait(viewer)
    return viewer


def _options(
    what: Robot | Run, robot: Robot, q: ArrayLike | None, reference: Any, traces: Iterable[str], drag: str | None
) -> PageOptions:
    is_run = isinstance(what, Run)
    if is_run and q is not None:
        raise InputError("view: q: a run has its own configurations; leave q out")
    if is_run and drag is not None:
        raise InputError("view: drag: the configurations of a run are fixed; view its robot to drag a frame")
    ghost = None if reference is None else Reference(robot, reference)
    if ghost is not None and ghost.has_time and not is_run:
        raise InputError("view: reference: a robot has no time; give a configuration, or view a run")
    frames = tuple(_frame(robot, "traces", frame) for frame in ([traces] if isinstance(traces, str) else traces))
    dragged = None if drag is None else _frame(robot, "drag", drag)
    return PageOptions(None if q is None else settled(robot, q), ghost, frames, dragged)


def _frame(robot: Robot, option: str, frame: Any) -> str:
    if frame not in robot.frame_names:
        raise InputError(
            f"view: {option}: robot '{robot.name}' has no frame '{frame}'; known: {listed(robot.frame_names)}"
        )
    return str(frame)


def _loaded(shown: Any) -> Robot:
    if not isinstance(shown, str | os.PathLike):
        raise InputError(f"view: expected a robot, a run or a file's name, got {type(shown).__name__}")
    return load(shown)


def _furnish(server: Any) -> None:
    """Set the panel's place, width and colours, the same for all pages."""
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
    server.gui.main_panel.dock_right()
    server.gui.main_panel.set_width(WIDTH)


def _has_screen() -> bool:
    """Return whether a graphical browser can open; on a bare console a text browser would take it over."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _wait(viewer: Viewer) -> None:
    for remark in viewer.remarks:
        sys.stderr.write(f"appell: warning: {remark}\n")
    sys.stdout.write(f"{viewer.url}\n")
    sys.stdout.flush()
    sys.stderr.write("Ctrl-C to stop\n")
    try:
        viewer.wait()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    finally:
        viewer.stop()


# An open page

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

    def __init__(self, server: Any, page: Page, loop: DrawingLoop, remarks: tuple[str, ...]) -> None:
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


# The one thread that draws; buttons and sliders of the page store their requests and wake it

RATE = 60.0
"""The greatest number of pictures per second."""


class DrawingLoop:
    """Calls `tick` with the seconds since the last call: when woken, and RATE times per second while it returns True.

    Requests that arrive while a picture is drawn are drawn together, so that a slow robot does not lag behind its
    sliders.
    """

    def __init__(self, tick: Callable[[float], bool]) -> None:
        self._tick = tick
        self._woken, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="appell view", daemon=True)

    def start(self) -> None:
        """Start the thread; the first call follows at once."""
        self._woken.set()
        self._thread.start()

    def wake(self) -> None:
        """Request a call."""
        self._woken.set()

    def stop(self) -> None:
        """Stop the thread, and wait for the last call."""
        self._over.set()
        self._woken.set()
        if self._thread is not threading.current_thread() and self._thread.is_alive():
            self._thread.join(timeout=10.0)

    def _run(self) -> None:
        last, is_moving = time.perf_counter(), False
        while True:
            if not is_moving:
                self._woken.wait()
                last = time.perf_counter()
            self._woken.clear()
            if self._over.is_set():
                return
            now = time.perf_counter()
            is_moving = self._ticked(now - last)
            last = now
            rest = 1.0 / RATE - (time.perf_counter() - now)
            if is_moving and rest > 0.0:
                self._over.wait(rest)

    def _ticked(self, seconds: float) -> bool:
        """Call `tick` once; an error in one picture must not prevent the next."""
        try:
            return self._tick(seconds)
        except Exception as error:
            sys.stderr.write(f"appell: warning: view: not drawn: {type(error).__name__}: {error}\n")
            return False
