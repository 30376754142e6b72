"""``appell export``: verbs of a robot as C99, or as Python for CasADi and JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appell.cli.common import Floating, Gravity, Loops, Mimic, NoFriction, RobotName, open_any, warn

Verbs = Annotated[list[str], typer.Option("--verb", help="What to write, such as inverse_dynamics; may be repeated.")]
Out = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="Where it goes: .c, with the header beside it, or .py.")
]
To = Annotated[str, typer.Option("--to", help="c, casadi or jax.")]
RealName = Annotated[str, typer.Option("--real", help="double or float.")]
NoLibm = Annotated[bool, typer.Option("--no-libm", help="Do without math.h: sine, cosine and root come along.")]
FrameName = Annotated[str | None, typer.Option("--frame", help="The frame of verbs such as pose.")]
Prefix = Annotated[str | None, typer.Option("--prefix", help="What every name begins with; the robot's if left out.")]


def command(  # noqa: PLR0913, PLR0917  # an option each
    robot: RobotName,
    verb: Verbs,
    out: Out,
    to: To = "c",
    real: RealName = "double",
    no_libm: NoLibm = False,
    frame: FrameName = None,
    prefix: Prefix = None,
    no_friction: NoFriction = False,
    gravity: Gravity = None,
    floating: Floating = False,
    mimic: Mimic = False,
    loops: Loops = None,
) -> None:
    """Write verbs of a robot as C99, one .c and one .h, no library but math.h; or as Python for CasADi or JAX.

    Example: appell export puma560 --verb inverse_dynamics --verb mass_matrix --out puma.c --real float --no-libm
    """
    loaded, remarks = open_any(robot, no_friction, gravity, floating=floating, mimic=mimic, loops=loops)
    warn(remarks)
    file = loaded.export(verb, to=to, path=out, frame=frame, real=real, libm=not no_libm, prefix=prefix)
    typer.echo(f"written: {file}", err=True)
    if to == "c":
        typer.echo(f"written: {file.with_suffix('.h')}", err=True)
