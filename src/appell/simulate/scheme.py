"""Methods of a fixed step, as marches: what one stage computes, and the weights of the stages.

A Runge–Kutta method whose stages each start from the one before is one traced stage and a table. With k the field at
the stage's state y, a row of weights (share, ahead, total) times dt makes

    Δ ← Δ + share·k,    y ← y₀ + ahead·k + total·Δ,

so that the last row, (share, 0, 1), ends the step. The semi-implicit Euler method moves v first and q with the new v.
Quaternions are normalised after every step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from appell.kernels.march import WEIGHTS, Bound, March, Part
from appell.kernels.marcher import Marcher, Route
from appell.model.joints import QUATERNION
from appell.model.model import Model
from appell.recursion.kinematics import Scalars
from appell.recursion.rates import coordinate_rates
from appell.robot.verbs import VERBS
from appell.simulate.law import Feedback, Integral, Law, forces, tracking_error
from appell.spatial.scalar import sqrt
from appell.trace.tape import Port, Tape, trace
from appell.trace.verify import verify

Array = NDArray[Any]
RUNGE_KUTTA = {
    "midpoint": ((0.0, 0.5, 0.0), (1.0, 0.0, 1.0)),
    "rk4": ((1 / 6, 0.5, 0.0), (1 / 3, 0.5, 0.0), (1 / 3, 1.0, 0.0), (1 / 6, 0.0, 1.0)),
}
"""Per stage: share and ahead in units of dt, and total."""
METHODS = ("euler", *RUNGE_KUTTA)


def weights(method: str, dt: float) -> Array:
    """Return the numbers of each stage for a step dt."""
    if method == "euler":
        return np.array([[dt]])
    return np.array([(dt * share, dt * ahead, total) for share, ahead, total in RUNGE_KUTTA[method]])


class Ports(NamedTuple):
    """The slots that every march of a robot has."""

    q: Port
    v: Port
    tau: Port


def _ports(model: Model) -> Ports:
    own = model.independent
    return Ports(Port("q", (own.nq,)), Port("v", (own.nv,)), Port("tau", (own.nv,)))


@functools.lru_cache(maxsize=64)
def marcher(
    model: Model, method: str, law: type[Law] | None, believed: Model | None, *, is_integral: bool = False
) -> Marcher:
    """Return the compiled march of a robot: by a method, under a law that computes with the model `believed`.

    With integral action the state has the law's memory behind q and v, and the drives the time since the last sample.
    """
    plain = [other and replace(other, name="", source="", frames=()) for other in (model, believed)]
    fingerprint = repr((*plain, method, law and law.__name__, is_integral))
    return Marcher(Route("rollout", fingerprint, lambda: march(model, method, law, believed, is_integral=is_integral)))


def march(
    model: Model, method: str, law: type[Law] | None, believed: Model | None, *, is_integral: bool = False
) -> March:
    """Return the march of a robot."""
    q, v, tau = ports = _ports(model)
    gains = tuple(Port(name, v.shape) for name in ("kp", "kd", "limit"))
    goals = Port("goal_q", q.shape), Port("goal_v", v.shape), Port("goal_a", v.shape)
    memory, more, elapsed = _memory(ports) if is_integral else ((), (), ())
    return March(
        "rollout",
        states=(q, v, *memory),
        fixed=(*gains, *more) if law else (),
        drives=(tau, *goals, *elapsed) if law else (tau,),
        law=_law(law, model, believed or model, ports, is_integral=is_integral) if law else None,
        bounds=(Bound("tau", "limit"),) if law else (),
        finish=_normalising(model, q),
        **(
            _euler(model, ports)
            if method == "euler"
            else runge_kutta(VERBS["motion"].tape(model), ports, len(RUNGE_KUTTA[method]))
        ),
    )


def runge_kutta(field: Tape, ports: Ports, stages: int) -> dict[str, Any]:
    """Return the parts of a march along a field, a tape from q, v and τ to q̇ and a."""
    q, v, tau = ports
    scratch = Port("q0", q.shape), Port("v0", v.shape), Port("dq", q.shape), Port("dv", v.shape)

    def stage(q: Scalars, v: Scalars, tau: Scalars, *others: Scalars) -> Any:
        q0, v0, dq, dv, (share, ahead, total) = others
        k = field.run(q, v, tau)
        summed = [d + share * x for d, x in zip((*dq, *dv), k, strict=True)]
        moved = [y + ahead * x + total * d for y, x, d in zip((*q0, *v0), k, summed, strict=True)]
        return moved, summed

    inputs = (q, v, tau, *scratch, Port(WEIGHTS, (3,)))
    outputs = (q, v, *scratch[2:])
    names = tuple(port.name for port in outputs)
    part = Part(_tape("stage", stage, inputs, outputs), tuple(port.name for port in inputs), names)
    return {
        "scratch": scratch,
        "stage": part,
        "stages": stages,
        "starts": (("q0", "q"), ("v0", "v"), ("dq", ""), ("dv", "")),
    }


def _euler(model: Model, ports: Ports) -> dict[str, Any]:
    dynamics = VERBS["forward_dynamics"].tape(model)
    q, v, tau = ports

    def stage(q: Scalars, place: Scalars, v: Scalars, tau: Scalars, weight: Scalars) -> Any:
        (dt,) = weight
        faster = tuple(x + dt * a for x, a in zip(v, dynamics.run(q, v, tau), strict=True))
        rates = coordinate_rates(model, q, faster)
        return tuple(x + dt * rate for x, rate in zip(place, rates, strict=True)), faster

    # q twice: as angles, which may be reduced by whole turns, and as numbers, which may not
    inputs = (q, Port("place", q.shape), v, tau, Port(WEIGHTS, (1,)))
    part = Part(_tape("stage", stage, inputs, (q, v)), ("q", "q", "v", "tau", WEIGHTS), ("q", "v"))
    return {"scratch": (), "stage": part, "stages": 1}


def _memory(ports: Ports) -> tuple[tuple[Port, ...], tuple[Port, ...], tuple[Port, ...]]:
    """Return what integral action adds to the state, to the gains and to the drives."""
    n = ports.v.size
    return (Port("memory", (2 * n,)),), (Port("ki", (n,)),), (Port("elapsed", (1,)),)


def _law(law: type[Law], model: Model, believed: Model, ports: Ports, *, is_integral: bool) -> Part:
    q, v, tau = ports

    def dynamics(q: Scalars, v: Scalars, a: Scalars) -> Any:
        return VERBS["inverse_dynamics"].tape(believed).run(q, v, a)

    def torque(q: Scalars, place: Scalars, v: Scalars, tau: Scalars, *others: Scalars) -> Any:
        kp, kd, goal_q, goal_v, goal_a, *more = others

        def force(correction: Scalars) -> Scalars:
            wanted = law.torque(dynamics, q, v, goal_a, correction)
            return tuple(x + y for x, y in zip(tau, wanted, strict=True))

        rate = tuple(wanted - is_ for wanted, is_ in zip(goal_v, v, strict=True))
        feedback = Feedback(tracking_error(model, place, goal_q), rate, kp, kd)
        return forces(force, feedback, Integral(*more[:3], *more[3]) if more else None)

    numbers = [Port(name, v.shape) for name in ("kp", "kd")]
    goals = [Port("goal_q", q.shape), Port("goal_v", v.shape), Port("goal_a", v.shape)]
    memory, ki, elapsed = _memory(ports) if is_integral else ((), (), ())
    more = (*ki, Port("limit", v.shape), *memory, *elapsed) if is_integral else ()
    inputs = (q, Port("place", q.shape), v, tau, *numbers, *goals, *more)
    reads = ("q", *("q" if port.name == "place" else port.name for port in inputs[1:]))
    outputs = (tau, *memory)
    return Part(_tape("law", torque, inputs, outputs), reads, tuple(port.name for port in outputs))


def _normalising(model: Model, q: Port) -> Part | None:
    """Return the part that brings every quaternion back to unit length, if there is one."""
    places = quaternions(model)
    if not places:
        return None

    def normalised(q: Scalars) -> Scalars:
        result = list(q)
        for at in places:
            scale = 1.0 / sqrt(sum((x * x for x in q[at]), start=0.0))
            result[at] = [scale * x for x in q[at]]
        return tuple(result)

    return Part(_tape("finish", normalised, (q,), (q,)), ("q",), ("q",))


def quaternions(model: Model) -> list[slice]:
    """Return where quaternions stand in the robot's coordinates."""
    own = model.independent
    places = []
    for body, at in zip(own.bodies, own.q_slices, strict=True):
        if body.joint.kind in QUATERNION:
            part = QUATERNION[body.joint.kind]
            places.append(slice(at.start + part.start, at.start + part.stop))
    return places


def _tape(name: str, program: Callable[..., Any], inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> Tape:
    return verify(trace(name, program, inputs, outputs))
