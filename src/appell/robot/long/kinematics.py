"""Energies, momentum and frames of a long robot as passes over its bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from appell.model.model import Model
from appell.program.nodes import Fields
from appell.recursion.energy import body_energy
from appell.recursion.gibbs import body_gibbs
from appell.recursion.inertia_matrix import unit_momentum
from appell.recursion.kinematics import Link, Load, Scalars, carried, column_at, moved
from appell.recursion.momentum import about
from appell.recursion.points import acceleration_at, velocity_at
from appell.robot.long.body import accelerated, posed, square
from appell.robot.long.dynamics import COMPOSITE, motion, own_inertia, total
from appell.robot.long.plan import (
    Context,
    Layout,
    Plan,
    StepPlan,
    SweepPlan,
    all_of,
    by_index,
    by_row,
    by_velocity,
    falling,
    inertia_of,
    pair,
    velocity,
)
from appell.spatial.pose import Pose
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matmul, matvec, scale, sub
from appell.trace.tape import flatten

# Sums over all bodies


def _gibbs(x: Context) -> Any:
    moving, _, _ = motion(x)
    total = body_gibbs(x.body.inertia, accelerated(tuple(flatten(moving))))
    still = x.body.resistance(x.given["q"], x.given["v"], (0.0,) * len(x.given["v"]))
    for own, friction, rate in zip(x.body.joint_parameters(), still, x.given["a"], strict=True):
        total = total + rate * (friction + 0.5 * own.armature * rate)
    return moving, total


def _energy(x: Context) -> Any:
    moving = moved(x.body.link(x.body.pose(x.given["q"])), x.body.motion(x.given["v"]), velocity(x.parent["velocity"]))
    total = body_energy(x.body.inertia, moving)
    for own, rate in zip(x.body.joint_parameters(), x.given["v"], strict=True):
        total = total + 0.5 * own.armature * (rate * rate)
    return moving, total


def _mass_moments(x: Context) -> Any:
    return x.body.packed(x.body.pose(x.given["q"])), (x.body.inertia.mass, x.body.inertia.first)


def _gather_mass(x: Context) -> Any:
    return (_moved_mass(x.link, x.own["mass_moments"]),)


def _moved_mass(link: Link, moments: Scalars) -> Any:
    """Return m and R h + m p."""
    return moments[0], add(link.up(moments[1:]), scale(moments[0], link.position))


def _mass_moments_and_springs(x: Context) -> Any:
    rows = zip(x.body.joint_parameters(), x.body.stretches(x.given["q"]), strict=True)
    return *_mass_moments(x), sum((0.5 * own.stiffness * (s * s) for own, s in rows), start=0.0)


def _potential(x: Context) -> Any:
    return (x.own["total"][0] - dot(x.model.gravity, x.own["mass_moments"][1:]),)


def _centre(x: Context) -> Any:
    return (_mass_centre(x, x.own["mass_moments"]),)


def _mass_centre(x: Context, moments: Scalars) -> Any:
    """Return the mass centre of the whole robot; the origin of one without mass."""
    has_mass = x.is_parametric or any(body.inertia.mass for body in x.model.bodies)
    return scale(1.0 / moments[0], moments[1:4]) if has_mass else ZERO


def _momentum(x: Context) -> Any:
    pose = x.body.pose(x.given["q"])
    moving = moved(x.body.link(pose), x.body.motion(x.given["v"]), velocity(x.parent["velocity"]))
    inertia = x.body.inertia
    return moving, x.body.packed(pose), (inertia.mass, inertia.first), unit_momentum(inertia, moving)


def _gather_momentum(x: Context) -> Any:
    return _moved_mass(x.link, x.own["mass_moments"]), carried(x.link, Load(*pair(x.own["momentum"])))


def _central_momentum(x: Context) -> Any:
    own, spin = pair(x.own["momentum"])
    return ((own, sub(spin, cross(_mass_centre(x, x.own["mass_moments"]), own))),)


def _sum_plan(field: str, step: Callable[[Context], Any]) -> Plan:
    """Return a plan that adds up a number of every body while a field passes outward."""
    outward = Fields(parent=(field,), writes=(field,), sums=("total",))
    result = SweepPlan(Fields(own=("total",)), world=StepPlan(total, ((0, all_of),)))
    return Plan((SweepPlan(outward, StepPlan(step)), result), falling)


def _mass_plan(
    world: Callable[[Context], Any], body: Callable[[Context], Any] = _mass_moments, sums: tuple[str, ...] = ()
) -> Plan:
    """Return a plan that gathers mass and first moment at the world, whose step gives the result, and some sums."""
    up = Fields(own=("joint_pose", "mass_moments"), adds=("mass_moments",))
    return Plan(
        (
            SweepPlan(Fields(writes=("joint_pose", "mass_moments"), sums=sums), StepPlan(body)),
            SweepPlan(up, StepPlan(_gather_mass), inward=True),
            SweepPlan(Fields(own=("mass_moments", *sums)), world=StepPlan(world, ((0, all_of),))),
        )
    )


_SUMMED = ("joint_pose", "mass_moments", "momentum")
_MOMENTUM = Plan(
    (
        SweepPlan(
            Fields(parent=("velocity",), writes=("velocity", "joint_pose", "mass_moments", "momentum")),
            StepPlan(_momentum),
        ),
        SweepPlan(
            Fields(own=("joint_pose", "mass_moments", "momentum"), adds=("mass_moments", "momentum")),
            StepPlan(_gather_momentum),
            inward=True,
        ),
        SweepPlan(Fields(own=("mass_moments", "momentum")), world=StepPlan(_central_momentum, ((0, all_of),))),
    )
)

# Momentum matrix: composite bodies inward, their momentum per unit velocity seen from the mass centre


def _composite_and_pose(x: Context) -> Any:
    return *own_inertia(x), _world_pose(x)[0]


def _world_pose(x: Context) -> Any:
    pose = posed(x.parent["pose"]).then(posed(x.body.constants)).then(x.body.pose(x.given["q"]))
    return (pose,)


def _write_centre(x: Context) -> Any:
    return (_mass_centre(x, x.own["inertia"]),)


def _central_columns(x: Context) -> Any:
    pose, inertia = posed(x.own["pose"]), inertia_of(x.own["inertia"])
    columns = (about(x.root["centre"], pose, unit_momentum(inertia, c)) for c in x.body.joint.columns)
    return (list(zip(*columns, strict=True)),)


_AT_ORIGIN: dict[str, Scalars] = {"pose": tuple(flatten(Pose())), "rotation": tuple(flatten(IDENTITY))}


def _from_origin(model: Model) -> dict[str, Scalars]:
    return _AT_ORIGIN | falling(model)


_MOMENTUM_MATRIX = Plan(
    (
        SweepPlan(Fields(parent=("pose",), writes=("joint_pose", "inertia", "pose")), StepPlan(_composite_and_pose)),
        COMPOSITE[1],
        SweepPlan(Fields(own=("inertia",), writes=("centre",)), world=StepPlan(_write_centre)),
        SweepPlan(Fields(own=("pose", "inertia"), root=("centre",)), StepPlan(_central_columns, ((0, by_row),))),
    ),
    _from_origin,
)

# Frames: along the path to their body, and a last step with their placement


def _frame_pose(x: Context) -> Any:
    rotation, position = posed(x.parent["pose"]).then(posed(x.body.constants))
    return ([*((*row, p) for row, p in zip(rotation, position, strict=True)), (0.0, 0.0, 0.0, 1.0)],)


def _velocity_and_rotation(x: Context) -> Any:
    pose = x.body.pose(x.given["q"])
    moving = moved(x.body.link(pose), x.body.motion(x.given["v"]), velocity(x.parent["velocity"]))
    return moving, _world_rotation(x, pose)


def _world_rotation(x: Context, pose: Pose) -> Any:
    """Return R of the body in the world."""
    return matmul(matmul(square(x.parent["rotation"]), posed(x.body.constants).rotation), pose.rotation)


def _frame_velocity(x: Context) -> Any:
    rotation, moving = square(x.parent["rotation"]), velocity(x.parent["velocity"])
    linear = velocity_at(rotation, moving, posed(x.body.constants).position)
    return ((linear, matvec(rotation, moving.angular)),)


def _acceleration_and_rotation(x: Context) -> Any:
    moving, _, _ = motion(x)
    return moving, _world_rotation(x, x.body.pose(x.given["q"]))


def _frame_acceleration(x: Context) -> Any:
    rotation, own = square(x.parent["rotation"]), accelerated(x.parent["motion"])
    linear = acceleration_at(x.model, rotation, own, posed(x.body.constants).position)
    return ((linear, matvec(rotation, own.alpha)),)


def _frame_plan(
    fields: tuple[str, ...], body: StepPlan, frame: Callable[[Context], Any], layout: Layout = all_of
) -> Plan:
    """Return a plan that passes out to the bodies of frames and ends with a step at every frame."""
    path = SweepPlan(Fields(parent=fields, writes=fields), body)
    return Plan(
        (path, SweepPlan(Fields(parent=fields), frame=StepPlan(frame, ((0, layout),)))), _from_origin, is_massless=True
    )


def _frame_position(x: Context) -> Any:
    return (posed(x.parent["pose"]).apply(posed(x.body.constants).position),)


def _jacobian_columns(x: Context) -> Any:
    return [column_at(posed(x.own["pose"]), column, x.root["frame_origin"]) for column in x.body.joint.columns]


def _jacobian(x: Context) -> Any:
    return (list(zip(*_jacobian_columns(x), strict=True)),)


def _forces(x: Context) -> Any:
    wrench = x.given["wrench"]
    return ([sum((a * b for a, b in zip(column, wrench, strict=True)), start=0.0) for column in _jacobian_columns(x)],)


def _jacobian_plan(body: StepPlan) -> Plan:
    """Return a plan along the path to a frame that needs the frame's origin at every body."""
    path = SweepPlan(Fields(parent=("pose",), writes=("pose",)), StepPlan(_world_pose))
    reach = SweepPlan(Fields(parent=("pose",), sums=("frame_origin",)), frame=StepPlan(_frame_position))
    back = SweepPlan(Fields(own=("pose",), root=("frame_origin",)), body)
    return Plan((path, reach, back), _from_origin, is_massless=True, has_gaps=True)


