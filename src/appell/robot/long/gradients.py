"""Gradients of the dynamics of a long robot, and Hessian–vector products: adjoints and tangents of its programs.

Gradients by the coordinates q end as gradients along the motions of the joints, q̇ = rates(q, v).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from appell.model.model import WORLD, Model
from appell.program.adjoint import adjoint
from appell.program.nodes import Copy, Program, renamed
from appell.program.tangent import tangent
from appell.recursion.kinematics import Scalars
from appell.recursion.rates import coordinate_rates
from appell.recursion.sweep import Body
from appell.robot.long import layout, programs
from appell.robot.long.recorder import Recorder
from appell.robot.verbs.programs import ARTICULATED
from appell.robot.verbs.programs import PROGRAMS as OF_VERBS
from appell.trace.derive import gradient
from appell.trace.tape import Port

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
    """Return the program of a verb, as :func:`appell.robot.long.programs.program` does."""
    own = outputs[:-1] if quaternions else outputs
    made = replace(PROGRAMS[verb](model, inputs, own, is_parametric=is_parametric), name=verb)
    return programs.checked(made, quaternions, outputs[-1]) if quaternions else made


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

    Each is an output, or all but that by parameters are stacked in one.
    """
    given = tuple(port for port in inputs if port.name != WEIGHTS)
    by = [port.name for port in given if port.name != PARAMETERS or not is_stacked]
    guards = outputs[1:] if is_stacked else outputs[len(by) :]
    own = model.independent
    results = (Port(result, (own.nv,)), *guards)
    formulation = ARTICULATED if of == "forward_dynamics" else OF_VERBS[of]["gibbs"]
    base = programs.program(model, of, formulation, None, given, results, is_parametric=is_parametric)
    back = adjoint(base, by, [result], [port.name for port in guards])
    nodes = renamed(back.nodes, {f"w_{result}": WEIGHTS}, {})
    sums = {x.target: x.source for x in nodes if isinstance(x, Copy) and x.target.startswith("by_")}
    kept = [x for x in nodes if not (isinstance(x, Copy) and x.target in sums)]
    q, *others = (Port(sums[f"by_{name}"] or f"by_{name}", (own.nq if name == "q" else own.nv,)) for name in by[:3])
    to = [outputs[0]._replace(shape=(3, own.nv))] if is_stacked else list(outputs[:3])
    kept += _along(model, given[0], q, others, to).nodes
    if len(by) > len(others) + 1:
        kept.append(Copy(sums[f"by_{PARAMETERS}"], outputs[3].name))
    return replace(back, inputs=inputs, outputs=outputs, nodes=tuple(kept))


def _along(model: Model, q: Port, by_q: Port, others: Sequence[Port], to: Sequence[Port]) -> Program:
    """Return the program of a gradient by q along the motions of the joints, followed by other gradients."""
    tree = Recorder(_joints(model), (q, by_q, *others), is_massless=True, is_parametric=False)
    place, slope, *rest = (tree.argument(port, is_vector=True) for port in tree.inputs)

    def motion(body: Body) -> Scalars:
        unit = tuple(tree.graph.unknown() for _ in body.columns)
        return tuple(gradient(body.joint.type.rates(body.at(place), unit), body.at(slope), unit))

    found = [tree.vector(tree.each(motion)), *rest]
    results = list(zip(to, found if len(to) > 1 else [found], strict=True))
    return layout.program(tree, "motion", results, tuple(to))


def _joints(model: Model) -> Model:
    """Return the joints that follow no other, each on the world."""
    own = model.independent
    return replace(own, bodies=tuple(replace(body, parent=WORLD) for body in own.bodies), springs=())


def _hvp(model: Model, inputs: tuple[Port, ...], outputs: tuple[Port, ...], *, is_parametric: bool) -> Program:
    """Return the rates of the stacked gradients of inverse dynamics, along motions dq and rates dv and da."""
    moving = {"q": "rate_q", "v": "dv", "a": "da"}
    given = tuple(port for port in inputs if port.name not in ("dq", "dv", "da"))
    options = {"is_parametric": is_parametric, "is_stacked": True}
    made = tangent(_vjp(model, given, outputs, of="inverse_dynamics", result="tau", **options), moving)
    own = _joints(model)
    rate, ports = Port(moving["q"], (own.nq,)), (given[0], Port("dq", (own.nv,)))
    tree: Any = Recorder(own, ports, is_massless=True, is_parametric=False)
    found = coordinate_rates(tree, *(tree.argument(port, is_vector=True) for port in ports))
    first = layout.program(tree, "rates", [(rate, found)], (rate,)).nodes
    return replace(made, inputs=inputs, nodes=(*first, *made.nodes), slots=(*made.slots, rate))


PROGRAMS: dict[str, Callable[..., Program]] = {
    "inverse_dynamics_vjp": partial(_vjp, of="inverse_dynamics", result="tau"),
    "forward_dynamics_vjp": partial(_vjp, of="forward_dynamics", result="a"),
    "inverse_dynamics_hvp": _hvp,
}
"""Verbs by what makes their programs."""
