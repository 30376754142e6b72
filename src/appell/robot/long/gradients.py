"""Gradients of the dynamics of a long robot, and Hessian–vector products: adjoints and tangents of its programs.

Gradients by the coordinates q end as gradients along the motions of the joints, q̇ = rates(q, v).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from appell.model.joints import KINDS, Kind
from appell.model.model import Model
from appell.model.parameters import PER_BODY, PER_VELOCITY
from appell.program.adjoint import adjoint
from appell.program.nodes import Copy, Fields, Item, Items, Program, Share, Stage, Sweep, renamed
from appell.program.tangent import tangent
from appell.recursion.kinematics import Scalars
from appell.robot.long import assembly
from appell.robot.long.plan import INDEX, Q, V
from appell.trace.derive import gradient
from appell.trace.tape import Port, trace

WEIGHTS, PARAMETERS = "w", "parameters"
"""The input that weighs the results, and that of the model's parameters."""


def program(
    model: Model,
    verb: str,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    quaternions: Sequence[int] = (),
    *,
    is_parametric: bool = False,
) -> Program:
    """Return the program of a verb, as :func:`appell.robot.long.assembly.program` does."""
    own = outputs[:-1] if quaternions else outputs
    made = replace(PROGRAMS[verb](model, inputs, own, is_parametric=is_parametric), name=verb)
    return assembly.checked(made, quaternions, outputs[-1]) if quaternions else made


def _vjp(
    model: Model,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    *,
    of: str,
    result: str,
    is_parametric: bool,
    is_stacked: bool = False,
) -> Program:
    """Return the gradients of the result of a verb, weighed by w, by the other inputs; outputs of guards come last.

    Each is an output, or all are stacked in one.
    """
    given = tuple(port for port in inputs if port.name != WEIGHTS)
    by = [port.name for port in given if port.name != PARAMETERS or not is_stacked]
    places = [(outputs[0].name, k * model.nv) if is_stacked else (outputs[k].name, 0) for k in range(len(by))]
    guards = outputs[1:] if is_stacked else outputs[len(by) :]
    results = (Port(result, (model.nv,)), *guards)
    base = assembly.program(model, of, (), given, results, is_parametric=is_parametric)
    back = adjoint(base, by, [result], [port.name for port in guards])
    nodes = renamed(back.nodes, {f"w_{result}": WEIGHTS}, {})
    copies = {x.target: x.source for x in nodes if isinstance(x, Copy) and x.target.startswith("by_")}
    last = _last(model, [copies[f"by_{name}"] for name in by], places)
    kept = (x for x in nodes if not (isinstance(x, Copy) and x.target in copies))
    return replace(back, inputs=inputs, outputs=outputs, nodes=(*kept, last))


def _hvp(model: Model, inputs: tuple[Port, ...], outputs: tuple[Port, ...], *, is_parametric: bool) -> Program:
    """Return the rates of the stacked gradients of inverse dynamics, along motions dq and rates dv and da."""
    moving = {"q": "rate_q", "v": "dv", "a": "da"}
    given = tuple(port for port in inputs if port.name not in ("dq", "dv", "da"))
    options = {"is_parametric": is_parametric, "is_stacked": True}
    made = tangent(_vjp(model, given, outputs, of="inverse_dynamics", result="tau", **options), moving)
    rate = Port(moving["q"], (model.nq,))

    def rates(joint: Kind, q: Scalars, dq: Scalars) -> Any:
        return joint.rates(q, dq)

    first = _by_joint(model, rates, [("q", Q, 0), ("dq", V, 0)], [(rate.name, Q, 0)])
    return replace(made, inputs=inputs, nodes=(first, *made.nodes), slots=(*made.slots, rate))


PROGRAMS: dict[str, Callable[..., Program]] = {
    "inverse_dynamics_vjp": partial(_vjp, of="inverse_dynamics", result="tau"),
    "forward_dynamics_vjp": partial(_vjp, of="forward_dynamics", result="a"),
    "inverse_dynamics_hvp": _hvp,
}
"""Verbs by what makes their programs."""


def _last(model: Model, sums: Sequence[str], places: Sequence[tuple[str, int]]) -> Sweep:
    """Return the pass that gives out the gradients by q (along motions), by two other inputs and by parameters."""
    by_q, *others = sums[:3]
    of = [("q", Q, 0), (by_q, Q, 0), *((name, V, 0) for name in others)]

    def step(joint: Kind, q: Scalars, by_q: Scalars, *others: Scalars) -> Any:
        unit = tuple(q[0].graph.unknown() for _ in range(joint.nv))
        return gradient(joint.rates(q, unit), by_q, unit), others

    to = [(name, V, first) for name, first in places[:3]]
    for name, (output, _) in zip(sums[3:], places[3:], strict=True):
        of, to = [*of, (name, INDEX, 0)], [*to, (output, INDEX, 0)]
    return _by_joint(model, step, of, to)


def _by_joint(
    model: Model,
    step: Callable[..., Any],
    sources: Sequence[tuple[str, int, int]],
    sinks: Sequence[tuple[str, int, int]],
) -> Sweep:
    """Return a pass over all bodies, whose step has the joint's share of memories.

    A memory is named with the number of the item that locates its shares, and the place of the first.
    """
    kinds = sorted({body.joint.kind for body in model.bodies})
    slices = zip(model.bodies, model.q_slices, model.v_slices, strict=True)
    rows = [Item(0, 0, (0, 0, 0), ())]
    rows += [
        Item(1 + kinds.index(body.joint.kind), 0, (q.start, v.start, k), ()) for k, (body, q, v) in enumerate(slices)
    ]

    def shares(memories: Sequence[tuple[str, int, int]], joint: Kind) -> Iterator[Share]:
        for name, number, first in memories:
            if number == INDEX:
                yield Share(name, PER_BODY, INDEX, PER_BODY)
                if model.has_joint_parameters:
                    yield Share(name, PER_VELOCITY * joint.nv, V, PER_VELOCITY, PER_BODY * len(model.bodies))
            else:
                yield Share(name, joint.nq if number == Q else joint.nv, number, 1, first)

    stages = []
    for kind in kinds:
        read, given = tuple(shares(sources, KINDS[kind])), tuple(shares(sinks, KINDS[kind]))
        ports = [Port(f"x{k}", (share.size,)) for k, share in enumerate(read)]
        result = Port("results", (sum(share.size for share in given),))
        stages.append(Stage(trace(kind, partial(step, KINDS[kind]), ports, [result]), read, given))
    return Sweep(Items(tuple(rows), {}), inward=False, fields=Fields(), stages=(None, *stages))
