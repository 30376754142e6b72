"""``appell view``: a robot or a run in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appell.cli.common import RobotOptions, argument, check_endings, numbers, option, warn, with_robot_options
from appell.errors import InputError
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.viewer.view import view

Shown = Annotated[str, argument("ROBOT", "A .urdf, .xml or .toml file, a name such as puma560, or a run's .npz.")]
Start = Annotated[str | None, option("-q", "Q", "Where a robot begins, e.g. 0.1,0.2,0.3.")]
Packages = Annotated[
    list[Path] | None, option("--packages", "DIR", "A folder that holds the meshes' packages; may be repeated.")
]
Source = Annotated[Path | None, option("--source", "FILE", "The URDF or MJCF file with the shapes of a run's robot.")]
Port = Annotated[int, typer.Option("--port", help="Where to serve the page; any free port for 0.")]
Page = Annotated[Path | None, option("--html", "FILE", "Write a run as one .html file that plays it.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address and leave the browser alone.")]


@with_robot_options
def command(  # a command has as many arguments as options
    options: RobotOptions,
    robot: Shown,
    q: Start = None,
    packages: Packages = None,
    source: Source = None,
    port: Port = 0,
    no_open: NoOpen = False,
    html: Page = None,
) -> None:
    """Show a robot in the browser, to be moved by sliders, or a run, to be played; Ctrl-C ends it.

    The page is served to this machine alone. Meshes are read from --packages, from the folder of the robot (its
    package's, or that of its file) and from ROS_PACKAGE_PATH; files elsewhere are named and not read.

    With --html a run becomes one file that plays it in any browser, without a server or a network.

    Example: appell view puma560
    """
    shown: Robot | Run
    check_endings({"--html": (html, (".html", ".htm"))})
    if html is not None:
        if not robot.lower().endswith(".npz"):
            raise InputError(f"--html: expected a run's .npz file, got '{robot}'; appell simulate --out writes one")
        Run.load(robot).to_html(html, source=source, packages=packages or ())
        typer.echo(f"written: {html}", err=True)
        return
    if robot.lower().endswith(".npz"):
        shown, start = Run.load(robot), None
    else:
        shown, remarks = options.load()
        warn(remarks)
        start = None if q is None else numbers("-q", q, shown.nq)
    view(shown, q=start, source=source, packages=packages or (), port=port, browser=not no_open)
