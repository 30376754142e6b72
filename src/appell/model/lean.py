"""The lean model: the same dynamics, in frames and with moments that leave the fewest operations.

The frames of a robot file are arbitrary for its dynamics. Before a recursion is traced, each body gets a working frame,
and moments that a joint cannot distinguish move to the parent:

- *Frames.* z along the joint axis, the origin at the foot of the common normal with the parent's axis, x along the
  common normal with the next axis. A constant rotation is then one about x, a position (a, 0, b): Denavit and
  Hartenberg's parameters, with the offset b kept in the parent, where it costs least. Angles of file frames about their
  own axes become part of the joint's offset.
- *Bundles.* Where neighbouring axes are parallel, the bodies share one set of axes that rotates with none of them; each
body's constants are rotated by the sum of its bundle's angles, instead of every vector that crosses a joint.
- *Moments.* Mass on a joint's axis moves in the same way with the body as with its parent. So m, h_z and Σ_zz of a
  turning body go to its parent, and Σ of a sliding one; what remains are the base parameters of Gautier and Khalil
  (1990), found here by moving moments instead of by formulas.

Joint torques, the mass matrix and accelerations are unchanged to rounding. Energies and poses are not preserved.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from appell.model.model import WORLD, Joint, Model
from appell.spatial.inertia import NULL, Inertia
from appell.spatial.pose import Pose
from appell.spatial.rotation import about, normalized, perpendicular
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, matvec_t, scale, transpose

Z: Vector = (0.0, 0.0, 1.0)
TURNING = ("revolute", "continuous")
SLIDING = ("prismatic",)
ROUNDING = 2e-15
"""Relative size below which a number is a rounded zero."""
NEAR = 4.0
"""Largest shift of a working frame along its axis, in lengths of the robot's longest link."""


class Line(NamedTuple):
    """An axis in some frame: a point on it and its unit direction."""

    point: Vector
    direction: Vector


def lean(model: Model, *, is_numeric: bool = True) -> Model:
    """Return a model of the same joints, in the same order, with the same dynamics and the fewest nonzero constants.

    Where inertias are traced scalars, frames follow from the joints only.
    """
    return _bundle(_regroup(_reframe(model, is_numeric=is_numeric), is_numeric=is_numeric))


def _reframe(model: Model, *, is_numeric: bool) -> Model:
    """Return the model in working frames."""
    successor = _heirs(model)
    size = max((math.hypot(*body.joint.placement.position) for body in model.bodies), default=0.0)
    working: dict[int, Pose] = {WORLD: _working_world(model, successor.get(WORLD))}
    bodies = []
    for i, body in enumerate(model.bodies):
        joint = body.joint
        seat = working[body.parent].inverse().then(joint.placement)  # the joint frame in the parent's working frame
        if joint.kind in TURNING + SLIDING:
            # normalised, or its rounding error would grow with every body
            line = Line(seat.position, normalized(matvec(seat.rotation, joint.axis)))
            placed = _seat(line, size, slides=joint.kind in SLIDING)
            # N: the working frame at q = 0, before its own turn about z, seen from the body's frame
            before = Pose(seat.rotation, seat.position).inverse().then(placed)
            turn = _turn(model, i, successor.get(i), before, is_numeric=is_numeric)
            turned = Pose(about(Z, math.cos(turn), math.sin(turn)), ZERO)
            working[i] = before.then(turned)
            joint = _with_axis_z(joint, placed, turned, turn)
        else:
            working[i] = Pose()
            joint = replace(joint, placement=seat)
        inertia = body.inertia.moved(_clean_pose(working[i].inverse()))
        bodies.append(replace(body, joint=replace(joint, placement=_clean_pose(joint.placement)), inertia=inertia))
    gravity = _clean_vector(matvec_t(working[WORLD].rotation, model.gravity))
    frames = (replace(f, placement=_clean_pose(working[f.body].inverse().then(f.placement))) for f in model.frames)
    return replace(model, bodies=tuple(bodies), gravity=gravity, frames=tuple(frames))


def _with_axis_z(joint: Joint, placed: Pose, turned: Pose, turn: float) -> Joint:
    if joint.kind in SLIDING:
        # sliding from the offset on: a constant part of the position
        position = add(placed.position, scale(joint.offset, matvec(placed.rotation, Z)))
        return replace(joint, axis=Z, offset=0.0, placement=Pose(placed.then(turned).rotation, position))
    return replace(joint, axis=Z, offset=_clean(joint.offset + turn, 1.0), placement=placed)


def _bundle(model: Model) -> Model:
    """Return the model with the rotations of neighbouring parallel axes applied to the constants.

    Vectors then cross the whole bundle without rotation; the few constants of its bodies are rotated instead.
    """
    deferred: set[int] = set()
    for i, body in enumerate(model.bodies):
        parent = body.parent
        pair = parent != WORLD and body.joint.kind in TURNING and model.bodies[parent].joint.kind in TURNING
        if pair and body.joint.placement.rotation == IDENTITY:
            deferred |= {i, parent}
    return replace(model, deferred=frozenset(deferred))


def _heirs(model: Model) -> dict[int, int]:
    """Return for each body with children the child with the largest subtree: its axis defines the working frame."""
    size = [1] * len(model.bodies)
    successor: dict[int, int] = {}
    for i in reversed(range(len(model.bodies))):
        parent = model.bodies[i].parent
        if parent != WORLD:
            size[parent] += size[i]
        if parent not in successor or size[i] >= size[successor[parent]]:
            successor[parent] = i
    return successor


