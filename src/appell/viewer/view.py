"""Opening a page: of a robot, to move it, or of a run, to play it."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Callable, Iterable
from typing import Any

from numpy.typing import ArrayLike

from appell.display import is_notebook
from appell.errors import InputError
from appell.loading import load
from appell.messages import listed
from appell.results.animation import robot_of
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.shapes.drawable import drawable
from appell.shapes.palette import BRAND
from appell.viewer import server as _server
from appell.viewer.loop import Loop
from appell.viewer.options import PageOptions
from appell.viewer.panel import RobotPage
from appell.viewer.playback import RunPage
from appell.viewer.reference import Reference
from appell.viewer.sliders import settled
from appell.viewer.viewer import Page, Viewer

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
        loop = Loop(lambda seconds: pages[0].tick(seconds))  # noqa: PLW0108  # the page is made below
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
    what: Robot | Run,
    robot: Robot,
    q: ArrayLike | None,
    reference: Any,
    traces: Iterable[str],
    drag: str | None,
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
