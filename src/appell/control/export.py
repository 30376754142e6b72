"""Laws as exported code: the tape of a law around the robot's inverse dynamics, gains and limits folded in.

What a law's function is given and gives:

    goal                     where to go, q*: of point to point, and of PD with gravity
    goal_q, goal_v, goal_a   the reference of tracking, q*, v* and a*
    dt, memory               of integral action: time since the last call, and what is remembered: z, then e
    tau                      forces within their limits; and the memory afterwards

Bad states are told by the codes of the inverse dynamics, whose results a law hands on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from appell.control.joints import n_forces, scalar_error
from appell.errors import InputError
from appell.kernels.c99 import Guard
from appell.recursion.kinematics import Scalars
from appell.robot.export import PYTHON, Source, export
from appell.robot.robot import Robot
from appell.simulate.law import ComputedTorque, Feedback, GravityPD, Integral, Law, clamped, forces
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

Array = NDArray[Any]
WITH_INTEGRAL = "tracking_with_integral"
LAWS: dict[str, type[Law]] = {
    "point_to_point": ComputedTorque,
    "tracking": ComputedTorque,
    WITH_INTEGRAL: ComputedTorque,
    "pd_gravity": GravityPD,
}
"""The equation of each law, by the name of its function."""


class Terms(NamedTuple):
    """The numbers of a law: gains, without integral action ki is None, and limits, infinite where there are none."""

    kp: Array
    kd: Array
    ki: Array | None
    limit: Array


def write_law(robot: Robot, verb: str, terms: Terms, to: str, path: str | os.PathLike[str], **options: Any) -> Path:
    """Write a law as a function named for its verb, options as of the exporter; return the path of the source file."""
    if to in PYTHON:
        raise InputError(f"export: laws are written as C, got '{to}'; export the robot's own verbs for CasADi and JAX")
    for name, x in terms._asdict().items():
        if x is not None and x.ndim > 1:
            raise InputError(f"export: {name} has shape {x.shape}; a controller has one set of gains and limits")
    name = verb if terms.ki is None else WITH_INTEGRAL
    file: Path = export(law_source(robot, name, terms), name, to, path, **options)
    return file


def law_source(robot: Robot, verb: str, terms: Terms) -> Source:
    """Return a law as an exporter sees it."""
    own = robot._source()
    rows = {name: x for name, x in terms._asdict().items() if x is not None}
    numbers = [f"  {name:<10} {', '.join(f'{x:.9g}' for x in row)}" for name, row in rows.items()]
    return replace(
        own,
        verbs=(verb,),
        framed=(),
        sizes={**own.sizes, "NM": 2 * n_forces(robot)},
        order=(*own.order, "", "Gains of the law, and limits of its forces, in the order of the forces:", *numbers),
        make=lambda verb, _: law_tape(robot, verb, terms),
    )


def law_tape(robot: Robot, verb: str, terms: Terms) -> tuple[Tape, tuple[Guard, ...]]:
    """Return the program of a law, and what tells of states that it cannot be trusted at.

    >>> import appell, numpy as np
    >>> terms = Terms(*(np.array([x, x]) for x in (9.0, 6.0)), None, np.array([5.0, np.inf]))
    >>> tape, _ = law_tape(appell.load("two-link"), "pd_gravity", terms)
    >>> [port.name for port in tape.inputs], tape.run([0.0, 0.0], [0.0, 0.0], [9.0, 0.0])[0]
    (['q', 'v', 'goal'], 5.0)
    """
    dynamics, guards = robot._source().make("inverse_dynamics", None)
    q, v = dynamics.inputs[:2]
    tau, *checks = dynamics.outputs
    n = tau.size
    inputs, outputs = [q, v, *_reference(verb, q, v)], [tau, *checks]
    still = (0.0,) * n
    if verb == WITH_INTEGRAL:
        memory = Port("memory", (2 * n,))
        inputs, outputs = [*inputs, Port("dt", ()), memory], [*outputs, memory]
    kp, kd, ki, limit = (tuple(map(float, x)) if x is not None else () for x in terms)
    equation = LAWS[verb]

    def program(q: Scalars, v: Scalars, goal_q: Scalars, *others: Scalars) -> Any:
        goal_v, goal_a, *more = others or (still, still)
        told: list[Any] = []
        force = _force(equation, dynamics, q, v, goal_a[:n], told)
        rate = tuple(goal_v[k] - v[k] for k in range(n))
        feedback = Feedback(scalar_error(robot, q, goal_q), rate, kp, kd)
        integral = Integral(ki, limit, more[1], more[0][0]) if more else None
        wanted, remembered = forces(force, feedback, integral)
        return tuple(clamped(x, most) for x, most in zip(wanted, limit, strict=True)), told, remembered

    return verify(trace(verb, program, inputs, outputs)), guards


def _reference(verb: str, q: Port, v: Port) -> list[Port]:
    if verb in ("tracking", WITH_INTEGRAL):
        return [Port("goal_q", q.shape), Port("goal_v", v.shape), Port("goal_a", v.shape)]
    return [Port("goal", q.shape)]


def _force(
    equation: type[Law], dynamics: Tape, q: Scalars, v: Scalars, goal_a: Scalars, told: list[Any]
) -> Callable[[Scalars], Scalars]:
    """Return the forces of a correction; what the dynamics tell of the state besides goes to `told`."""
    n = dynamics.outputs[0].size

    def inverse_dynamics(q: Scalars, v: Scalars, a: Scalars) -> Scalars:
        results = dynamics.run(q, v, a)
        told[:] = results[n:]
        return tuple(results[:n])

    return lambda correction: equation.torque(inverse_dynamics, q, v, goal_a, correction)
