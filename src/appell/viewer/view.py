"""Opening a page: of a robot, to move it by hand, or of a run, to play it."""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Iterable
from typing import Any

from numpy.typing import ArrayLike, NDArray

from appell.display import is_notebook
from appell.errors import InputError
from appell.loops.load import load
from appell.results.animation import robot_of
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.shapes.drawable import drawable
from appell.shapes.palette import BRAND
from appell.viewer import server as _server
from appell.viewer.loop import Loop
from appell.viewer.panel import RobotPage
from appell.viewer.playback import RunPage
from appell.viewer.sliders import settled
from appell.viewer.viewer import Page, Viewer

WIDTH = 380
"""The panel's width in pixels."""


def view(
    shown: Robot | Run | str | os.PathLike[str],
    *,
    q: ArrayLike | None = None,
    source: str | os.PathLike[str] | None = None,
    packages: Iterable[str | os.PathLike[str]] = (),
    port: int = 0,
    browser: bool | None = None,
    block: bool | None = None,
) -> Viewer:
    """Open a page in the browser that shows a robot, to be moved by sliders, or a run, to be played.

    The page is served to this machine alone. It shows the meshes of the robot's file where they are found, rods from
    joint to joint where not. Several browsers may look at it, and all see the same.

    Parameters
    ----------
    shown
        A robot, a run, or what :func:`appell.load` takes: a robot's file or a name of the catalogue.
    q
        Where a robot begins; its neutral configuration, inside the joints' limits, unless given.
    source
        The URDF or MJCF file that has the robot's shapes; that which the robot was loaded from unless given.
    packages
        Folders in which to look for the packages of ``package://`` names, before the robot's own folder and those of
        ``ROS_PACKAGE_PATH``. Meshes outside of all of these are not read.
    port
        Where to serve the page; any free port for 0.
    browser
        Whether to open the page in a browser; by default it is, except in a notebook, where the viewer that is
        returned displays itself in the cell. The address is in the viewer's ``url``.
    block
        Whether to print the address and return only when the viewer is stopped, by Ctrl-C; by default it does, except
        in a notebook.

    Returns
    -------
    Viewer
        With ``url``, ``q``, and ``stop()``, which leaving it as a context calls.

    Raises
    ------
    InputError
        When viser is not installed, there is nothing to show, or the port is taken.

    >>> import appell
    >>> with appell.view(appell.load("two-link"), browser=False, block=False) as viewer:
    ...     viewer.q
    array([0., 0.])
    """
    what = shown if isinstance(shown, Robot | Run) else _loaded(shown)
    robot = robot_of(what, "view") if isinstance(what, Run) else what
    start = _start(what, robot, q)
    _server.import_viser()
    drawn = drawable(robot, source, packages)
    server = _server.start(port, "appell")
    try:
        _furnish(server)
        pages: list[Page] = []
        loop = Loop(lambda seconds: pages[0].tick(seconds))  # noqa: PLW0108  # the page comes after
        if isinstance(what, Run):
            pages.append(RunPage(server, drawn, what, robot, loop.wake))
        else:
            pages.append(RobotPage(server, drawn, robot, start, loop.wake))
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


def _start(what: Any, robot: Robot, q: ArrayLike | None) -> NDArray[Any] | None:
    if q is None:
        return None
    if isinstance(what, Run):
        raise InputError("view: q: a run begins where it began; leave q out")
    return settled(robot, q)


def _loaded(shown: Any) -> Robot:
    if not isinstance(shown, str | os.PathLike):
        raise InputError(f"view: expected a robot, a run or a file's name, got {type(shown).__name__}")
    return load(shown)


def _furnish(server: Any) -> None:
    """Set what all pages share: where the panel is, and its colours."""
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND)
    server.gui.main_panel.dock_right()
    server.gui.main_panel.set_width(WIDTH)


def _has_screen() -> bool:
    """Return whether a browser can open here: on a bare console one of text would take it over."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _wait(viewer: Viewer) -> None:
    for remark in viewer.remarks:
        sys.stderr.write(f"appell: warning: {remark}\n")
    sys.stdout.write(f"{viewer.url}\n")
    sys.stdout.flush()
    sys.stderr.write("Ctrl-C ends it\n")
    try:
        viewer.wait()
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    finally:
        viewer.stop()
