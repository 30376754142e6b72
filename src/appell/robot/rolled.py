"""Long robots: the recursion's steps traced once per class of body, for loops over the bodies.

The steps are those of :mod:`appell.recursion.gibbs` and :mod:`appell.recursion.articulated`; only the sweeps are left
to native loops. Bodies fall into classes by their joint's kind and by which of their constants are 0 or ±1, so that the
steps of alike bodies fold alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from appell.kernels.rolled import Item, Pass, Rolled
from appell.model.lean import SLIDING, TURNING, lean
from appell.model.model import Body, Joint, Model
from appell.recursion import articulated
from appell.recursion.articulated import Articulated, Pair, Pivot
from appell.recursion.gibbs import Acceleration, Load, accelerate, acceleration_tensor, carried, inertial_load
from appell.recursion.joint_forces import joint_force
from appell.recursion.kinematics import JointMotion, Link, Scalars, Velocity, joint_motion
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Matrix
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, negate
from appell.trace.tape import Port, Tape, flatten, trace

LONG = 80
"""Bodies from which a loop is used: a program written out would take long to compile and run no faster."""
CLASSES = 12
"""Most classes of folded constants; beyond, bodies of one kind of joint share one class that folds nothing."""
CONSTANTS = 26
"""Numbers of a body: rotation 9, position 3, moments 10, offset, damping, friction, armature."""

_KINDS = (*TURNING, *SLIDING, "ball", "free")
"""Kinds of joint whose axis the lean model lays along z, or that have none."""


@dataclass(frozen=True)
class Plan:
    """A verb as passes: its inputs, the fields its bodies keep, and one step function per pass."""

    inputs: tuple[str, ...]
    output: str
    fields: Callable[[int, int], dict[str, int]]
    """Sizes by field, from the largest joint's rotation and number of velocities."""
    base: Callable[[Model], dict[str, tuple[float, ...]]]
    passes: tuple[tuple[Pass, Callable[..., Any]], ...]


def is_long(model: Model) -> bool:
    """Return whether a robot's dynamics is computed by loops."""
    plain = all(body.joint.kind in _KINDS for body in model.bodies) and not model.is_coupled
    return len(model.bodies) > LONG and plain


def program(model: Model, verb: str) -> Rolled:
    """Return the rolled program of a verb."""
    plan, plain = PLANS[verb], replace(lean(model), late=frozenset())
    numbers = [_numbers(body) for body in plain.bodies]
    keys = [
        (body.joint.kind, tuple(x if x in (0.0, 1.0, -1.0) else None for x in constants))
        for body, constants in zip(plain.bodies, numbers, strict=True)
    ]
    if len(set(keys)) > CLASSES:
        keys = [(kind, (None,) * CONSTANTS) for kind, _ in keys]
    classes = list(dict.fromkeys(keys))
    fields = plan.fields(
        max(2 if kind in TURNING + SLIDING else 9 for kind, _ in classes),
        max(Joint("", kind).type.nv for kind, _ in classes),
    )
    sizes = {name: plain.nq if name == "q" else plain.nv for name in (*plan.inputs, plan.output)}
    steps = tuple(
        tuple(_step(plan, sweep, make, kind, pattern, fields) for kind, pattern in classes)
        for sweep, make in plan.passes
    )
    items = []
    for i, (key, constants) in enumerate(zip(keys, numbers, strict=True)):
        q, v = plain.q_slices[i].start, plain.v_slices[i].start
        kept = tuple(x for x, known in zip(constants, key[1], strict=True) if known is None)
        starts = tuple(q if name == "q" else v for name in plan.inputs)
        items.append(Item(classes.index(key), plain.bodies[i].parent, starts, v, kept))
    base = plan.base(plain)
    filled = {name: base.get(name, (0.0,) * size) for name, size in fields.items()}
    inputs = tuple(Port(name, (sizes[name],)) for name in plan.inputs)
    outputs = (Port(plan.output, (sizes[plan.output],)),)
    passes = tuple(sweep for sweep, _ in plan.passes)
    return Rolled(verb, inputs, outputs, fields, filled, passes, steps, tuple(items))


def _numbers(body: Body) -> tuple[float, ...]:
    """Return the constants of a body."""
    rotation, position = body.joint.placement
    m, h, s = body.inertia
    moments = (m, *h, s[0][0], s[0][1], s[0][2], s[1][1], s[1][2], s[2][2])
    joint = body.joint
    friction = (joint.offset, joint.damping, joint.friction, joint.armature)
    return tuple(float(x) for x in (*flatten(rotation), *position, *moments, *friction))


