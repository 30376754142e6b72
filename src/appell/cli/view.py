"""``appell view``: a robot or a run in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appell.cli.common import RobotOptions, argument, numbers, option, warn, with_robot_options
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.viewer.view import view

Shown = Annotated[str, argument("ROBOT", "A .urdf, .xml or .toml file, a name such as puma560, or a run's .npz.")]
Start = Annotated[str | None, option("-q", "Q", "The first configuration of a robot, e.g. 0.1,0.2,0.3.")]
Reference = Annotated[
    str | None, option("--reference", "RUN", "A run's .npz that a ghost robot shows; beside a robot, a configuration.")
]
Traces = Annotated[list[str] | None, option("--trace", "FRAME", "A frame whose path is drawn; may be repeated.")]
Drag = Annotated[str | None, option("--drag", "FRAME", "The frame of a robot that carries the gizmo.")]
Packages = Annotated[
    list[Path] | None, option("--packages", "DIR", "A folder that holds the meshes' packages; may be repeated.")
]
Source = Annotated[Path | None, option("--source", "FILE", "The URDF or MJCF file with the shapes of a run's robot.")]
Port = Annotated[int, typer.Option("--port", help="The port of the page; any free port for 0.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Print the address and open no browser.")]


@with_robot_options
def command(  # noqa: PLR0913, PLR0917  # a command has as many arguments as options
    options: RobotOptions,
    robot: Shown,
    q: Start = None,
    reference: Reference = None,
    trace: Traces = None,
    drag: Drag = None,
    packages: Packages = None,
    source: Source = None,
    port: Port = 0,
    no_open: NoOpen = False,
) -> None:
    """Show a robot in the browser, moved by sliders and a gizmo, or play a run; Ctrl-C to stop.

    The page is served to this machine alone. Meshes are read from --packages, from the folder of the robot (its
    package's, or that of its file) and from ROS_PACKAGE_PATH; files elsewhere are named and not read.

    Example: appell view puma560 --drag link6
    """
    shown: Robot | Run
    if robot.lower().endswith(".npz"):
        shown, start = Run.load(robot), None
    else:
        shown, remarks = options.load()
        warn(remarks)
        start = None if q is None else numbers("-q", q, shown.nq)
    ghost: Run | list[float] | None = None
    if reference is not None:
        is_run = reference.lower().endswith(".npz")
        ghost = Run.load(reference) if is_run else numbers("--reference", reference, shown.nq)
    view(
        shown,
        q=start,
        reference=ghost,
        traces=trace or (),
        drag=drag,
        source=source,
        packages=packages or (),
        port=port,
        browser=not no_open,
    )
