"""Rotations: about an axis, from a unit quaternion.

``R_AB`` turns coordinates in B into coordinates in A.
"""

from __future__ import annotations

import math

from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import IDENTITY, dot, madd, matmul, matvec, mscale, outer, scale, skew, sub, transpose


def about(axis: Vector, c: Scalar, s: Scalar) -> Matrix:
    """Return the rotation about a unit axis by the angle of cosine c and sine s.

    R = c·1 + s·ñ + (1 − c)·n nᵀ. For n along z this has four trivial entries, which a trace folds away. A component of
    ±1 is not enough for that: beside components below 1.5e-8 it is the rounding of a tilted axis.

    >>> about((0.0, 0.0, 1.0), 0.0, 1.0)
    ((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    """
    for k in range(3):
        if abs(axis[k]) == 1.0 and axis[k - 2] == axis[k - 1] == 0.0:
            return _about_coordinate(k, c, s * axis[k])
    return madd(madd(mscale(c, IDENTITY), mscale(s, skew(axis))), mscale(1.0 - c, outer(axis, axis)))


def _about_coordinate(k: int, c: Scalar, s: Scalar) -> Matrix:
    if k == 0:
        return ((1.0, 0.0, 0.0), (0.0, c, -s), (0.0, s, c))
    if k == 1:
        return ((c, 0.0, s), (0.0, 1.0, 0.0), (-s, 0.0, c))
    return ((c, -s, 0.0), (s, c, 0.0), (0.0, 0.0, 1.0))


def rotate_symmetric(r: Matrix, s: Matrix) -> Matrix:
    """Return R S Rᵀ of a symmetric S: 8 multiplications about a coordinate axis, by the planar rule below, else 30.

    Where the two halves of S differ by rounding, the upper one counts.
    """
    s = (s[0], (s[0][1], s[1][1], s[1][2]), (s[0][2], s[1][2], s[2][2]))
    planar = _rotate_planar(r, s)
    if planar is not None:
        return planar
    half = tuple(matvec(s, row) for row in r)  # rows of R S
    xx, yy, zz = (dot(r[k], half[k]) for k in range(3))
    xy, xz, yz = dot(r[0], half[1]), dot(r[0], half[2]), dot(r[1], half[2])
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def rotate_tensor(r: Matrix, m: Matrix) -> Matrix:
    """Return R M Rᵀ of any M: 12 multiplications about a coordinate axis, else 54."""
    planar = _rotate_planar(r, m)
    return matmul(matmul(r, m), transpose(r)) if planar is None else planar


def _is_unit(a: Vector, k: int) -> bool:
    """Return whether a vector is exactly the coordinate axis k: numbers, not scalars of a traced program."""
    return all(isinstance(x, float) and x == (1.0 if i == k else 0.0) for i, x in enumerate(a))


def _rotate_planar(r: Matrix, m: Matrix) -> Matrix | None:
    """Return R M Rᵀ if R is a rotation about a coordinate axis z.

    With g = s·(Mxx − Myy) + c·(Mxy + Myx):  Mxx' = Mxx − s·g,  Myy' = Myy + s·g,  Mxy' = c·g − Myx,  Myx' = c·g − Mxy.
    """
    for z in range(3):
        if _is_unit(r[z], z) and _is_unit((r[0][z], r[1][z], r[2][z]), z):
            break
    else:
        return None
    x, y = (z + 1) % 3, (z + 2) % 3
    c, s = r[x][x], r[y][x]
    g = s * (m[x][x] - m[y][y]) + c * (m[x][y] + m[y][x])
    sg, cg = s * g, c * g
    turned = {
        (x, x): m[x][x] - sg,
        (y, y): m[y][y] + sg,
        (z, z): m[z][z],
        (x, y): cg - m[y][x],
        (y, x): cg - m[x][y],
        (x, z): c * m[x][z] - s * m[y][z],
        (y, z): s * m[x][z] + c * m[y][z],
        (z, x): c * m[z][x] - s * m[z][y],
        (z, y): s * m[z][x] + c * m[z][y],
    }
    return (
        (turned[0, 0], turned[0, 1], turned[0, 2]),
        (turned[1, 0], turned[1, 1], turned[1, 2]),
        (turned[2, 0], turned[2, 1], turned[2, 2]),
    )


def from_quaternion(x: Scalar, y: Scalar, z: Scalar, w: Scalar) -> Matrix:
    """Return the rotation of a quaternion, vector part first, after normalising it.

    >>> from_quaternion(0.0, 0.0, 0.0, 1.0) == IDENTITY
    True
    """
    s = 2.0 / (x * x + y * y + z * z + w * w)
    a, b, c = s * x, s * y, s * z
    xx, yy, zz, xy, xz, yz = a * x, b * y, c * z, a * y, a * z, b * z
    wx, wy, wz = a * w, b * w, c * w
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )


def normalized(a: Vector) -> Vector:
    """Return a / ‖a‖ for a vector of floats.

    >>> normalized((0.0, 0.0, 2.0))
    (0.0, 0.0, 1.0)
    """
    return scale(1.0 / math.sqrt(dot(a, a)), a)


def perpendicular(a: Vector, near: Vector) -> Vector:
    """Return the unit vector at right angles to a unit vector that is nearest to another, of floats.

    >>> perpendicular((0.0, 0.0, 1.0), (2.0, 0.0, 3.0))
    (1.0, 0.0, 0.0)
    """
    for _ in range(2):  # the first difference may cancel most digits, the second does not
        near = normalized(sub(near, scale(dot(a, near), a)))
    return near


def to_quaternion(r: Matrix) -> tuple[float, float, float, float]:
    """Return the unit quaternion x y z w of a rotation, exact to rounding for every angle.

    >>> to_quaternion(((0.0, -1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)))[2:]
    (0.7071067811865475, 0.7071067811865475)
    """
    # twice the squares of w, x, y and z; the largest divides the others
    squares = [
        1.0 + r[0][0] + r[1][1] + r[2][2],
        *(1.0 + 2.0 * r[k][k] - (r[0][0] + r[1][1] + r[2][2]) for k in range(3)),
    ]
    k = max(range(4), key=squares.__getitem__)
    if k == 0:
        found = [squares[0], r[2][1] - r[1][2], r[0][2] - r[2][0], r[1][0] - r[0][1]]
    else:
        i = k - 1
        j, m = (i + 1) % 3, (i + 2) % 3
        found = [0.0] * 4
        found[0], found[k] = r[m][j] - r[j][m], squares[k]
        found[1 + j], found[1 + m] = r[j][i] + r[i][j], r[m][i] + r[i][m]
    size = math.hypot(*found)
    w, x, y, z = (entry / size for entry in found)
    return (x, y, z, w)
