"""Dynamics of a long robot as passes over its bodies, made of the pieces of the recursions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from appell.model.joints import QUATERNION
from appell.model.model import Model
from appell.program.nodes import Fields
from appell.recursion import articulated, coriolis
from appell.recursion.articulated import Articulated, Pair, Pivot
from appell.recursion.coriolis import Carried, Moments
from appell.recursion.forward import probe, sum_of_squares
from appell.recursion.gibbs import accelerate, inertial_load
from appell.recursion.inertia_matrix import moved_up, unit_momentum
from appell.recursion.kinematics import Link, Load, Scalars, carried, moved, power
from appell.recursion.regressor import unit_loads
from appell.robot.long.body import accelerated, square, symmetric, upper
from appell.robot.long.plan import (
    Context,
    Plan,
    StepPlan,
    SweepPlan,
    WalkPlan,
    all_of,
    by_coordinate,
    by_velocity,
    falling,
    in_column,
    in_row,
    inertia_numbers,
    inertia_of,
    of_friction,
    of_parameters,
    pair,
    velocity,
)
from appell.robot.verbs.coordinates import normalised
from appell.spatial.scalar import Scalar, sign, sqrt
from appell.spatial.vector import IDENTITY, ZERO, add, dot, matvec, negate, scale, transpose
from appell.trace.tape import flatten

# Inverse dynamics: motions outward, loads inward


def motion(x: Context) -> Any:
    """Return a body's motion, its joint's pose and its inertial load."""
    pose = x.body.pose(x.given["q"])
    speed, rate = x.body.motion(x.given["v"]), x.body.motion(x.given["a"])
    own = accelerate(x.body.link(pose), speed, rate, accelerated(x.parent["motion"]))
    return (own.omega, own.alpha, own.origin), x.body.packed(pose), inertial_load(x.body.inertia, own)


def _joint_forces(x: Context) -> Any:
    total = Load(*pair(x.own["load"]))
    rest = x.body.resistance(x.given["q"], x.given["v"], x.given["a"])
    rows = zip(_projected(x, total), rest, x.given["load"], strict=True)
    return carried(x.link, total), [t + r - load for t, r, load in rows]


def _projected(x: Context, load: Load) -> list[Scalar]:
    """Return w·n + l·f of a force and a moment, per column."""
    return [power(column, load) for column in x.body.joint.columns]


INVERSE = Plan(
    (
        SweepPlan(Fields(parent=("motion",), writes=("motion", "joint_pose", "load")), StepPlan(motion)),
        SweepPlan(
            Fields(own=("joint_pose", "load"), adds=("load",)),
            StepPlan(_joint_forces, ((0, by_velocity),)),
            inward=True,
        ),
    ),
    falling,
)

# Forward dynamics: velocities outward, articulated bodies inward, accelerations outward


def _velocity(x: Context) -> Any:
    pose, own = x.body.pose(x.given["q"]), x.body.motion(x.given["v"])
    moving = moved(x.body.link(pose), own, velocity(x.parent["velocity"]))
    start = articulated.rigid(x.body.inertia, moving)
    return moving, x.body.packed(pose), articulated.bias_acceleration(moving, own), _stored(start)


def _velocity_and_rates(x: Context) -> Any:
    return *_velocity(x), x.body.joint.type.rates(x.given["q"], x.given["v"])


def _eliminate(x: Context) -> Any:
    rest = x.body.resistance(x.given["q"], x.given["v"], (0.0,) * len(x.given["v"]))
    efforts = tuple(t - r + load for t, r, load in zip(x.given["tau"], rest, x.given["load"], strict=True))
    armatures = tuple(own.armature for own in x.body.joint_parameters())
    columns, bias = x.body.joint.columns, pair(x.own["bias"])
    reduced, pivots = articulated.eliminated(_restored(x.own["articulated"]), columns, efforts, armatures, bias)
    flat = [(pivot.push, pivot.inverse, pivot.rest) for pivot in pivots]
    return flat, _stored(articulated.moved_up(x.link, reduced))


def _accelerations(x: Context) -> Any:
    return articulated.advanced(x.link, pair(x.parent["acceleration"]), pair(x.own["bias"]), _pivots(x))


def _stepped(x: Context) -> Any:
    """Return accelerations and, after a semi-implicit step of Euler's, the joint's coordinates and velocities."""
    moving, rates = _accelerations(x)
    q, v, (dt,) = (x.given[name] for name in ("q", "v", "dt"))
    faster = tuple(speed + dt * rate for speed, rate in zip(v, rates, strict=True))
    after = [y + dt * rate for y, rate in zip(q, x.body.joint.type.rates(q, faster), strict=True)]
    places = [QUATERNION[x.body.kind].start] if x.body.kind in QUATERNION else []
    return moving, normalised(places, after), faster


def _pivots(x: Context) -> list[Pivot]:
    columns = x.body.joint.columns
    parts = [x.own["pivot"][8 * k : 8 * k + 8] for k in range(len(columns))]
    return [Pivot(c, pair(p), p[6], p[7]) for c, p in zip(columns, parts, strict=True)]


def _stored(body: Articulated) -> Any:
    return upper(body.linear), upper(body.angular), body.mixed, body.bias


def _restored(x: Scalars) -> Articulated:
    return Articulated(symmetric(x[0:6]), square(x[12:21]), symmetric(x[6:12]), pair(x[21:27]))


def forward_plan(velocities: StepPlan, last: StepPlan) -> Plan:
    """Return forward dynamics with a last step that begins with the accelerations of bodies."""
    return Plan(
        (
            SweepPlan(
                Fields(parent=("velocity",), writes=("velocity", "joint_pose", "bias", "articulated")), velocities
            ),
            SweepPlan(
                Fields(own=("joint_pose", "bias", "articulated"), writes=("pivot",), adds=("articulated",)),
                StepPlan(_eliminate),
                inward=True,
            ),
            SweepPlan(
                Fields(own=("joint_pose", "bias", "pivot"), parent=("acceleration",), writes=("acceleration",)),
                last,
            ),
        ),
        lambda model: {"acceleration": (*negate(model.gravity), *ZERO)},
    )


FORWARD = forward_plan(StepPlan(_velocity), StepPlan(_accelerations, ((0, by_velocity),)))

# How near M is to a singular one: a probe pushes all joints at once (:func:`appell.recursion.articulated.inverse_norm`)


def _sizes(x: Context) -> list[Scalar]:
    armatures = [own.armature for own in x.body.joint_parameters()]
    return [sqrt(x.body.extent.seen_by(*both)) for both in zip(x.body.joint.columns, armatures, strict=True)]


def _push(x: Context) -> Any:
    force, moment = pair(x.own["load"])
    rests: list[Scalar] = []
    sides = [x.body.constants[40] * z * size for z, size in zip(probe(6), _sizes(x), strict=False)]
    for (column, push, inverse, _), side in reversed(list(zip(_pivots(x), sides, strict=True))):
        rest = side - dot(column.linear, force) - dot(column.angular, moment)
        rests.insert(0, rest)
        force = add(force, scale(rest * inverse, push.linear))
        moment = add(moment, scale(rest * inverse, push.angular))
    return rests, carried(x.link, Load(force, moment))


def _answer(x: Context) -> Any:
    pivots = [pivot._replace(rest=rest) for pivot, rest in zip(_pivots(x), x.own["probe"], strict=False)]
    moving, rates = articulated.advanced(x.link, pair(x.parent["answer"]), Pair(ZERO, ZERO), pivots)
    return moving, sum_of_squares(rates)


def total(x: Context) -> Any:
    """Return the sum over all bodies, at the world."""
    return (x.own["total"],)


def probed(plan: Plan, port: int) -> Plan:
    """Return forward dynamics that also gives, at a port, how near M is to a singular one."""
    push = Fields(own=("joint_pose", "load", "pivot"), writes=("probe",), adds=("load",))
    answer = Fields(own=("joint_pose", "pivot", "probe"), parent=("answer",), writes=("answer",), sums=("total",))
    passes = (
        SweepPlan(Fields(writes=("load",)), StepPlan(lambda x: (Pair(ZERO, ZERO),))),
        SweepPlan(push, StepPlan(_push), inward=True),
        SweepPlan(answer, StepPlan(_answer)),
        SweepPlan(Fields(own=("total",)), world=StepPlan(total, ((port, all_of),))),
    )
    return replace(plan, passes=(*plan.passes, *passes))


# Inertia matrix: composite bodies inward, the unit force of each column carried to its ancestors


def own_inertia(x: Context) -> Any:
    """Return a body's joint's pose and its own inertia."""
    return x.body.packed(x.body.pose(x.given["q"])), inertia_numbers(x.body.inertia)


def _gather_inertia(x: Context) -> Any:
    return (inertia_numbers(moved_up(x.link, inertia_of(x.own["inertia"]))),)


def _mass_start(x: Context, column: int) -> Any:
    force = unit_momentum(inertia_of(x.own["inertia"]), x.body.joint.columns[column])
    entries = _projected(x, force)
    entries[column] = entries[column] + x.body.joint_parameters()[column].armature
    return carried(x.link, force), entries, entries


def _mass_entries(x: Context) -> Any:
    load = Load(*pair(x.state))
    entries = _projected(x, load)
    return carried(x.link, load), entries, entries


_MATRIX = ((0, in_column), (0, in_row))
COMPOSITE = (
    SweepPlan(Fields(writes=("joint_pose", "inertia")), StepPlan(own_inertia)),
    SweepPlan(Fields(own=("joint_pose", "inertia"), adds=("inertia",)), StepPlan(_gather_inertia), inward=True),
)
_MASS = Plan(
    (
        *COMPOSITE,
        WalkPlan(
            Fields(own=("joint_pose", "inertia")), 6, StepPlan(_mass_start, _MATRIX), StepPlan(_mass_entries, _MATRIX)
        ),
    ),
    has_gaps=True,
)

# Coriolis matrix: moments of velocity inward, what each column excites carried to its ancestors


def _own_moments(x: Context) -> Any:
    pose, own = x.body.pose(x.given["q"]), x.body.motion(x.given["v"])
    moving = moved(x.body.link(pose), own, velocity(x.parent["velocity"]))
    return moving, x.body.packed(pose), _numbers(Moments(x.body.inertia))


def _gather_moments(x: Context) -> Any:
    seen = coriolis.opened(_moments_of(x.own["moments"]), x.body.motion(x.given["v"]))
    return (_numbers(coriolis.lifted(x.link, seen)),)


def _coriolis_start(x: Context, column: int) -> Any:
    load = coriolis.excited(_moments_of(x.own["moments"]), velocity(x.own["velocity"]), x.body.joint.columns[column])
    unit = tuple(1.0 if k == column else 0.0 for k in range(x.body.joint.type.nv))
    turns = x.body.joint.type.transport(x.given["v"], unit)
    rows = zip(_projected(x, load.rate), x.body.joint_parameters(), turns, strict=True)
    return coriolis.carried_up(x.link, load), [entry + own.armature * turn for entry, own, turn in rows]


def _coriolis_entries(x: Context) -> Any:
    load = Carried(Load(*pair(x.state[:6])), Load(*pair(x.state[6:12])), x.state[12:])
    seen = []
    for other in x.body.joint.columns:
        rate = coriolis.column_rate(velocity(x.own["velocity"]), other)
        seen.append(power(rate, load.momentum) + dot(other.angular, load.turning))
    return coriolis.carried_up(x.link, load), _projected(x, load.rate), seen


def _numbers(moments: Moments) -> Any:
    return inertia_numbers(moments.inertia), moments.first_rate, moments.spread


def _moments_of(x: Scalars) -> Moments:
    return Moments(inertia_of(x), x[10:13], square(x[13:22]))


_OF_VELOCITY = ("velocity", "joint_pose", "moments")
_CORIOLIS = Plan(
    (
        SweepPlan(Fields(parent=("velocity",), writes=_OF_VELOCITY), StepPlan(_own_moments)),
        SweepPlan(Fields(own=("joint_pose", "moments"), adds=("moments",)), StepPlan(_gather_moments), inward=True),
        WalkPlan(
            Fields(own=_OF_VELOCITY),
            15,
            StepPlan(_coriolis_start, ((0, in_column),)),
            StepPlan(_coriolis_entries, _MATRIX),
        ),
    ),
    has_gaps=True,
)

# Regressor: motions outward, the load of each parameter at 1 carried to the ancestors


def _motion(x: Context) -> Any:
    moving, joint_pose, _ = motion(x)
    return moving, joint_pose


def _motion_and_friction(x: Context) -> Any:
    v = x.given["v"]
    rows = zip(x.given["a"], x.body.joint.type.transport(v, v), v, x.body.stretches(x.given["q"]), strict=True)
    own = [(rate + turn, speed, sign(speed), stretch) for rate, turn, speed, stretch in rows]
    return *_motion(x), own


def _regressor_start(x: Context) -> Any:
    file_rotation = x.body.file_rotation  # the parameters are about the axes of the file
    filed = accelerated(tuple(flatten([matvec(file_rotation, part) for part in square(x.own["motion"])])))
    loads = unit_loads(filed)
    columns = [(matvec(file_rotation, c.linear), matvec(file_rotation, c.angular)) for c in x.body.joint.columns]
    link = x.link
    if file_rotation != IDENTITY:
        link = link._replace(rotations=(*link.rotations, transpose(file_rotation)))
    return _carried(link, loads), [_dotted(column, loads) for column in columns]


def _regressor_entries(x: Context) -> Any:
    forced = [Load(*pair(x.state[6 * k : 6 * k + 6])) for k in range(4)]
    loads = [*forced, *(Load(ZERO, x.state[k : k + 3]) for k in range(24, 42, 3))]
    return _carried(x.link, loads), [_dotted((c.linear, c.angular), loads) for c in x.body.joint.columns]


def _carried(link: Link, loads: list[Load]) -> Any:
    """Return loads in the parent's frame: those of inertias have a moment alone."""
    moved_loads = [carried(link, load) for load in loads]
    return moved_loads[:4], [load.moment for load in moved_loads[4:]]


