"""Kinds of joint, one small class each, and the table of them.

A joint type defines three functions. *Pose*: the pose of the child in the joint frame as a function of q. *Motion
subspace*: its columns, each an angular and a linear part in the child's frame, constant there for every type, so that
the joint adds Σ wₖvₖ to the angular velocity and Σ lₖvₖ to the velocity of the origin. *Rates*: q̇ as a function of q
and v, equal to v except for free, ball and planar joints. *Transport*: ω × of the linear velocities of joints that
carry their own axes along, free and planar ones. Recursions, Jacobians and regressors follow from these;
:mod:`appell.model.manifold` integrates a finite motion.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from appell.spatial.pose import Pose
from appell.spatial.rotation import about, from_quaternion, perpendicular
from appell.spatial.scalar import Scalar, Vector, cos, sin
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matvec, matvec_t, scale

Scalars = tuple[Scalar, ...]


class Column(NamedTuple):
    """One column of a motion subspace: angular and linear part of a unit velocity, in the child's frame."""

    angular: Vector
    linear: Vector


class Shape(Protocol):
    """The geometry of a joint: its axis, and the advance per radian of a screw [m/rad]."""

    @property
    def axis(self) -> Vector:
        """Return the unit axis in the joint frame."""

    @property
    def pitch(self) -> float:
        """Return the advance per radian."""


class Kind(Protocol):
    """The protocol of a joint type."""

    nq: int
    nv: int
    turns: bool
    """Whether the one coordinate is an angle, in files given in radians or degrees."""

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the pose of the child's frame in the joint frame."""

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the columns of the motion subspace in the child's frame."""

    def rates(self, q: Scalars, v: Scalars) -> Scalars:
        """Return q̇."""

    def speeds(self, q: Scalars, rates: Scalars) -> Scalars:
        """Return the v that corresponds to q̇; the part of a quaternion's rate that changes its length is ignored."""

    def transport(self, v: Scalars, u: Scalars) -> Scalars:
        """Return what is added to u̇, for velocities u, in axes that do not turn: ω × u of linear ones, ω from v."""


class _Plain:
    """Joints whose velocities are the rates of their coordinates."""

    def rates(self, q: Scalars, v: Scalars) -> Scalars:
        """Return v."""
        return v

    def speeds(self, q: Scalars, rates: Scalars) -> Scalars:
        """Return q̇."""
        return rates

    def transport(self, v: Scalars, u: Scalars) -> Scalars:
        """Return zeros: the directions of the velocities do not turn."""
        return (0.0,) * len(v)


class Revolute(_Plain):
    """Rotation about an axis; q in radians."""

    nq, nv, turns = 1, 1, True

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the rotation about the axis by q."""
        return Pose(about(joint.axis, cos(q[0]), sin(q[0])), ZERO)

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the axis as angular part."""
        return (Column(joint.axis, ZERO),)


class Prismatic(_Plain):
    """Translation along an axis; q in metres."""

    nq, nv, turns = 1, 1, False

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the translation along the axis by q."""
        return Pose(IDENTITY, scale(q[0], joint.axis))

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the axis as linear part."""
        return (Column(ZERO, joint.axis),)


class Helical(_Plain):
    """Screw motion: rotation about an axis with an advance of the pitch per radian; q in radians."""

    nq, nv, turns = 1, 1, True

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the screw motion by q."""
        return Pose(about(joint.axis, cos(q[0]), sin(q[0])), scale(q[0] * joint.pitch, joint.axis))

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the axis as angular part and the pitch along it as linear part."""
        return (Column(joint.axis, scale(joint.pitch, joint.axis)),)


class Cylindrical(_Plain):
    """Rotation about an axis (q₁, radians) and translation along it (q₂, metres)."""

    nq, nv, turns = 2, 2, False

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the rotation by q₁ and the translation by q₂."""
        return Pose(about(joint.axis, cos(q[0]), sin(q[0])), scale(q[1], joint.axis))

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the axis as angular part, then as linear part."""
        return (Column(joint.axis, ZERO), Column(ZERO, joint.axis))


