"""Gradients of plans, and their tangents, as plans: reverse mode and forward mode over loops.

Reverse mode runs the passes of a plan, then the same passes from the last to the first, each in the other direction.
A field f has an adjoint f'. A reversed step differentiates its step: its weights are the adjoints of what the step
writes, adds to its parent's and gives; the gradients are added to the adjoints of what the step reads. The inputs of a
body have adjoints among its fields too, which a last pass gives out. A field must keep its value once it has been read.

In forward mode a field f has a tangent f. beside it, and each step carries both on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from appell.model.joints import Kind
from appell.model.model import Model
from appell.model.parameters import PER_BODY, PER_VELOCITY
from appell.program.nodes import Fields, Share
from appell.recursion.kinematics import Scalars
from appell.robot.long.plan import INDEX, Context, Layout, Plan, StepPlan, SweepPlan, V, by_velocity
from appell.trace.adjoint import gradient
from appell.trace.derive import along
from appell.trace.tape import flatten

ADJOINT, TANGENT = "'", "."
WEIGHTS = "w"
"""The input that weighs the results."""


def _marked(names: Iterable[str], mark: str) -> tuple[str, ...]:
    return tuple(name + mark for name in dict.fromkeys(names))


def _step(sweep: SweepPlan) -> StepPlan:
    assert sweep.body is not None  # plans of all bodies
    return sweep.body


# Reverse mode


def adjoint(plan: Plan, inputs: tuple[str, ...], model: Model, *, is_parametric: bool) -> Plan:
    """Return the gradients of a plan's weighed results by some inputs, each at a port; that by q is along motions.

    Where the parameters are inputs, the gradient by these comes last.
    """
    sweeps = [one for one in plan.passes if isinstance(one, SweepPlan)]
    by = (*inputs, "pi", "friction") if is_parametric else inputs
    names = _marked((*by, *(name for one in sweeps for part in one.fields for name in part)), ADJOINT)
    zero = SweepPlan(Fields(writes=names), StepPlan(lambda x: ((),) * len(names)))
    layouts: list[tuple[int, Layout]] = [(k, by_velocity) for k in range(len(inputs))]
    if is_parametric:
        layouts += [(len(inputs), _inertial), (len(inputs), _of_joints(PER_BODY * len(model.bodies)))]

    def give(x: Context) -> Any:
        q, *others = (
            x.own[name][: len(_variables(x, base))] for name, base in zip(_marked(by, ADJOINT), by, strict=True)
        )
        unit = tuple(q[0].graph.unknown() for _ in range(x.body.joint.type.nv))
        return gradient(x.body.joint.type.rates(x.given["q"], unit), q, unit), *others

    last = SweepPlan(Fields(own=_marked(by, ADJOINT)), StepPlan(give, tuple(layouts)))
    forward, backward = [_silent(one) for one in sweeps], [_reversed(one, by) for one in reversed(sweeps)]
    return replace(plan, passes=(zero, *forward, *backward, last))


def _variables(x: Context, name: str) -> Scalars:
    """Return an input of a body, its parameters among them."""
    return getattr(x.body, name) if name in ("pi", "friction") else x.given[name]


def _silent(one: SweepPlan) -> SweepPlan:
    """Return a pass without its results."""
    step, count = _step(one).step, sum(map(len, one.fields[3:]))
    return replace(one, body=StepPlan(lambda x: tuple(step(x))[:count]))


def _reversed(one: SweepPlan, inputs: tuple[str, ...]) -> SweepPlan:
    """Return the pass that takes the adjoints of what a pass gives to those of what it reads."""
    own, parent, _, writes, adds, _ = one.fields
    read = (*inputs, *own)

    def step(x: Context) -> Any:
        found = _step(one).step(x)
        weights = [
            *(x.own[name] for name in _marked(writes, ADJOINT)),
            *(x.parent[name] for name in _marked(adds, ADJOINT)),
        ]
        weights += [x.given[WEIGHTS]] * (len(found) - len(weights))
        pairs = [
            (y, w) for part, ws in zip(found, weights, strict=True) for y, w in zip(flatten(part), ws, strict=False)
        ]
        groups = [
            *(_variables(x, name) for name in inputs),
            *(x.own[name] for name in own),
            *(x.parent[name] for name in parent),
        ]
        shares = iter(gradient([y for y, _ in pairs], [w for _, w in pairs], [y for group in groups for y in group]))
        by = [[next(shares) for _ in group] for group in groups]
        sums = zip(_marked(read, ADJOINT), by, strict=False)
        return (*([a + b for a, b in zip(x.own[name], new, strict=False)] for name, new in sums), *by[len(read) :])

    fields = Fields(
        own=(*own, *_marked((*read, *writes), ADJOINT)),
        parent=(*parent, *_marked(adds, ADJOINT)),
        writes=_marked(read, ADJOINT),
        adds=_marked(parent, ADJOINT),
    )
    return SweepPlan(fields, StepPlan(step), inward=not one.inward)


def _inertial(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of a body's ten parameters."""
    return (Share(port, PER_BODY, INDEX, PER_BODY),)


def _of_joints(first: int) -> Layout:
    """Return the layout of the parameters of a joint's velocities, the first of all at a place."""

    def layout(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
        return (Share(port, PER_VELOCITY * joint.nv, V, PER_VELOCITY, first),) if shape[0] > first else ()

    return layout


# Forward mode


def tangent(plan: Plan, moving: Mapping[str, str]) -> Plan:
    """Return the rates of a plan's results, one after the other at one port, along rates of some inputs.

    `moving` names the input that each of them moves by; q moves along the motions of the joints.
    """
    count = max(port for one in plan.passes if isinstance(one, SweepPlan) for port, _ in _step(one).results) + 1
    return replace(
        plan, passes=tuple(_with_tangents(one, moving, count) for one in plan.passes if isinstance(one, SweepPlan))
    )


def _with_tangents(one: SweepPlan, moving: Mapping[str, str], count: int) -> SweepPlan:
    """Return a pass that carries tangents of its fields, and gives those of its results."""
    own, parent, _, writes, adds, _ = one.fields

    def step(x: Context) -> Any:
        found = [tuple(flatten(part)) for part in _step(one).step(x)]
        direction: list[Any] = []
        for name, by in moving.items():
            rate = x.body.joint.type.rates(x.given["q"], x.given[by]) if name == "q" else x.given[by]
            direction += zip(x.given[name], rate, strict=True)
        for seen, names in ((x.own, own), (x.parent, parent)):
            direction += (pair for name in names for pair in zip(seen[name], seen[name + TANGENT], strict=True))
        rates = iter(along([y for part in found for y in part], [direction]))
        tangents = [tuple(next(rates)[0] for _ in part) for part in found]
        w, a = len(writes), len(writes) + len(adds)
        return *found[:w], *tangents[:w], *found[w:a], *tangents[w:a], *tangents[a:]

    fields = Fields(*((*part, *_marked(part, TANGENT)) for part in one.fields))
    results = tuple((0, _part(port, count)) for port, _ in _step(one).results)
    return SweepPlan(fields, StepPlan(step, results), inward=one.inward)


def _part(which: int, count: int) -> Layout:
    """Return the layout of a joint's velocities in one of several equal parts of a vector."""

    def layout(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
        return (Share(port, joint.nv, V, offset=which * shape[0] // count),)

    return layout
