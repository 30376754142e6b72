"""Control laws as exported code: the robot's inverse dynamics with feedback; gains and limits are constants.

Arguments and results of an exported function:

    goal                     target configuration q* (point to point, PD, PD with gravity compensation)
    goal_q, goal_v, goal_a   reference of tracking, q*, v* and a*
    dt, memory               integral action: time since the last call, and the memory: z, then e
    tau                      torques clipped to their limits; the updated memory follows

Status codes are those of the inverse dynamics.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from appell.errors import InputError
from appell.kernels.text.c99 import ErrorCode
from appell.program.nodes import Program, verify
from appell.program.record import Recorder, record
from appell.recursion.kinematics import Scalars
from appell.robot.export.text import PYTHON, Source, export, source
from appell.robot.kind import Key
from appell.robot.robot import Robot
from appell.robot.verbs.table import Size
from appell.simulation.laws.equations import EQUATIONS, Feedback, Integral, clamped, forces, traced_model
from appell.spatial.scalar import Array
from appell.trace.tape import Port

WITH_INTEGRAL = "tracking_with_integral"
SYMBOLS: dict[str, tuple[Size, ...]] = {
    **dict.fromkeys(("q", "goal", "goal_q"), ("q",)),
    **dict.fromkeys(("v", "goal_v", "goal_a"), ("v",)),
    "tau": ("u",),
    "memory": ("m",),
}
"""Sizes of arguments and results, by the letters of the table of verbs."""


class Terms(NamedTuple):
    """Gains and torque limits of a control law: ki is None without integral action, limits may be infinite."""

    kp: Array
    kd: Array
    ki: Array | None
    limit: Array

    def constants(self) -> dict[str, tuple[float, ...]]:
        """Return one number per torque each, for code in which they are constants."""
        found = {name: x for name, x in self._asdict().items() if x is not None}
        for name, x in found.items():
            if x.ndim > 1:
                raise InputError(
                    f"export: {name} has shape {x.shape}; use one set of gains and limits, without leading axes"
                )
        return {name: tuple(map(float, x)) for name, x in found.items()}

    def remarks(self) -> list[str]:
        """Return lines that list the numbers."""
        rows = [f"  {name:<10} {', '.join(f'{x:.9g}' for x in row)}" for name, row in self.constants().items()]
        return ["", "Gains and torque limits of the control law, in the order of the torques:", *rows]


def write_law(
    robot: Robot, equation: str, verb: str, terms: Terms, to: str, path: str | os.PathLike[str], **options: Any
) -> Path:
    """Write a control law as a function named for its verb; return the path of the source file."""
    if to in PYTHON:
        raise InputError(
            f"export: control laws are exported to C only, got '{to}'; export the robot's verbs for CasADi and JAX"
        )
    name = verb if terms.ki is None else WITH_INTEGRAL
    file: Path = export(law_source(robot, equation, terms), [Key(name)], to, path, **options)
    return file


def law_source(robot: Robot, equation: str, terms: Terms) -> Source:
    """Return the exporter's source of a control law."""
    own = source(robot.kind)
    return replace(
        own,
        sizes={**own.sizes, "m": 2 * robot.nu},
        symbols=lambda _: SYMBOLS,
        order=(*own.order, *terms.remarks()),
        make=lambda key, _: law_program(robot, equation, key.verb, terms),
    )


def law_program(robot: Robot, equation: str, verb: str, terms: Terms) -> tuple[Program, tuple[ErrorCode, ...]]:
    """Return the program of a control law, and its status codes for singular states.

    >>> import appell, numpy as np
    >>> from appell.program.run import run
    >>> terms = Terms(*(np.array([x, x]) for x in (9.0, 6.0)), None, np.array([5.0, np.inf]))
    >>> program, _ = law_program(appell.load("two-link"), "pd_gravity", "pd_gravity", terms)
    >>> [port.name for port in program.inputs], run(program, [0.0, 0.0], [0.0, 0.0], [9.0, 0.0])[0]
    (['q', 'v', 'goal'], 5.0)
    """
    program = robot.program("inverse_dynamics")
    (q, v, _), (tau, *checks), n = program.spec.inputs, program.spec.outputs, robot.nu
    guards = tuple(guard.code for guard in program.guards)
    if equation == "pd":  # computes no dynamics, so there are no guards
        checks, guards = [], ()
    inputs, outputs = [q, v, *_reference(verb, q, v)], [tau, *checks]
    still = (0.0,) * robot.nv
    if verb == WITH_INTEGRAL:
        memory = Port("memory", (2 * n,))
        inputs, outputs = [*inputs, Port("dt", ()), memory], [*outputs, memory]
    gains = terms.constants()
    limit = gains["limit"]
    error = robot.tape("tracking_error")

    def law(call: Recorder, q: Scalars, v: Scalars, goal_q: Scalars, *others: Scalars) -> Any:
        goal_v, goal_a, *more = others or (still, still)
        values: list[Any] = []
        model = traced_model(call, robot, q, values)
        rate = tuple(goal_v[k] - v[k] for k in range(n))
        feedback = Feedback(tuple(error.run(q, goal_q)), rate, gains["kp"], gains["kd"])
        integral = Integral(gains["ki"], limit, more[1], more[0][0]) if more else None
        wanted, memory = forces(lambda x: EQUATIONS[equation](model, v, goal_a[:n], x), feedback, integral)
        return tuple(map(clamped, wanted, limit)), values, memory

    return verify(record(verb, law, inputs, outputs)), guards


def _reference(verb: str, q: Port, v: Port) -> list[Port]:
    if verb in ("tracking", WITH_INTEGRAL):
        return [Port("goal_q", q.shape), Port("goal_v", v.shape), Port("goal_a", v.shape)]
    return [Port("goal", q.shape)]
