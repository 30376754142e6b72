"""``appell view``: show a robot or a run in the browser."""

from __future__ import annotations

from pathlib import Path

import typer

from appell.cli.common import RobotOptions, argument, check_endings, numbers, option, warn, with_robot_options
from appell.errors import InputError
from appell.results.run import Run
from appell.robot.robot import Robot
from appell.viewer.view import view


@with_robot_options
def command(  # noqa: PLR0913, PLR0917  # a command has as many arguments as options
    options: RobotOptions,
    robot: str = argument(
        "ROBOT", "A robot file, a catalogue name such as puma560, or the .npz file of a run.", default=...
    ),
    q: str | None = option("-q Q", "Initial configuration, e.g. 0.1,0.2,0.3."),
    reference: str | None = option(
        "--reference RUN", "Run (.npz) that a ghost robot shows; for a robot, a configuration."
    ),
    trace: list[str] | None = option("--trace FRAME", "Frame whose path is drawn; repeatable."),
    drag: str | None = option("--drag FRAME", "Frame of a robot that carries the gizmo."),
    packages: list[Path] | None = option("--packages DIR", "Folder of the ROS packages with the meshes; repeatable."),
    source: Path | None = option("--source FILE", "Robot file whose shapes are drawn; by default the robot's own."),
    port: int = option("--port", "Port of the server; 0 takes any free port.", default=0),
    no_open: bool = option("--no-open", "Print the address without opening a browser.", default=False),
    html: Path | None = option("--html FILE", "Write a run as one .html file that plays it."),
) -> None:
    """Show a robot with sliders and a gizmo, or play a run, in the browser.

    Ctrl-C stops the server, which only this machine can reach. Meshes are read from --packages, from the package or
    folder of the robot file and from ROS_PACKAGE_PATH; other files are listed and not read.

    With --html a run becomes one file that plays it in any browser, without a server or a network.

    Example: appell view puma560 --drag link6
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
