"""Rotations: about an axis, from roll-pitch-yaw, from a unit quaternion.

``R_AB`` turns coordinates in B into coordinates in A.
"""

from __future__ import annotations

import math

from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import IDENTITY, cross, dot, madd, matmul, mscale, outer, scale, skew


def about(axis: Vector, c: Scalar, s: Scalar) -> Matrix:
    """Return the rotation about a unit axis by the angle of cosine c and sine s.

    R = c·1 + s·ñ + (1 − c)·n nᵀ. For n along z this has four trivial columns, which a trace folds away.

    >>> about((0.0, 0.0, 1.0), 0.0, 1.0)
    ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    for k in range(3):
        if abs(axis[k]) == 1.0:
            return _about_coordinate(k, c, s * axis[k])
    return madd(madd(mscale(c, IDENTITY), mscale(s, skew(axis))), mscale(1.0 - c, outer(axis, axis)))


def _about_coordinate(k: int, c: Scalar, s: Scalar) -> Matrix:
    if k == 0:
        return ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
    if k == 1:
        return ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c))
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


def from_rpy(roll: float, pitch: float, yaw: float) -> Matrix:
    """Return Rz(yaw)·Ry(pitch)·Rx(roll), the rotation of a URDF ``rpy``.

    >>> from_rpy(0.0, 0.0, 0.0) == IDENTITY
    True
    """
    x = about((1.0, 0.0, 0.0), math.cos(roll), math.sin(roll))
    y = about((0.0, 1.0, 0.0), math.cos(pitch), math.sin(pitch))
    z = about((0.0, 0.0, 1.0), math.cos(yaw), math.sin(yaw))
    return matmul(matmul(z, y), x)


def to_rpy(rotation: Matrix) -> Vector:
    """Return (roll, pitch, yaw) of a rotation; yaw is zero where pitch is ±π/2.

    >>> [round(x, 12) for x in to_rpy(from_rpy(0.1, -0.2, 0.3))]
    [0.1, -0.2, 0.3]
    """
    r = rotation
    level = math.hypot(r[0][0], r[1][0])
    pitch = math.atan2(-r[2][0], level)
    if level > 1e-12:
        return (math.atan2(r[2][1], r[2][2]), pitch, math.atan2(r[1][0], r[0][0]))
    return (math.atan2(-r[1][2], r[1][1]), pitch, 0.0)


def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Matrix:
    """Return the rotation of a unit quaternion, vector part first.

    >>> from_quaternion(0.0, 0.0, 0.0, 1.0) == IDENTITY
    True
    """
    xx, yy, zz, xy, xz, yz = x * x, y * y, z * z, x * y, x * z, y * z
    wx, wy, wz = w * x, w * y, w * z
    return (
        (1.0 - 2.0 * (yy + zz), 2.0 * (xy - wz), 2.0 * (xz + wy)),
        (2.0 * (xy + wz), 1.0 - 2.0 * (xx + zz), 2.0 * (yz - wx)),
        (2.0 * (xz - wy), 2.0 * (yz + wx), 1.0 - 2.0 * (xx + yy)),
    )


def normalized(a: Vector) -> Vector:
    """Return a / ‖a‖ for a vector of floats.

    >>> normalized((0.0, 0.0, 2.0))
    (0.0, 0.0, 1.0)
    """
    return scale(1.0 / math.sqrt(dot(a, a)), a)


def perpendicular(a: Vector) -> Vector:
    """Return some unit vector at right angles to a unit vector of floats.

    >>> perpendicular((0.0, 0.0, 1.0))
    (1.0, 0.0, 0.0)
    """
    smallest = min(range(3), key=lambda k: (abs(a[k]) > 0.5, k))
    if abs(a[2]) == 1.0:
        return (1.0, 0.0, 0.0)
    basis = IDENTITY[smallest]
    return normalized(cross(a, basis))
