"""Fixed-step methods of rollouts: the tape of one stage, and the weights of the stages.

A Runge–Kutta method whose stages depend only on the previous one is one traced stage and a table of weights. With k the
vector field at the stage's state y, a row of weights (share, ahead, total) times dt gives

    Δ ← Δ + share·k,    y ← y₀ + ahead·k + total·Δ,

so that the last row, (share, 0, 1), ends the step. The semi-implicit Euler method moves v first and q with the new v.
Quaternions are normalised after every step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from appell.kernels.llvm.rollout_ir import WEIGHTS, Bound, Part, RolloutIR
from appell.kernels.runtime.rollout_kernel import RolloutKernel, RolloutSpec
from appell.once import once
from appell.recursion.kinematics import Scalars
from appell.robot.robot import Robot
from appell.robot.steps import RUNGE_KUTTA
from appell.simulation.laws.equations import EQUATIONS, Feedback, Integral, forces, traced_model
from appell.simulation.laws.joint_laws import JointLaw
from appell.spatial.scalar import Array
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

METHODS = ("euler", *RUNGE_KUTTA)


def weights(method: str, dt: float) -> Array:
    """Return the weights of each stage for a step dt."""
    if method == "euler":
        return np.array([[dt]])
    return np.array([(dt * share, dt * ahead, total) for share, ahead, total in RUNGE_KUTTA[method]])


class Ports(NamedTuple):
    """The inputs of every rollout of a robot; `parameters` where each robot has its own."""

    q: Port
    v: Port
    tau: Port
    parameters: tuple[Port, ...] = ()


class Driver(NamedTuple):
    """The control law of a rollout: its robot model, its equation, and whether it has integral action."""

    robot: Robot
    equation: str
    is_integral: bool

    @classmethod
    def of(cls, law: JointLaw) -> Driver:
        """Return the parts of a control law that determine the program of a rollout."""
        return cls(law.robot, law.equation, law.ki is not None)


def rollout_kernel(robot: Robot, method: str, law: Driver | None, *, is_parametric: bool = False) -> RolloutKernel:
    """Return the compiled rollout of a robot for a method and a control law.

    With integral action the memory is appended to the state, and the time since the last sample to the drives.
    """

    def made() -> RolloutKernel:
        own = robot.program("motion", parametric=is_parametric).spec.fingerprint
        theirs = law and (law.robot.program("inverse_dynamics").spec.fingerprint, law.equation, law.is_integral)
        make = functools.partial(rollout_ir, robot, method, law, is_parametric=is_parametric)
        return RolloutKernel(RolloutSpec("rollout", repr((own, theirs, method)), make))

    return once(robot, (rollout_kernel, method, law, is_parametric), made)


def rollout_ir(robot: Robot, method: str, law: Driver | None, *, is_parametric: bool = False) -> RolloutIR:
    """Return the program of a rollout."""
    parameters = (Port("parameters", (robot.parameters.size,)),) if is_parametric else ()
    ports = Ports(Port("q", (robot.nq,)), Port("v", (robot.nv,)), Port("tau", (robot.nu,)), parameters)
    q, v, tau, _ = ports
    gains = tuple(Port(name, tau.shape) for name in ("kp", "kd", "limit"))
    goals = Port("goal_q", q.shape), Port("goal_v", v.shape), Port("goal_a", v.shape)
    memory, more, elapsed = _memory(ports) if law and law.is_integral else ((), (), ())
    return RolloutIR(
        "rollout",
        states=(q, v, *memory),
        fixed=(*parameters, *((*gains, *more) if law else ())),
        drives=(tau, *goals, *elapsed) if law else (tau,),
        law=_law(law, ports) if law else None,
        bounds=(Bound("tau", "limit"),) if law else (),
        finish=_finish(robot, q),
        **(_euler(robot, ports) if method == "euler" else _runge_kutta(robot, ports, len(RUNGE_KUTTA[method]))),
    )


def _runge_kutta(robot: Robot, ports: Ports, stages: int) -> dict[str, Any]:
    """Return the parts of a Runge–Kutta rollout of q̇ and a."""
    field, n = robot.tape("motion", parametric=bool(ports.parameters)), robot.nq + robot.nv
    q, v, tau, parameters = ports
    scratch = Port("q0", q.shape), Port("v0", v.shape), Port("dq", q.shape), Port("dv", v.shape)

    def stage(q: Scalars, v: Scalars, tau: Scalars, *others: Scalars) -> Any:
        q0, v0, dq, dv, (share, ahead, total), *pi = others
        k = field.run(q, v, tau, *pi)[:n]
        summed = [d + share * x for d, x in zip((*dq, *dv), k, strict=True)]
        moved = [y + ahead * x + total * d for y, x, d in zip((*q0, *v0), k, summed, strict=True)]
        return moved, summed

    inputs = (q, v, tau, *scratch, Port(WEIGHTS, (3,)), *parameters)
    outputs = (q, v, *scratch[2:])
    names = tuple(port.name for port in outputs)
    part = Part(_tape("stage", stage, inputs, outputs), tuple(port.name for port in inputs), names)
    return {
        "scratch": scratch,
        "stage": part,
        "stages": stages,
        "starts": (("q0", "q"), ("v0", "v"), ("dq", ""), ("dv", "")),
    }


def _euler(robot: Robot, ports: Ports) -> dict[str, Any]:
    """Return the parts of the semi-implicit Euler method: v first, then q with the new v."""
    dynamics = robot.tape("forward_dynamics", parametric=bool(ports.parameters))
    rates = robot.tape("coordinate_rates")
    q, v, tau, parameters = ports

    def stage(q: Scalars, place: Scalars, v: Scalars, tau: Scalars, weight: Scalars, *pi: Scalars) -> Any:
        (dt,) = weight
        faster = tuple(x + dt * a for x, a in zip(v, dynamics.run(q, v, tau, *pi)[: robot.nv], strict=True))
        moving = rates.run(q, faster)[: robot.nq]
        return tuple(x + dt * rate for x, rate in zip(place, moving, strict=True)), faster

    # q twice: as angles, which may be reduced modulo 2π, and as numbers, which may not
    inputs = (q, Port("place", q.shape), v, tau, Port(WEIGHTS, (1,)), *parameters)
    reads = ("q", "q", "v", "tau", WEIGHTS, *(port.name for port in parameters))
    return {"scratch": (), "stage": Part(_tape("stage", stage, inputs, (q, v)), reads, ("q", "v")), "stages": 1}


def _memory(ports: Ports) -> tuple[tuple[Port, ...], tuple[Port, ...], tuple[Port, ...]]:
    """Return the additions of integral action to the state, to the gains and to the drives."""
    n = ports.tau.size
    return (Port("memory", (2 * n,)),), (Port("ki", (n,)),), (Port("elapsed", (1,)),)


def _law(law: Driver, ports: Ports) -> Part:
    """Return the part that adds the control law's torques, sampled at the start of a step, to the given ones."""
    q, v, tau, _ = ports
    error, equation, n = law.robot.tape("tracking_error"), EQUATIONS[law.equation], tau.size

    def torque(q: Scalars, place: Scalars, v: Scalars, tau: Scalars, *others: Scalars) -> Any:
        kp, kd, goal_q, goal_v, goal_a, *more = others
        model = traced_model(law.robot, q)

        def force(correction: Scalars) -> Scalars:
            return tuple(x + y for x, y in zip(tau, equation(model, v, goal_a[:n], correction), strict=True))

        rate = tuple(goal_v[k] - v[k] for k in range(n))
        feedback = Feedback(tuple(error.run(place, goal_q)), rate, kp, kd)
        return forces(force, feedback, Integral(*more[:3], *more[3]) if more else None)

    numbers = [Port(name, tau.shape) for name in ("kp", "kd")]
    goals = [Port("goal_q", q.shape), Port("goal_v", v.shape), Port("goal_a", v.shape)]
    memory, ki, elapsed = _memory(ports) if law.is_integral else ((), (), ())
    more = (*ki, Port("limit", tau.shape), *memory, *elapsed) if law.is_integral else ()
    inputs = (q, Port("place", q.shape), v, tau, *numbers, *goals, *more)
    reads = ("q", *("q" if port.name == "place" else port.name for port in inputs[1:]))
    outputs = (tau, *memory)
    return Part(_tape("law", torque, inputs, outputs), reads, tuple(port.name for port in outputs))


def _finish(robot: Robot, q: Port) -> Part | None:
    """Return the part that ends a step, if any: quaternion normalisation, and a Newton step to closed loops."""
    tape = robot.tape("finished_step")
    return Part(tape, ("q",), ("q",)) if tape.steps else None


def _tape(name: str, program: Callable[..., Any], inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Tape:
    return verify(trace(name, program, inputs, outputs))
