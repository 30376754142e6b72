"""``appell fd``: forward dynamics."""

from __future__ import annotations

from appell.cli import samples
from appell.cli.common import AsJson, RobotOptions, with_robot_options


@with_robot_options
def command(
    options: RobotOptions,
    q: samples.Q = None,
    v: samples.V = None,
    tau: samples.Tau = None,
    source: samples.Source = None,
    out: samples.Out = None,
    as_json: AsJson = False,
) -> None:
    """Compute forward dynamics: accelerations a for joint torques τ.

    Velocities and torques default to zero.

    Files are those of appell id, with tau1 tau2 … (or tau.<joint>) instead of a; the output of appell id can be read.

    Example: appell fd puma560 -q 0,-0.5,1,0,0.3,0 --tau 0,40,0,0,0,0
    """
    samples.run(options, "forward_dynamics", {"q": q, "v": v, "tau": tau}, "a", samples.Files(source, out, as_json))
