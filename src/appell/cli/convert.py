"""``appell convert``: a robot's file in another format."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from appell.cli.common import RobotOptions, argument, option, warn, with_robot_options
from appell.errors import AppellWarning

New = Annotated[Path, argument("NEW", "The file to write: .urdf, .xml or .mjcf (MJCF), .sdf or .toml.")]
Template = Annotated[
    Path | None, option("--template", "FILE", "A URDF of the same joints; only its inertias, losses and limits change.")
]


@with_robot_options
def command(options: RobotOptions, new: New, template: Template = None) -> None:
    """Write a robot to a file of another format.

    What the format cannot hold is an error, or a warning that names it.

    Example: appell convert puma600 puma600.xml
    """
    loaded, remarks = options.load()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AppellWarning)
        file = loaded.save(new, template)
    warn([*remarks, *(str(each.message) for each in caught if issubclass(each.category, AppellWarning))])
    typer.echo(f"written: {file}", err=True)
