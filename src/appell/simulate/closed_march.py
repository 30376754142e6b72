"""Marches of closed robots: the field in independent velocities, and after every step one of Newton's to closed loops.

A state is the tree's q and the independent v. Velocities cannot drift off the loops, since the tree's follow from v;
coordinates drift by the method's error, and what one step leaves open the Newton step that ends it squares away. The
independent coordinates stay as they came, so that the order of the method does too.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from appell.errors import AppellWarning
from appell.kernels.march import WEIGHTS, March, Part
from appell.kernels.marcher import Marcher, Route
from appell.loops.closed_robot import ClosedRobot
from appell.model.build import listed
from appell.recursion.kinematics import Scalars
from appell.recursion.rates import coordinate_rates
from appell.simulate.scheme import RUNGE_KUTTA, Ports, runge_kutta
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

Array = NDArray[Any]

NEAR = 1e-3
"""Determinant, about 1 at usual configurations, below which a state is at a singularity."""


@functools.lru_cache(maxsize=64)
def closed_marcher(robot: ClosedRobot, method: str) -> Marcher:
    """Return the compiled march of a closed robot under given actuator forces."""
    fingerprint = robot.recipe("motion").fingerprint + method
    return Marcher(Route("closed_rollout", fingerprint, lambda: closed_march(robot, method)))


def closed_march(robot: ClosedRobot, method: str) -> March:
    """Return the march of a closed robot."""
    q, v, tau = Port("q", (robot.nq,)), Port("v", (robot.nv,)), Port("tau", (len(robot.actuators),))
    ports = Ports(q, v, tau)
    moves = (
        _euler(robot, ports)
        if method == "euler"
        else runge_kutta(_field(robot, ports), ports, len(RUNGE_KUTTA[method]))
    )
    return March("closed_rollout", states=(q, v), fixed=(), drives=(tau,), finish=_closing(robot, q), **moves)


def _field(robot: ClosedRobot, ports: Ports) -> Tape:
    """Return q̇ and a of a state, without what the robot's own program says of its pivots."""
    motion = robot.tape("motion")

    def program(*arguments: Scalars) -> Any:
        return motion.run(*arguments)[: robot.nq + robot.nv]

    return verify(trace("field", program, ports, (Port("rate", ports.q.shape), Port("a", ports.v.shape))))


def _euler(robot: ClosedRobot, ports: Ports) -> dict[str, Any]:
    """Return the semi-implicit method: v moves first, and q with the new v."""
    motion, expand, model = robot.tape("motion"), robot.tape("expand"), robot.model
    q, v, tau = ports

    def stage(q: Scalars, place: Scalars, v: Scalars, tau: Scalars, weight: Scalars) -> Any:
        (dt,) = weight
        faster = tuple(x + dt * a for x, a in zip(v, motion.run(q, v, tau)[robot.nq : -1], strict=True))
        rates = coordinate_rates(model, q, tuple(expand.run(q, faster)[:-1]))
        return tuple(x + dt * rate for x, rate in zip(place, rates, strict=True)), faster

    # q twice: as angles, which may be reduced by whole turns, and as numbers, which may not
    inputs = (q, Port("place", q.shape), v, tau, Port(WEIGHTS, (1,)))
    tape = verify(trace("stage", stage, inputs, (q, v)))
    return {"scratch": (), "stage": Part(tape, ("q", "q", "v", "tau", WEIGHTS), ("q", "v")), "stages": 1}


def _closing(robot: ClosedRobot, q: Port) -> Part:
    """Return the Newton step that ends a step; it normalises quaternions too."""
    step = robot.tape("closing_step")
    tape = verify(trace("finish", lambda x: step.run(x)[: robot.nq], (q,), (q,)))
    return Part(tape, ("q",), ("q",))


def report_singular(robot: ClosedRobot, q: Array) -> None:
    """Warn where robots (n, steps, nq) have come to a singularity of their coordinates, or gone through one.

    The determinant of the equations for the dependent velocities changes its sign there.
    """
    determinant = robot.kernel("regularity")(q)[..., 0]
    with np.errstate(invalid="ignore"):
        beyond = np.isfinite(determinant) & ~(determinant * np.sign(determinant[:, :1]) > NEAR)
    if beyond.any():
        row, step = map(int, np.argwhere(beyond)[0])
        warnings.warn(
            f"rollout: {np.count_nonzero(beyond.any(axis=-1))} of {len(q)} robots '{robot.name}' have come to a "
            f"singularity of their coordinates {listed(robot.independent)}, or gone through it, the first (robot "
            f"{row}) before the {step}th state kept, and move wrongly from there; choose others with "
            "robot.with_independent, or use appell.simulate",
            AppellWarning,
            stacklevel=3,
        )