class _Body:
    """A body whose constants are traced: what a step knows of it."""

    def __init__(self, kind: str, constants: Scalars) -> None:
        r, m = constants[:9], constants[12:22]
        self.rotation: Matrix = ((r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[8]))
        self.position = constants[9:12]
        self.inertia = Inertia(m[0], (m[1], m[2], m[3]), _symmetric(m[4:]))
        self.offset, self.damping, self.friction, self.armature = constants[22:]
        self.joint = Joint("", kind)

    def motion(self, x: Scalars) -> JointMotion:
        """Return what the joint adds for velocities or accelerations x."""
        return joint_motion(self.joint.columns, x)

    def pose(self, q: Scalars) -> Pose:
        """Return the joint's pose at q."""
        return self.joint.type.pose(self.joint, (q[0] + self.offset,) if len(q) == 1 else q)

    def link(self, turned: Matrix, slid: Any) -> Link:
        """Return the body as its parent sees it, for a rotation and a translation of its joint."""
        position = add(self.position, matvec(self.rotation, slid))
        rotations = tuple(r for r in (self.rotation, turned) if r != IDENTITY)
        return Link(rotations, position, self.inertia, ZERO)

    def packed(self, pose: Pose, size: int) -> Scalars:
        """Return what later passes need of the joint's rotation: cosine and sine, or all of it."""
        kind = self.joint.kind
        values: Scalars = () if kind in SLIDING else tuple(flatten(pose.rotation))
        if kind in TURNING:
            values = (pose.rotation[0][0], pose.rotation[1][0])
        return (*values, *[0.0] * (size - len(values)))

    def unpacked(self, q: Scalars, turn: Scalars) -> Link:
        """Return the link in a later pass, without another sine."""
        kind = self.joint.kind
        if kind in TURNING:
            return self.link(about(self.joint.axis, turn[0], turn[1]), ZERO)
        slid = self.pose(q).position
        whole: Matrix = IDENTITY if kind in SLIDING else (turn[0:3], turn[3:6], turn[6:9])
        return self.link(whole, slid)

    def resistance(self, v: Scalars, a: Scalars) -> Scalars:
        """Return the joint's own friction and rotor inertia."""
        return tuple(joint_force(self.armature, self.damping, self.friction, x, y) for x, y in zip(v, a, strict=True))


def _symmetric(m: Scalars) -> Matrix:
    return ((m[0], m[1], m[2]), (m[1], m[3], m[4]), (m[2], m[4], m[5]))


def _step(
    plan: Plan, sweep: Pass, make: Callable[..., Any], kind: str, pattern: tuple[Any, ...], fields: dict[str, int]
) -> Tape:
    """Return the tape of one pass for one class of bodies."""
    joint = Joint("", kind).type
    kept = [k for k, known in enumerate(pattern) if known is None]
    read = (*sweep.own, *sweep.parent)
    ports = [Port("constants", (len(kept),))]
    ports += [Port(name, (joint.nq if name == "q" else joint.nv,)) for name in plan.inputs]
    ports += [Port(name, (fields[name],)) for name in read]
    count = sum(fields[name] for name in (*sweep.writes, *sweep.adds)) + (joint.nv if sweep.results else 0)

    def traced(constants: Scalars, *others: Scalars) -> Any:
        full = list(pattern)
        for k, value in zip(kept, constants, strict=True):
            full[k] = value
        still = (0.0,) * joint.nv
        given = {"v": still, "a": still, **dict(zip(plan.inputs, others, strict=False))}
        return make(_Body(kind, tuple(full)), given, fields, *others[len(plan.inputs) :])

    return trace(f"{kind} step", traced, ports, [Port("results", (count,))])


# Inverse dynamics: motions outward, loads inward


def _move(body: _Body, given: dict[str, Scalars], fields: dict[str, int], motion: Scalars) -> Any:
    omega, alpha = motion[0:3], motion[3:6]
    parent = Acceleration(omega, alpha, acceleration_tensor(omega, alpha), motion[6:9])
    pose = body.pose(given["q"])
    link = body.link(pose.rotation, pose.position)
    own = accelerate(link, body.motion(given["v"]), body.motion(given["a"]), parent)
    load = inertial_load(body.inertia, own)
    return own.omega, own.alpha, own.origin, body.packed(pose, fields["turn"]), load