def _dotted(column: tuple[Any, Any], loads: list[Load]) -> list[Scalar]:
    return [dot(column[0], load.force) + dot(column[1], load.moment) for load in loads]


def _regressor(model: Model, *, is_parametric: bool) -> Plan:
    """Return the plan of the regressor, which has more columns where joints have friction."""
    body = StepPlan(_motion_and_friction, ((0, of_friction),)) if model.has_joint_parameters else StepPlan(_motion)
    start, entries = (StepPlan(step, ((0, of_parameters),)) for step in (_regressor_start, _regressor_entries))
    kept = ("motion", "joint_pose")
    outward = SweepPlan(Fields(parent=("motion",), writes=kept), body)
    passes = (outward, WalkPlan(Fields(own=kept), 42, start, entries, per_column=False))
    return Plan(passes, falling, is_massless=True, has_gaps=True)


PLANS: dict[str, Plan | Callable[..., Plan]] = {
    **dict.fromkeys(
        (
            *("inverse_dynamics", "inverse_dynamics_loaded", "inverse_dynamics_weighted"),
            *("generalised_forces", "bias", "gravity"),
        ),
        INVERSE,
    ),
    **dict.fromkeys(("forward_dynamics", "forward_dynamics_loaded"), FORWARD),
    "motion": forward_plan(
        StepPlan(_velocity_and_rates, ((0, by_coordinate),)), StepPlan(_accelerations, ((1, by_velocity),))
    ),
    "step": forward_plan(StepPlan(_velocity), StepPlan(_stepped, ((0, by_coordinate), (1, by_velocity)))),
    **dict.fromkeys(("mass_matrix", "tree_mass_matrix"), _MASS),
    "coriolis_matrix": _CORIOLIS,
    "regressor": _regressor,
}
"""Verbs by their passes; those of the regressor depend on whether joints have friction."""
