"""Gradients of rollouts: the adjoint of every step, last step first, in native code.

A step y' = f(y, τ, π) maps the gradient λ' of a loss by y' to (∂f/∂y)ᵀλ', its contribution to the gradient by y, to
(∂f/∂τ)ᵀλ' and to (∂f/∂π)ᵀλ'. The adjoint of f (:mod:`appell.trace.adjoint`) is therefore itself the step of a rollout
with the state λ, driven by the states of the forward rollout. Only some of these are stored (checkpoints); between two
of them the forward steps are repeated.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from appell.kernels.llvm.rollout_ir import WEIGHTS, Part, RolloutIR
from appell.kernels.runtime.rollout_kernel import RolloutKernel, RolloutSpec
from appell.once import once
from appell.recursion.kinematics import Scalars
from appell.robot.robot import Robot
from appell.simulation.rollout.scheme import rollout_ir, rollout_kernel, weights
from appell.spatial.scalar import Array
from appell.trace.adjoint import adjoint
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

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
    states: tuple[Array, Array],
    tau: Array,
    parameters: Array | None,
    by_states: tuple[Array, Array],
) -> Gradients:
    """Return the gradients of a loss from its gradients by the stored states.

    Parameters
    ----------
    robot, method, dt
        As in the rollout.
    states
        The stored states, q (rows, n + 1, nq) and v, the initial state first, at equal intervals.
    tau
        Torques (rows, steps, nu).
    parameters
        π (rows, p), or None.
    by_states
        The gradients by these states, of the same shapes.
    """
    rows, steps, kind = tau.shape[0], tau.shape[1], tau.dtype
    every = steps // (states[0].shape[1] - 1)
    given = () if parameters is None else (parameters,)
    forward = rollout_kernel(robot, method, None, is_parametric=bool(given))
    backward = adjoint_kernel(robot, method, is_parametric=bool(given))
    numbers = weights(method, dt)
    table = numbers.reshape(1, -1)
    by_tau = np.empty((rows, steps, robot.nu), kind)
    now = [x[:, -1].copy() for x in by_states]
    now += [np.zeros((rows, robot.nu), kind), *(np.zeros_like(x) for x in given)]
    piece = PIECE if every == 1 else every
    for last in range(steps, 0, -piece):
        first = max(last - piece, 0)
        if every == 1:
            path = [x[:, first:last] for x in states]
            pushes = [x[:, first:last] for x in by_states]
        else:
            start = [x[:, first // every] for x in states]
            path = [x[:, :-1] for x in forward(start, given, [tau[:, first:last]], numbers, range(every + 1))[0]]
            pushes = [np.broadcast_to(np.zeros((), kind), x.shape) for x in path]
        drives = [x[:, ::-1] for x in (*path, tau[:, first:last], *map(_dense, pushes))]
        found = backward(now, given, drives, table, range(last - first + 1))[0]
        by_tau[:, first:last] = found[2][:, :0:-1]
        now = [x[:, -1].copy() for x in found]
        if every > 1:
            for k, by_state in enumerate(by_states):
                now[k] += by_state[:, first // every]
    return Gradients(now[0], now[1], by_tau, now[3] if given else None)


def _dense(x: Array) -> Array:
    """Return an array with a contiguous last axis, as native code requires."""
    return x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x)


def adjoint_kernel(robot: Robot, method: str, *, is_parametric: bool) -> RolloutKernel:
    """Return the compiled adjoint of a rollout."""

    def made() -> RolloutKernel:
        own = rollout_kernel(robot, method, None, is_parametric=is_parametric).spec.fingerprint
        make = functools.partial(adjoint_ir, robot, method, is_parametric=is_parametric)
        return RolloutKernel(RolloutSpec("rollout adjoint", own, make))

    return once(robot, (adjoint_kernel, method, is_parametric), made)


def adjoint_ir(robot: Robot, method: str, *, is_parametric: bool) -> RolloutIR:
    """Return the program of the adjoint: states λ of q, v, τ and Σ λ of π; drives q, v, τ and gradients by q and v."""
    forward = rollout_ir(robot, method, None, is_parametric=is_parametric)
    q, v = forward.states
    (tau,), fixed = forward.drives, forward.fixed
    back = adjoint(step_tape(forward), 2)  # of q, v, τ, the weights, π where they are given, λ_q and λ_v
    states = tuple(Port(f"l_{port.name}", port.shape) for port in (q, v, tau, *fixed))
    pushes, n = (Port("g_q", q.shape), Port("g_v", v.shape)), len(back.inputs)

    def stage(*given: Scalars) -> Any:
        found = iter(back.run(*given[:n]))
        by_q, by_v, by_tau, _, *by_fixed = ([next(found) for _ in range(port.size)] for port in back.outputs)
        pairs = zip((by_q, by_v, *by_fixed), given[n:], strict=True)
        by_q, by_v, *sums = ([x + y for x, y in zip(*pair, strict=True)] for pair in pairs)
        return by_q, by_v, by_tau, sums

    inputs = (*back.inputs, *pushes, *states[3:])
    reads = (q.name, v.name, tau.name, WEIGHTS, *(port.name for port in (*fixed, *states[:2], *pushes, *states[3:])))
    return RolloutIR(
        "rollout adjoint",
        states=states,
        fixed=fixed,
        drives=(q, v, tau, *pushes),
        scratch=(),
        stage=Part(verify(trace("stage", stage, inputs, states)), reads, tuple(port.name for port in states)),
        stages=1,
    )


def step_tape(rollout: RolloutIR) -> Tape:
    """Return one step of a rollout without control law as one tape of its states, drives, weights and fixed inputs."""
    rows = next(port for port in rollout.stage.tape.inputs if port.name == WEIGHTS)
    numbers = Port(WEIGHTS, (rollout.stages * rows.size,))
    inputs = (*rollout.states, *rollout.drives, numbers, *rollout.fixed)

    def step(*given: Scalars) -> Any:
        slots = {port.name: x for port, x in zip(inputs, given, strict=True)}
        all_weights = slots[WEIGHTS]
        sizes = {port.name: port.size for port in rollout.scratch}
        for slot, source in rollout.starts:
            slots[slot] = slots[source] if source else (0.0,) * sizes[slot]
        for k in range(rollout.stages):
            slots[WEIGHTS] = all_weights[k * rows.size : (k + 1) * rows.size]
            _run(rollout.stage, slots)
        if rollout.finish is not None:
            _run(rollout.finish, slots)
        return [slots[port.name] for port in rollout.states]

    return trace("step", step, inputs, rollout.states)


def _run(part: Part, slots: dict[str, Scalars]) -> None:
    """Run a part on its slots."""
    found = iter(part.tape.run(*(slots[name] for name in part.reads)))
    for port, slot in zip(part.tape.outputs, part.writes, strict=True):
        slots[slot] = tuple(next(found) for _ in range(port.size))