def _push(body: _Body, given: dict[str, Scalars], fields: dict[str, int], turn: Scalars, load: Scalars) -> Any:
    total = Load(load[:3], load[3:])
    tau = tuple(
        dot(column.angular, total.moment) + dot(column.linear, total.force) + own
        for column, own in zip(body.joint.columns, body.resistance(given["v"], given["a"]), strict=True)
    )
    return carried(body.unpacked(given["q"], turn), total), tau


_INVERSE = (
    (Pass(inward=False, parent=("motion",), writes=("motion", "turn", "load")), _move),
    (Pass(inward=True, own=("turn", "load"), adds=("load",), results=True), _push),
)


def _inverse(*inputs: str) -> Plan:
    return Plan(
        inputs,
        "tau",
        lambda turn, nv: {"motion": 9, "turn": turn, "load": 6},
        lambda model: {"motion": (*ZERO, *ZERO, *negate(model.gravity))},
        _INVERSE,
    )


# Forward dynamics: velocities outward, articulated bodies inward, accelerations outward


def _speed(body: _Body, given: dict[str, Scalars], fields: dict[str, int], speed: Scalars) -> Any:
    pose = body.pose(given["q"])
    link, own = body.link(pose.rotation, pose.position), body.motion(given["v"])
    angular = add(link.down(speed[:3]), own.angular)
    swept = add(speed[3:], cross(speed[:3], link.position))
    moving = Velocity(angular, add(link.down(swept), own.linear))
    start = articulated.rigid(body.inertia, moving)
    return moving, body.packed(pose, fields["turn"]), articulated.drift(moving, own), _stored(start)


def _eliminate(
    body: _Body, given: dict[str, Scalars], fields: dict[str, int], turn: Scalars, drift: Scalars, whole: Scalars
) -> Any:
    rest = body.resistance(given["v"], (0.0,) * len(given["v"]))
    efforts = tuple(t - r for t, r in zip(given["tau"], rest, strict=True))
    bias = Pair(drift[:3], drift[3:])
    reduced, pivots = articulated.eliminated(_restored(whole), body.joint.columns, efforts, body.armature, bias)
    flat = [x for pivot in pivots for x in (*flatten(pivot.push), pivot.inverse, pivot.rest)]
    padded = (*flat, *[0.0] * (fields["pivot"] - len(flat)))
    return padded, _stored(articulated.moved_up(body.unpacked(given["q"], turn), reduced))


def _advance(
    body: _Body,
    given: dict[str, Scalars],
    fields: dict[str, int],
    turn: Scalars,
    drift: Scalars,
    pivot: Scalars,
    motion: Scalars,
) -> Any:
    columns = body.joint.columns
    parts = [pivot[8 * k : 8 * k + 8] for k in range(len(columns))]
    pivots = [Pivot(c, Pair(p[0:3], p[3:6]), p[6], p[7]) for c, p in zip(columns, parts, strict=True)]
    parent, bias = Pair(motion[:3], motion[3:]), Pair(drift[:3], drift[3:])
    return articulated.advanced(body.unpacked(given["q"], turn), parent, bias, pivots)


def _stored(body: Articulated) -> Scalars:
    a, c = body.linear, body.angular
    upper = (a[0][0], a[0][1], a[0][2], a[1][1], a[1][2], a[2][2], c[0][0], c[0][1], c[0][2], c[1][1], c[1][2], c[2][2])
    return (*upper, *flatten(body.mixed), *flatten(body.bias))


def _restored(x: Scalars) -> Articulated:
    mixed: Matrix = (x[12:15], x[15:18], x[18:21])
    return Articulated(_symmetric(x[0:6]), mixed, _symmetric(x[6:12]), Pair(x[21:24], x[24:27]))


_FORWARD = (
    (Pass(inward=False, parent=("speed",), writes=("speed", "turn", "drift", "whole")), _speed),
    (Pass(inward=True, own=("turn", "drift", "whole"), writes=("pivot",), adds=("whole",)), _eliminate),
    (
        Pass(inward=False, own=("turn", "drift", "pivot"), parent=("motion",), writes=("motion",), results=True),
        _advance,
    ),
)

PLANS = {
    "inverse_dynamics": _inverse("q", "v", "a"),
    "bias": _inverse("q", "v"),
    "gravity": _inverse("q"),
    "forward_dynamics": Plan(
        ("q", "v", "tau"),
        "a",
        lambda turn, nv: {"speed": 6, "turn": turn, "drift": 6, "whole": 27, "pivot": 8 * nv, "motion": 6},
        lambda model: {"motion": (*negate(model.gravity), *ZERO)},
        _FORWARD,
    ),
}
"""The verbs that can be rolled."""
