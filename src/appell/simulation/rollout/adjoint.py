"""Gradients of rollouts: the adjoint of every step, last step first, in native code.

The adjoint (:mod:`appell.program.adjoint`) of a rollout that keeps every state reads these states backward. Only some
of them are stored (checkpoints); between two of them the forward steps are repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.kernels.runtime.stepping import run_rows, run_steps
from appell.once import once
from appell.program.adjoint import adjoint
from appell.program.nodes import Program
from appell.program.stepping import Keep, Stepping
from appell.robot.robot import Robot
from appell.simulation.rollout.ground import Contacts
from appell.simulation.rollout.scheme import ports, rollout_kernel, rollout_program
from appell.simulation.rollout.time_stepping import MEASURE, Ground
from appell.spatial.scalar import Array

PIECE = 64
"""Steps per native call where every state is stored."""


class Gradients(NamedTuple):
    """Gradients of a loss by the initial state (rows, n), the torques (rows, steps, nu) and, if given, π."""

    q0: Array
    v0: Array
    tau: Array
    parameters: Array | None


def interval(steps: int, save_every: int) -> int:
    """Return the number of steps between checkpoints: a divisor of `save_every` that minimises memory.

    >>> interval(500, 500), interval(500, 1)
    (20, 1)
    """
    divisors = [k for k in range(1, save_every + 1) if save_every % k == 0]
    return min(divisors, key=lambda k: steps // k + (k if k > 1 else 0))


def rollout_gradients(
    robot: Robot,
    method: str,
    dt: float,
    states: Sequence[Array],
    tau: Array,
    parameters: Array | None,
    by_states: tuple[Array, Array],
    found: Contacts | None = None,
) -> Gradients:
    """Return the gradients of a loss from its gradients by the stored states.

    Parameters
    ----------
    robot, method, dt
        As in the rollout.
    states
        The stored states, q (rows, n + 1, nq) and v, the initial state first, at equal intervals; with contacts also
        the other states of the program (:meth:`appell.simulation.rollout.time_stepping.Ground.ports`).
    tau
        Torques (rows, steps, nu).
    parameters
        π (rows, p), or None.
    by_states
        The gradients by q and v of these states.
    found
        The contacts of the rollout.
    """
    rows, steps, kind = tau.shape[0], tau.shape[1], tau.dtype
    every, is_parametric = steps // (states[0].shape[1] - 1), parameters is not None
    ground = None if found is None else found.ground
    frame = ports(robot, None, ground, is_parametric=is_parametric, keep=Keep.EVERY)
    numbers: dict[str, Any] = {
        "dt": np.full(rows, dt, kind),
        "parameters": parameters,
        **({} if found is None else found.numbers),
    }
    fixed = [np.broadcast_to(numbers[x.name], (rows, *x.shape)).astype(kind, copy=False) for x in frame.fixed]
    forward = rollout_kernel(robot, method, None, ground, is_parametric=is_parametric)
    backward = adjoint_kernel(robot, method, ground, is_parametric=is_parametric)
    names, carried = [port.name for port in frame.states], carried_states(frame)
    by_tau = np.empty((rows, steps, robot.nu), kind)
    by = [np.zeros_like(x[:, 0]) for x in states[: len(carried)]]
    total = None if parameters is None else np.zeros((rows, parameters.shape[1]), kind)
    piece = PIECE if every == 1 else every
    for last in range(steps, 0, -piece):
        first = max(last - piece, 0)
        start, torques = [x[:, first // every] for x in states], tau[:, first:last]
        if every == 1:
            path = [_dense(x[:, first:last]) for x in states]
        else:
            path = [x[:, :-1] for x in run_steps(forward, start, fixed, [torques], range(every + 1))[0]]
        weights = [np.zeros_like(x) for x in path[: len(carried)]]
        for weight, by_state in zip(weights, by_states, strict=False):
            if every == 1:
                weight[:] = by_state[:, first + 1 : last + 1]
            else:
                weight[:, -1] = by_state[:, last // every]
        for weight, x in zip(weights, by, strict=True):
            weight[:, -1] += x
        by = [np.empty_like(x) for x in start[: len(carried)]]
        more = [] if total is None else [np.empty_like(total)]
        known = dict(zip((*names, "tau"), (*map(_dense, start), torques), strict=True))
        known |= zip((port.name for port in frame.fixed), fixed, strict=True)
        known |= zip((f"w_{name}" for name in carried), weights, strict=True)
        known |= zip((f"kept_{name}_now" for name in names), path, strict=True)
        given = [known[port.name] for port in backward.spec.inputs]
        run_rows(backward, given, [*by, by_tau[:, first:last], *more], last - first)
        if total is not None:
            total += more[0]
    q0, v0 = (x + by_state[:, 0] for x, by_state in zip(by, by_states, strict=False))
    return Gradients(q0, v0, by_tau, total)


def carried_states(frame: Stepping) -> list[str]:
    """Return the states on which later ones depend."""
    return [port.name for port in frame.states if port.name != MEASURE]


def _dense(x: Array) -> Array:
    """Return an array with a contiguous last axis, as native code requires."""
    return x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x)


def adjoint_kernel(robot: Robot, method: str, ground: Ground | None = None, *, is_parametric: bool) -> Kernel:
    """Return the compiled adjoint of a rollout."""

    def made() -> Kernel:
        own = rollout_kernel(robot, method, None, ground, is_parametric=is_parametric).spec.fingerprint
        program = adjoint_program(robot, method, ground, is_parametric=is_parametric)
        return Kernel(ProgramSpec("rollout_adjoint", program.inputs, program.outputs, own, lambda: program))

    return once(robot, (adjoint_kernel, method, ground, is_parametric), made)


def adjoint_program(robot: Robot, method: str, ground: Ground | None = None, *, is_parametric: bool) -> Program:
    """Return the adjoint of a rollout that keeps every state, by the initial state, the torques and π."""
    forward = rollout_program(robot, method, None, ground, is_parametric=is_parametric, keep=Keep.EVERY)
    carried = carried_states(ports(robot, None, ground, is_parametric=is_parametric, keep=Keep.EVERY))
    by = (*carried, "tau", *(["parameters"] if is_parametric else []))
    return adjoint(forward, by, carried)
