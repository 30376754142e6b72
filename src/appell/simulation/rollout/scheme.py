"""Fixed-step methods of rollouts, as programs.

A Runge–Kutta method whose stages depend only on the previous one is a loop over its stages, each with a row of numbers.
With k the vector field at the stage's state y, a row (share, ahead, total) gives

    Δ ← Δ + share·h·k,    y ← y₀ + ahead·h·k + total·Δ,

so that the last row, (share, 0, 1), ends the step. The semi-implicit Euler method moves v first and q with the new v.
Quaternions are normalised after every step.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from appell.kernels.runtime.kernel import Kernel
from appell.kernels.runtime.program_spec import ProgramSpec
from appell.model.parameters import velocity_names
from appell.once import once
from appell.program.nodes import Copy, Loop, Program
from appell.program.record import Recorder
from appell.program.stepping import Fragment, Keep, Stepping, now, part
from appell.recursion.kinematics import Scalars
from appell.robot.robot import Robot
from appell.robot.verbs.steps import RUNGE_KUTTA
from appell.simulation.laws.equations import EQUATIONS, Feedback, Integral, clamped, forces, freed, traced_model
from appell.simulation.laws.export import Terms
from appell.simulation.laws.joint_laws import JointLaw
from appell.simulation.rollout.time_stepping import Ground, stepper
from appell.trace.tape import Port

METHODS = ("euler", *RUNGE_KUTTA)
STAGE = "stage"
"""The axis of the stages of a step."""
DT = Port("dt", ())
_IMPLICIT = "implicit"
"""The slot with what implicit feedback adds to the mass matrix, one number per motor."""


class Driver(NamedTuple):
    """The control law of a rollout: its robot model, its equation, and whether it has integral action.

    `terms` are its gains and torque limits where they are constants of the program, and None where they are arguments;
    a law without a trajectory then has one goal.
    """

    robot: Robot
    equation: str
    is_integral: bool
    terms: Terms | None = None
    has_trajectory: bool = True

    @classmethod
    def of(cls, law: JointLaw) -> Driver:
        """Return the parts of a control law that determine the program of a rollout."""
        return cls(law.robot, law.equation, law.ki is not None)

    @property
    def is_implicit(self) -> bool:
        """Return whether time stepping takes its feedback at the end of a step: one of joint errors, on the motors."""
        names, robot = velocity_names(self.robot.model), self.robot
        driven = [names[k] for k in robot.facts.actuated]
        return self.equation in ("pd", "pd_gravity") and robot.independent[: robot.nu] == driven


def ports(
    robot: Robot, law: Driver | None, ground: Ground | None = None, *, is_parametric: bool, keep: Keep
) -> Stepping:
    """Return the arguments of a rollout. The memory of integral action is a state, as are impulses."""
    q, v, n = Port("q", (robot.nq,)), Port("v", (robot.nv,)), robot.nu
    states: tuple[Port, ...] = (q, v)
    drives: tuple[Port, ...] = (Port("tau", (n,)),)
    fixed = (DT, *((Port("parameters", (robot.parameters.size,)),) if is_parametric else ()))
    if ground is not None:
        own = ground.ports(robot, is_parametric=is_parametric)
        states, fixed = (*states, *own.states), (*fixed, *own.fixed)
    if law is None:
        return Stepping("rollout", states, fixed, drives, keep)
    if law.terms is None:
        fixed += tuple(Port(name, (n,)) for name in ("kp", "kd", "limit", *(["ki"] if law.is_integral else [])))
    if law.has_trajectory:
        drives += Port("goal_q", q.shape), Port("goal_v", v.shape), Port("goal_a", v.shape)
    else:
        fixed += (Port("goal", q.shape),)
    if law.is_integral:
        states += (Port("memory", (2 * n + 1,)),)
    return Stepping("rollout", states, fixed, drives, keep)


def rollout_kernel(
    robot: Robot, method: str, law: Driver | None, ground: Ground | None = None, *, is_parametric: bool = False
) -> Kernel:
    """Return the compiled rollout of a robot for a method, a control law, and what it may touch."""

    def made() -> Kernel:
        own = robot.program("motion", parametric=is_parametric).spec.fingerprint
        theirs = law and (law.robot.program("inverse_dynamics").spec.fingerprint, law.equation, law.is_integral)
        frame = ports(robot, law, ground, is_parametric=is_parametric, keep=Keep.INTERVALS)
        make = functools.partial(rollout_program, robot, method, law, ground, is_parametric=is_parametric)
        text = repr((own, theirs, method, *(() if ground is None else (ground.fingerprint,))))
        return Kernel(ProgramSpec(frame.name, frame.inputs, frame.outputs, text, make))

    return once(robot, (rollout_kernel, method, law, ground, is_parametric), made)


def rollout_program(
    robot: Robot,
    method: str,
    law: Driver | None,
    ground: Ground | None = None,
    *,
    is_parametric: bool = False,
    keep: Keep = Keep.INTERVALS,
) -> Program:
    """Return the program of a rollout."""
    frame = ports(robot, law, ground, is_parametric=is_parametric, keep=keep)
    torques = (Port("tau", (robot.nu,)), now("tau") if law else "tau")
    parameters = [(port, port.name) for port in frame.fixed if port.name == "parameters"]
    is_implicit = ground is not None and law is not None and law.is_implicit
    if ground is not None:
        step = _time_stepping(robot, ground, torques, parameters, is_implicit=is_implicit)
    else:
        step = (_euler if method == "euler" else functools.partial(_runge_kutta, method))(robot, torques, parameters)
    return frame.program((_law(law, frame, is_implicit=is_implicit) if law else Fragment()) + step + _finish(robot))


Bound = tuple[Port, str]
"""A port of a part, and the memory that it stands for."""


def _runge_kutta(method: str, robot: Robot, torques: Bound, parameters: list[Bound]) -> Fragment:
    """Return a step of a Runge–Kutta method along q̇ and a."""
    field = robot.program("motion", parametric=bool(parameters)).spec.program()
    q, v = Port("q", (robot.nq,)), Port("v", (robot.nv,))
    held = [Port(name, port.shape) for name, port in (("q0", q), ("v0", v), ("dq", q), ("dv", v))]

    def stage(call: Recorder, q: Scalars, v: Scalars, tau: Scalars, *others: Scalars) -> Any:
        q0, v0, dq, dv, (dt,), (share, ahead, total), *pi = others
        rate, a, *_ = call(field, q, v, tau, *pi)
        k = [dt * x for x in (*rate, *a)]
        summed = [d + share * x for d, x in zip((*dq, *dv), k, strict=True)]
        return [y + ahead * x + total * d for y, x, d in zip((*q0, *v0), k, summed, strict=True)], summed

    state, row = [(q, now("q")), (v, now("v"))], (Port("row", (3,)), STAGE)
    own = [(port, port.name) for port in held]
    made = part(STAGE, stage, [*state, torques, *own, (DT, DT.name), row, *parameters], [*state, *own[2:]])
    begin = (Copy(now("q"), "q0"), Copy(now("v"), "v0"), Copy("", "dq"), Copy("", "dv"))
    return Fragment((*begin, Loop(STAGE, made.nodes, rows=RUNGE_KUTTA[method])), (*held, *made.slots))


def _euler(robot: Robot, torques: Bound, parameters: list[Bound]) -> Fragment:
    """Return a step of the semi-implicit Euler method: v first, then q with the new v."""
    dynamics = robot.program("forward_dynamics", parametric=bool(parameters)).spec.program()
    rates = robot.program("coordinate_rates").spec.program()
    q, v = Port("q", (robot.nq,)), Port("v", (robot.nv,))

    def step(call: Recorder, q: Scalars, place: Scalars, v: Scalars, tau: Scalars, dt: Scalars, *pi: Scalars) -> Any:
        (h,) = dt
        faster = tuple(x + h * a for x, a in zip(v, call(dynamics, q, v, tau, *pi)[0], strict=True))
        moving = call(rates, q, faster)[0]
        return tuple(x + h * rate for x, rate in zip(place, moving, strict=True)), faster

    # q twice: as angles, which may be reduced modulo 2π, and as numbers, which may not
    place, state = (Port("place", q.shape), now("q")), [(q, now("q")), (v, now("v"))]
    return part("euler", step, [state[0], place, state[1], torques, (DT, DT.name), *parameters], state)


def _time_stepping(
    robot: Robot, ground: Ground, torques: Bound, parameters: list[Bound], *, is_implicit: bool
) -> Fragment:
    """Return a step of Moreau–Jean time stepping."""
    own = ground.ports(robot, is_parametric=bool(parameters))
    q, v, *carried = ((port, now(port.name)) for port in (Port("q", (robot.nq,)), Port("v", (robot.nv,)), *own.states))
    place = Port("place", q[0].shape), q[1]
    fixed = [(port, port.name) for port in (DT, *own.fixed)]
    implicit = [(Port(_IMPLICIT, (robot.nu,)), _IMPLICIT)] if is_implicit else []
    inputs = [q, place, v, torques, *fixed, *carried, *implicit, *parameters]
    step = stepper(robot, ground, [port.name for port, _ in inputs], is_parametric=bool(parameters))
    return part("stepping", step, inputs, [q, v, *carried])


def _law(law: Driver, frame: Stepping, *, is_implicit: bool = False) -> Fragment:
    """Return the part that adds the control law's torques, sampled at the start of a step, to the given ones.

    The memory of integral action ends with the time since the last sample, 0 before the first. Implicit feedback is
    that of the error at the end of the step, kp·(e + h·ė) + kd·ė, of which h·(kd + h·kp) times the change of v remains
    to be added: a slot has this factor, zero where the motor is at its limit.
    """
    error, equation = law.robot.program("tracking_error").spec.program(), EQUATIONS[law.equation]
    tau, n, still = frame.drives[0], law.robot.nu, (0.0,) * law.robot.nv
    constants = {} if law.terms is None else law.terms.constants()
    own = {"dt", "kp", "kd", "ki", "limit", "goal"}
    names = [x.name for x in (*frame.fixed, *frame.drives[1:]) if x.name in own or x in frame.drives]

    def torque(call: Recorder, q: Scalars, place: Scalars, v: Scalars, tau: Scalars, *others: Scalars) -> Any:
        given = {"goal_v": still, "goal_a": still, **constants, **dict(zip(names, others, strict=False))}
        goal = given["goal_q" if law.has_trajectory else "goal"]
        model = traced_model(call, law.robot, q)

        def force(correction: Scalars) -> Scalars:
            return tuple(x + y for x, y in zip(tau, equation(model, v, given["goal_a"][:n], correction), strict=True))

        rate = tuple(given["goal_v"][k] - v[k] for k in range(n))
        kd = given["kd"]
        if is_implicit:
            (h,) = given["dt"]
            kd = tuple(y + h * x for x, y in zip(given["kp"], kd, strict=True))
        feedback = Feedback(tuple(call(error, place, goal)[0]), rate, given["kp"], kd)
        integral = Integral(given["ki"], given["limit"], others[-1][:-1], others[-1][-1]) if law.is_integral else None
        wanted, memory = forces(force, feedback, integral)
        found = [tuple(map(clamped, wanted, given["limit"])), (*memory, *(given["dt"] if law.is_integral else ()))]
        if is_implicit:
            found.append(tuple(freed(x, most, h * k) for x, most, k in zip(wanted, given["limit"], kd, strict=True)))
        return found

    known = {port.name: port for port in (*frame.fixed, *frame.drives)}
    q, v, *others = ((port, now(port.name)) for port in frame.states)
    memory = [x for x in others if x[0].name == "memory"]
    place = Port("place", q[0].shape), q[1]
    inputs = [q, place, v, (tau, tau.name), *((known[name], name) for name in names), *memory]
    stiffness = [(Port(_IMPLICIT, tau.shape), _IMPLICIT)] if is_implicit else []
    made = part("law", torque, inputs, [(tau, now(tau.name)), *memory, *stiffness])
    return made + Fragment(slots=(tau._replace(name=now(tau.name)), *(port for port, _ in stiffness)))


def _finish(robot: Robot) -> Fragment:
    """Return the part that ends a step, if any: quaternion normalisation, and a Newton step to closed loops."""
    q, program = Port("q", (robot.nq,)), robot.program("finished_step").spec.program()
    if program.tape is not None and not program.tape.steps:
        return Fragment()
    return part("finish", lambda call, q: call(program, q)[0], [(q, now("q"))], [(q, now("q"))])
