"""``appell id``: inverse dynamics."""

from __future__ import annotations

from appell.cli import samples
from appell.cli.common import AsJson, RobotOptions, with_robot_options


@with_robot_options
def command(
    options: RobotOptions,
    q: samples.Q = None,
    v: samples.V = None,
    a: samples.A = None,
    source: samples.Source = None,
    out: samples.Out = None,
    as_json: AsJson = False,
) -> None:
    """Compute inverse dynamics: joint torques τ for accelerations a.

    Velocities and accelerations default to zero.

    A .csv file of many samples has the columns q1 q2 … (or q.<joint>), v1 …, a1 … and optionally t; an .npz file has
    arrays q, v, a, t with one row per sample. The results have the same columns, and tau.

    Example: appell id puma560 -q 0,-0.5,1,0,0.3,0 -v 0.1,0,0,0,0,0
    """
    samples.run(options, "inverse_dynamics", {"q": q, "v": v, "a": a}, "tau", samples.Files(source, out, as_json))
