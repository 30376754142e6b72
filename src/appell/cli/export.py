"""``appell export``: verbs of a robot, or a controller for it, as C99; verbs as Python for CasADi and JAX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.common import RobotOptions, numbers, option, warn, with_robot_options
from appell.control.gains import gains, integral_gains
from appell.errors import InputError
from appell.robot.export import TARGETS
from appell.robot.robot import Robot
from appell.robot.verbs import VERBS
from appell.simulation.laws.joint_laws import JointLaw, PointToPoint, Tracking

LAWS = ("tracking", "point-to-point")
Verbs = Annotated[
    list[str] | None, option("--verb", "VERB", "What to write, such as inverse_dynamics; may be repeated.", VERBS)
]
Out = Annotated[Path, option("--out -o", "FILE", "Where it goes: .c, with the header beside it, or .py.")]
To = Annotated[str, option("--to", "TARGET", "c, casadi, jax, sympy or latex; controllers are C.", TARGETS)]
RealName = Annotated[str, option("--real", "TYPE", "double or float.", ("double", "float"))]
NoLibm = Annotated[bool, typer.Option("--no-libm", help="Do without math.h: sine, cosine and root come along.")]
FrameName = Annotated[str | None, option("--frame", "NAME", "The frame of verbs such as pose.")]
Prefix = Annotated[str | None, option("--prefix", "NAME", "What every name begins with; the robot's if left out.")]
Parametric = Annotated[
    bool, typer.Option("--parametric", help="Make the inertial parameters the last argument of every verb.")
]
Controller = Annotated[
    str | None, option("--controller", "LAW", "A computed-torque law instead of verbs: tracking, point-to-point.", LAWS)
]
Frequency = Annotated[
    float | None, typer.Option("--frequency", help="Of the controller's error [rad/s]; needed with --controller.")
]
Damping = Annotated[float, typer.Option("--damping", help="Damping ratio of the controller's error.")]
IntegralRate = Annotated[
    float | None, typer.Option("--integral", help="How fast tracking forgets a constant disturbance [rad/s].")
]
Limit = Annotated[
    str | None, option("--limit", "NUMBERS", "Greatest forces, one or one per joint, by commas; or file for its own.")
]


@with_robot_options
def command(  # noqa: PLR0913, PLR0917  # an option each
    options: RobotOptions,
    out: Out,
    verb: Verbs = None,
    to: To = "c",
    real: RealName = "double",
    no_libm: NoLibm = False,
    frame: FrameName = None,
    prefix: Prefix = None,
    parametric: Parametric = False,
    controller: Controller = None,
    frequency: Frequency = None,
    damping: Damping = 1.0,
    integral: IntegralRate = None,
    limit: Limit = None,
) -> None:
    """Write verbs or a controller as C99, or verbs for CasADi or JAX.

    The C needs no library but math.h, and with --no-libm not even that.

    Example: appell export puma560 --verb inverse_dynamics --verb mass_matrix --out puma.c --real float --no-libm

    Example: appell export puma600 --controller tracking --frequency 10 --integral 5 --limit 90 --out control.c
    """
    if bool(verb) == (controller is not None):
        raise InputError("export: name what to write, either --verb or --controller")
    loaded, remarks = options.load()
    warn(remarks)
    form: dict[str, Any] = {"to": to, "real": real, "libm": not no_libm, "prefix": prefix}
    if controller is None:
        if frequency is not None or integral is not None or limit is not None:
            raise InputError("export: --frequency, --integral and --limit belong to a --controller")
        file = loaded.export(verb or [], path=out, frame=frame, parametric=parametric, **form)
    else:
        if frame is not None:
            raise InputError("export: a controller is about the whole robot; leave --frame out")
        if parametric:
            raise InputError("export: a controller has the parameters of its robot; leave --parametric out")
        file = _law(loaded, controller, frequency, damping, integral, limit).export(out, **form)
    typer.echo(f"written: {file}", err=True)
    if to == "c":
        typer.echo(f"written: {file.with_suffix('.h')}", err=True)


def _law(
    robot: Robot, name: str, frequency: float | None, damping: float, integral: float | None, limit: str | None
) -> JointLaw:
    """Return a law; where it leads to is an argument of its C, and any place will do here."""
    if name not in LAWS:
        raise InputError(f"--controller: expected tracking or point-to-point, got '{name}'")
    if frequency is None:
        raise InputError("--controller: say how fast its error shall vanish, as in --frequency 10")
    most = _limit(robot, limit)
    here, still = robot.neutral(), [0.0] * robot.nv
    if name == "point-to-point":
        if integral is not None:
            raise InputError("--integral: only tracking has integral action; use --controller tracking")
        return PointToPoint(robot, here, *gains(frequency, damping), limit=most)
    if integral is None:
        return Tracking(robot, lambda _: (here, still, still), *gains(frequency, damping), limit=most)
    return Tracking(robot, lambda _: (here, still, still), *integral_gains(frequency, damping, integral), limit=most)


def _limit(robot: Robot, text: str | None) -> list[float] | float | str | None:
    if text is None or text == "file":
        return text
    return numbers("--limit", text, robot.nu) if "," in text else numbers("--limit", text, 1)[0]