def _linear(step: Callable[[Context], Any]) -> Callable[[Context], Any]:
    """Return a step of a frame that gives the linear part alone."""
    return lambda x: (step(x)[0][0],)


_POSES = (("pose",), StepPlan(_world_pose))
_VELOCITIES = (("velocity", "rotation"), StepPlan(_velocity_and_rotation))
_ACCELERATIONS = (("motion", "rotation"), StepPlan(_acceleration_and_rotation))
PLANS: dict[str, Plan] = {
    "gibbs": _sum_plan("motion", _gibbs),
    "kinetic_energy": _sum_plan("velocity", _energy),
    "potential_energy": _mass_plan(_potential, _mass_moments_and_springs, ("total",)),
    "centre_of_mass": _mass_plan(_centre),
    "momentum": _MOMENTUM,
    "momentum_matrix": _MOMENTUM_MATRIX,
    "pose": _frame_plan(*_POSES, _frame_pose),
    "velocity": _frame_plan(*_VELOCITIES, _frame_velocity),
    "acceleration": _frame_plan(*_ACCELERATIONS, _frame_acceleration),
    "jacobian": _jacobian_plan(StepPlan(_jacobian, ((0, by_row),))),
    **dict.fromkeys(("wrench_forces", "tree_wrench_forces"), _jacobian_plan(StepPlan(_forces, ((0, by_velocity),)))),
    "point_positions": _frame_plan(*_POSES, _frame_position, by_index),
    "point_velocities": _frame_plan(*_VELOCITIES, _linear(_frame_velocity), by_index),
    "point_biases": _frame_plan(*_ACCELERATIONS, _linear(_frame_acceleration), by_index),
}
"""Verbs by their passes, and how points of a robot move."""
