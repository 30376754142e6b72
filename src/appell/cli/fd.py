"""``appell fd``: forward dynamics."""

from __future__ import annotations

from appell.cli import samples
from appell.cli.common import AsJson, Floating, Gravity, Loops, Mimic, NoFriction, RobotName


def command(  # noqa: PLR0913, PLR0917  # a command has as many arguments as options
    robot: RobotName,
    q: samples.Q = None,
    v: samples.V = None,
    tau: samples.Tau = None,
    source: samples.Source = None,
    out: samples.Out = None,
    floating: Floating = False,
    mimic: Mimic = False,
    no_friction: NoFriction = False,
    gravity: Gravity = None,
    as_json: AsJson = False,
    loops: Loops = None,
) -> None:
    """Compute forward dynamics: accelerations a under joint forces τ.

    The robot is at q with velocities v; velocities and forces left out are zero.

    Files are those of appell id, with tau1 tau2 … (or tau.<joint>) in place of a; what appell id writes can be read.

    Example: appell fd puma560 -q 0,-0.5,1,0,0.3,0 --tau 0,40,0,0,0,0
    """
    samples.run(
        robot,
        "forward_dynamics",
        {"q": q, "v": v, "tau": tau},
        "a",
        samples.Choice(source, out, no_friction, gravity, as_json, floating, mimic, loops),
    )
