"""``appell view``: a robot or a run in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from appell.cli.common import Floating, Gravity, Loops, Mimic, NoFriction, numbers, open_any, warn
from appell.loops.spherical.robot import SphericalRobot
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.view.view import view

Shown = Annotated[
    str, typer.Argument(metavar="ROBOT", help="A .urdf, .xml or .toml file, a name such as puma560, or a run's .npz.")
]
Start = Annotated[str | None, typer.Option("-q", metavar="Q", help="Where a robot begins, e.g. 0.1,0.2,0.3.")]
Packages = Annotated[
    list[Path] | None,
    typer.Option("--packages", metavar="DIR", help="A folder that holds the meshes' packages; may be repeated."),
]
Source = Annotated[
    Path | None,
    typer.Option("--source", metavar="FILE", help="The URDF or MJCF file with the shapes of a run's robot."),
]
Port = Annotated[int, typer.Option("--port", help="Where to serve the page; any free port for 0.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address and leave the browser alone.")]


def command(  # noqa: PLR0913, PLR0917  # a command has as many arguments as options
    robot: Shown,
    q: Start = None,
    packages: Packages = None,
    source: Source = None,
    port: Port = 0,
    no_open: NoOpen = False,
    floating: Floating = False,
    mimic: Mimic = False,
    no_friction: NoFriction = False,
    gravity: Gravity = None,
    loops: Loops = None,
) -> None:
    """Show a robot in the browser, to be moved by sliders, or a run, to be played; Ctrl-C ends it.

    The page is served to this machine alone. Meshes are looked for in --packages, in the folder of the robot's file and
    those above it, and where ROS_PACKAGE_PATH says.

    Example: appell view puma560
    """
    shown: Robot | SphericalRobot | Run
    if robot.lower().endswith(".npz"):
        shown, start = Run.load(robot), None
    else:
        shown, remarks = open_any(robot, no_friction, gravity, floating=floating, mimic=mimic, loops=loops)
        warn(remarks)
        start = None if q is None else numbers("-q", q, shown.nq)
    viewer = view(shown, q=start, source=source, packages=packages or (), port=port, browser=not no_open, block=False)
    warn(list(viewer.remarks))
    typer.echo(viewer.url)
    typer.echo("Ctrl-C ends it", err=True)
    sys.stdout.flush()
    try:
        viewer.wait()
    except KeyboardInterrupt:
        pass
    finally:
        viewer.stop()