def _working_world(model: Model, successor: int | None) -> Pose:
    """Return a world frame on the first axis, with gravity in its xz plane."""
    if successor is None or model.bodies[successor].joint.kind not in TURNING + SLIDING:
        return Pose()
    joint = model.bodies[successor].joint
    z = matvec(joint.placement.rotation, joint.axis)
    is_vertical = math.hypot(*cross(model.gravity, z)) <= 1e-9
    x = perpendicular(z, min(IDENTITY, key=lambda e: abs(dot(e, z))) if is_vertical else model.gravity)
    return Pose(_clean_matrix(_basis(x, z)), joint.placement.position)


def _basis(x: Vector, z: Vector) -> Matrix:
    return transpose((x, cross(z, x), z))


def _seat(line: Line, size: float, *, slides: bool) -> Pose:
    """Return the working frame of an axis in that of its parent: x along their common normal."""
    z = line.direction
    sine = math.hypot(z[0], z[1])
    if sine > ROUNDING:
        x: Vector = (-z[1] / sine, z[0] / sine, 0.0)
        if x[0] < -ROUNDING:
            x = scale(-1.0, x)
    else:
        z = (0.0, 0.0, math.copysign(1.0, z[2]))
        x = (1.0, 0.0, 0.0)
    return Pose(_clean_matrix(_basis(x, z)), ZERO if slides else _foot(Line(line.point, z), sine, size))


def _foot(line: Line, sine: float, size: float) -> Vector:
    """Return the point of an axis nearest the parent's z axis, if it is near its own origin in the file.

    Axes that are almost parallel meet far away, where moments would lose their digits; a frame stays within a few of
    the robot's longest links of its origin in the file.
    """
    point, z = line
    along = -(point[0] * z[0] + point[1] * z[1]) / (sine * sine) if sine > ROUNDING else -dot(point, z)
    return add(point, scale(along, z)) if abs(along) <= NEAR * size else point


def _turn(model: Model, i: int, successor: int | None, before: Pose, *, is_numeric: bool) -> float:
    """Return the angle about z that aligns the body's x with the common normal to its successor's axis.

    `before` is the working frame before the turn, in the body's frame.
    """
    inverse = before.inverse()
    if successor is not None and model.bodies[successor].joint.kind in TURNING + SLIDING:
        joint = model.bodies[successor].joint
        z = matvec_t(before.rotation, matvec(joint.placement.rotation, joint.axis))
        point = inverse.apply(joint.placement.position)
        sine = math.hypot(z[0], z[1])
        if sine > ROUNDING:
            return math.atan2(z[0], -z[1])
        if math.hypot(point[0], point[1]) > 1e-12 and joint.kind in TURNING:
            return math.atan2(point[1], point[0])
    if not is_numeric:
        return 0.0
    inertia = model.bodies[i].inertia.moved(inverse)
    h, s = inertia.first, inertia.second
    size = max(abs(inertia.mass), 1e-300)
    if math.hypot(h[0], h[1]) > 1e-12 * size:
        return math.atan2(h[1], h[0])
    return 0.5 * math.atan2(2.0 * s[0][1], s[0][0] - s[1][1])


def _regroup(model: Model, *, is_numeric: bool) -> Model:
    """Return the model with every moment that a joint cannot distinguish moved to the parent, tips first."""
    moments = [body.inertia for body in model.bodies]
    for i in reversed(range(len(model.bodies))):
        joint, (m, h, s) = model.bodies[i].joint, _clean_inertia(moments[i]) if is_numeric else moments[i]
        if joint.kind in TURNING:
            shared = Inertia(m, (0.0, 0.0, h[2]), (ZERO, ZERO, (0.0, 0.0, s[2][2])))
            kept = Inertia(0.0, (h[0], h[1], 0.0), (s[0], s[1], (s[2][0], s[2][1], 0.0)))
        elif joint.kind in SLIDING:
            shared = Inertia(0.0, ZERO, s)
            kept = Inertia(m, h, NULL)
        else:
            shared, kept = Inertia(), Inertia(m, h, s)
        moments[i] = kept
        parent = model.bodies[i].parent
        if parent != WORLD:
            moments[parent] = moments[parent].plus(shared.moved(joint.placement))
    bodies = (replace(b, inertia=m) for b, m in zip(model.bodies, moments, strict=True))
    return replace(model, bodies=tuple(bodies))


def _clean(x: float, size: float) -> float:
    return 0.0 if abs(x) <= ROUNDING * size else x


def _cleaned(v: Vector, size: float) -> Vector:
    return (_clean(float(v[0]), size), _clean(float(v[1]), size), _clean(float(v[2]), size))


def _clean_vector(v: Vector) -> Vector:
    return _cleaned(v, max(abs(x) for x in v))


def _clean_matrix(m: Matrix) -> Matrix:
    """Return a rotation with rounded zeros and ones made exact."""
    return (_unit_row(m[0]), _unit_row(m[1]), _unit_row(m[2]))


def _unit_row(row: Vector) -> Vector:
    return (_unit(float(row[0])), _unit(float(row[1])), _unit(float(row[2])))


def _unit(x: float) -> float:
    return 0.0 if abs(x) <= ROUNDING else math.copysign(1.0, x) if abs(abs(x) - 1.0) <= ROUNDING else x


def _clean_pose(pose: Pose) -> Pose:
    return Pose(_clean_matrix(pose.rotation), _clean_vector(pose.position))


def _clean_inertia(inertia: Inertia) -> Inertia:
    m, h, s = inertia
    size = max(abs(x) for row in s for x in row)
    arm = max(*(abs(x) for x in h), math.sqrt(abs(m) * size))
    return Inertia(float(m), _cleaned(h, arm), (_cleaned(s[0], size), _cleaned(s[1], size), _cleaned(s[2], size)))
