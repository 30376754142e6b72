"""``appell convert``: write a robot in another format."""

from __future__ import annotations

from pathlib import Path

import typer

from appell.cli.common import RobotOptions, argument, collected, option, warn, with_robot_options


@with_robot_options
def command(
    options: RobotOptions,
    new: Path = argument("NEW", "Output file: .urdf, .xml or .mjcf (MJCF), .sdf or .toml.", default=...),
    template: Path | None = option(
        "--template FILE", "URDF file with the same joints; only inertias, friction and limits are changed in it."
    ),
) -> None:
    """Convert a robot file to another format.

    Features that the format does not have are an error, or a warning that names them.

    Example: appell convert puma600 puma600.xml
    """
    loaded, remarks = options.load()
    with collected() as more:
        file = loaded.save(new, template)
    warn([*remarks, *more])
    typer.echo(f"written: {file}", err=True)
