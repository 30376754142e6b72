"""``appell export``: verbs, rollouts or controllers as C99, a ROS 2 package, or verbs for CasADi, JAX, SymPy, LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from appell.cli.common import RobotOptions, numbers, option, warn, with_robot_options
from appell.control.gains import gains, integral_gains
from appell.errors import InputError
from appell.messages import alternatives
from appell.robot.export.text import JOBS, PACKAGES, TARGETS
from appell.robot.robot import Robot
from appell.robot.verbs.table import VERBS
from appell.simulation.laws.joint_laws import JointLaw, PointToPoint, Tracking
from appell.simulation.rollout.scheme import METHODS

LAWS = ("tracking", "point-to-point")
NAMES = (*VERBS, *JOBS)


@with_robot_options
def command(  # noqa: PLR0913, PLR0917  # one argument per option
    options: RobotOptions,
    out: Path = option(
        "--out -o FILE",
        "Output: a .c file (with a .h file), .py or .tex file, or the folder of a ROS 2 package.",
        default=...,
    ),
    verb: list[str] | None = option(
        "--verb VERB", "Verb to export, such as inverse_dynamics; repeatable. Or rollout, inverse_kinematics.", NAMES
    ),
    to: str = option("--to TARGET", "c, casadi, jax, sympy, latex or ros2; controllers are C.", TARGETS, default="c"),
    real: str = option("--real TYPE", "double or float.", ("double", "float"), default="double"),
    no_libm: bool = option(
        "--no-libm", "Generate sine, cosine and square root too; math.h is not needed.", default=False
    ),
    frame: str | None = option("--frame NAME", "Frame of verbs such as pose."),
    prefix: str | None = option("--prefix NAME", "Prefix of all C names; default the name of the robot."),
    parametric: bool = option(
        "--parametric", "Add the inertial parameters as the last argument of every verb.", default=False
    ),
    controller: str | None = option(
        "--controller LAW", "Computed-torque controller, tracking or point-to-point: alone, or in a rollout.", LAWS
    ),
    frequency: float | None = option(
        "--frequency", "Natural frequency of the tracking error [rad/s]; required by --controller."
    ),
    damping: float = option("--damping", "Damping ratio of the tracking error.", default=1.0),
    integral: float | None = option(
        "--integral", "Rate at which the integral action rejects a constant disturbance [rad/s]."
    ),
    limit: str | None = option(
        "--limit NUMBERS",
        "Torque limits: one number, one per joint separated by commas, or 'file' for those of the robot file.",
    ),
    method: str | None = option("--method NAME", "Method of a rollout; default rk4.", METHODS),
    steps: int | None = option("--steps", "Steps of inverse kinematics; default 100."),
) -> None:
    """Export verbs or a controller as C99, a ROS 2 plugin, or verbs for CasADi, JAX, SymPy or LaTeX.

    The C code needs math.h only, or no library with --no-libm. --to ros2 writes a package with a plugin of
    inverse_dynamics_solver, for controllers of ros2_control.

    Example: appell export puma560 --verb inverse_dynamics --verb mass_matrix --out puma.c --real float --no-libm

    Example: appell export puma600 --controller tracking --frequency 10 --integral 5 --limit 90 --out control.c

    Example: appell export puma560 --verb rollout --controller tracking --frequency 10 --out rollout.c

    Example: appell export puma560 --verb inverse_kinematics --frame dh6 --out ik.c

    Example: appell export puma560 --to ros2 --out puma560_dynamics
    """
    if to in PACKAGES:
        _package(options, to, out, verb, controller)
        return
    law_terms = {"--frequency": frequency, "--integral": integral, "--limit": limit}
    if controller is None and any(x is not None for x in law_terms.values()):
        raise InputError("export: --frequency, --integral and --limit require --controller")
    is_alone = controller is not None and not verb
    if not verb and not is_alone:
        raise InputError("export: give --verb or --controller")
    if verb and controller is not None and verb != ["rollout"]:
        raise InputError("export: a --controller is written alone, or in a rollout: --verb rollout")
    form: dict[str, Any] = {"to": to, "real": real, "libm": not no_libm, "prefix": prefix}
    own: dict[str, Any] = {"frame": frame, "parametric": parametric, "method": method, "steps": steps}
    if is_alone and (unfit := [f"--{name}" for name, x in own.items() if x]):
        raise InputError(f"export: {unfit[0]} does not apply to --controller; leave it out")
    loaded, remarks = options.load()
    warn(remarks)
    law = None if controller is None else _law(loaded, controller, frequency, damping, integral, limit)
    if law is not None and is_alone:
        file = law.export(out, **form)
    else:
        names = verb[0] if verb and len(verb) == 1 and verb[0] in JOBS else verb or ()
        file = loaded.export(names, path=out, control=law, **own, **form)
    typer.echo(f"written: {file}", err=True)
    if to == "c":
        typer.echo(f"written: {file.with_suffix('.h')}", err=True)


def _package(options: RobotOptions, to: str, out: Path, verb: list[str] | None, controller: str | None) -> None:
    """Write a package, whose verbs are those of its interface."""
    if verb or controller is not None:
        raise InputError(f"export: --to {to} writes a whole package; leave --verb and --controller out")
    loaded, remarks = options.load()
    warn(remarks)
    typer.echo(f"written: {loaded.export(to=to, path=out)}", err=True)


def _law(
    robot: Robot, name: str, frequency: float | None, damping: float, integral: float | None, limit: str | None
) -> JointLaw:
    """Return a control law; its goal is an argument of the C function, so any configuration will do here."""
    if name not in LAWS:
        raise InputError(f"--controller: no controller '{name}'; {alternatives(name, LAWS)}")
    if frequency is None:
        raise InputError("--controller: --frequency is required, such as --frequency 10")
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