class Planar:
    """Planar motion perpendicular to the axis.

    q: two positions in the joint frame [m] and the angle [rad]; v: the velocity in the child's own axes and the rate of
    the angle. About z the plane's axes are x and y.
    """

    nq, nv, turns = 3, 3, False

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the rotation by q₃ and the position q₁, q₂ in the plane."""
        first, second = plane(joint.axis)
        position = add(scale(q[0], first), scale(q[1], second))
        return Pose(about(joint.axis, cos(q[2]), sin(q[2])), position)

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the plane's two directions as linear parts and its normal as angular part."""
        first, second = plane(joint.axis)
        return (Column(ZERO, first), Column(ZERO, second), Column(joint.axis, ZERO))

    def rates(self, q: Scalars, v: Scalars) -> Scalars:
        """Return the velocity turned by q₃, and v₃."""
        c, s = cos(q[2]), sin(q[2])
        return (c * v[0] - s * v[1], s * v[0] + c * v[1], v[2])

    def speeds(self, q: Scalars, rates: Scalars) -> Scalars:
        """Return the rates of the positions turned back by q₃, and that of q₃."""
        c, s = cos(q[2]), sin(q[2])
        return (c * rates[0] + s * rates[1], c * rates[1] - s * rates[0], rates[2])

    def transport(self, v: Scalars, u: Scalars) -> Scalars:
        """Return the linear velocity turned by a quarter, times the rate of the angle."""
        return (-(v[2] * u[1]), v[2] * u[0], 0.0)


class Ball:
    """Rotation about a point; q: quaternion x y z w, v: angular velocity in the child's frame."""

    nq, nv, turns = 4, 3, False

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the rotation of the quaternion."""
        return Pose(from_quaternion(*q), ZERO)

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the coordinate axes as angular parts."""
        return tuple(Column(axis, ZERO) for axis in IDENTITY)

    def rates(self, q: Scalars, v: Scalars) -> Scalars:
        """Return ½ q ⊗ (ω, 0), orthogonal to q whatever its length."""
        x, y, z, w = q
        a, b, c = (0.5 * rate for rate in v)
        return (w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a, -(x * a + y * b + z * c))

    def speeds(self, q: Scalars, rates: Scalars) -> Scalars:
        """Return the vector part of 2 q⁻¹ ⊗ q̇."""
        x, y, z, w = q
        a, b, c, d = rates
        size = 2.0 / (x * x + y * y + z * z + w * w)
        turns = (w * a - x * d + z * b - y * c, w * b - y * d + x * c - z * a, w * c - z * d + y * a - x * b)
        return tuple(size * turn for turn in turns)

    def transport(self, v: Scalars, u: Scalars) -> Scalars:
        """Return zeros: there is no linear velocity."""
        return ZERO


class Free:
    """Free motion; q: position, quaternion x y z w; v: linear, then angular velocity, in the child's frame."""

    nq, nv, turns = 7, 6, False

    def pose(self, joint: Shape, q: Scalars) -> Pose:
        """Return the rotation of the quaternion and the position."""
        return Pose(from_quaternion(*q[3:]), (q[0], q[1], q[2]))

    def columns(self, joint: Shape) -> tuple[Column, ...]:
        """Return the coordinate axes as linear parts, then as angular parts."""
        return (*(Column(ZERO, axis) for axis in IDENTITY), *(Column(axis, ZERO) for axis in IDENTITY))

    def rates(self, q: Scalars, v: Scalars) -> Scalars:
        """Return the linear velocity rotated into the joint frame, and ½ q ⊗ (ω, 0)."""
        return (*matvec(from_quaternion(*q[3:]), (v[0], v[1], v[2])), *Ball().rates(q[3:], v[3:]))

    def speeds(self, q: Scalars, rates: Scalars) -> Scalars:
        """Return the rate of the position in the child's frame, and the vector part of 2 q⁻¹ ⊗ q̇."""
        linear = matvec_t(from_quaternion(*q[3:]), (rates[0], rates[1], rates[2]))
        return (*linear, *Ball().speeds(q[3:], rates[3:]))

    def transport(self, v: Scalars, u: Scalars) -> Scalars:
        """Return ω × the linear velocity."""
        return (*cross((v[3], v[4], v[5]), (u[0], u[1], u[2])), *ZERO)


def plane(axis: Vector) -> tuple[Vector, Vector]:
    """Return two unit vectors that complete the axis to a right-handed frame: x and y for the axis z.

    >>> plane((0.0, 0.0, 1.0))
    ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    """
    first = perpendicular(axis, min(IDENTITY, key=lambda unit: abs(dot(unit, axis))))
    return first, cross(axis, first)


KINDS: dict[str, Kind] = {
    "revolute": Revolute(),
    "continuous": Revolute(),
    "prismatic": Prismatic(),
    "helical": Helical(),
    "cylindrical": Cylindrical(),
    "planar": Planar(),
    "ball": Ball(),
    "free": Free(),
}
QUATERNION = {"free": slice(3, 7), "ball": slice(0, 4)}
"""The index of the quaternion among the coordinates of the types that have one."""
