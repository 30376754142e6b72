"""Three-vectors and 3×3 matrices as tuples of scalars of any type.

Tuples, not arrays: tracing records every scalar operation, so that products with zero are folded away.
"""

from __future__ import annotations

from appell.spatial.scalar import Matrix, Scalar, Vector

ZERO: Vector = (0.0, 0.0, 0.0)
IDENTITY: Matrix = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def sub(a: Vector, b: Vector) -> Vector:
    """Return a − b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(s: Scalar, a: Vector) -> Vector:
    """Return s·a."""
    return (s * a[0], s * a[1], s * a[2])


def negate(a: Vector) -> Vector:
    """Return −a."""
    return (-a[0], -a[1], -a[2])


def dot(a: Vector, b: Vector) -> Scalar:
    """Return a·b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def skew(a: Vector) -> Matrix:
    """Return ã, the tensor with ã·b = a × b."""
    return ((0.0, -a[2], a[1]), (a[2], 0.0, -a[0]), (-a[1], a[0], 0.0))


def outer(a: Vector, b: Vector) -> Matrix:
    """Return a bᵀ."""
    return (scale(a[0], b), scale(a[1], b), scale(a[2], b))


def transpose(m: Matrix) -> Matrix:
    """Return mᵀ."""
    return ((m[0][0], m[1][0], m[2][0]), (m[0][1], m[1][1], m[2][1]), (m[0][2], m[1][2], m[2][2]))


def matvec(m: Matrix, a: Vector) -> Vector:
    """Return m·a."""
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


def matvec_t(m: Matrix, a: Vector) -> Vector:
    """Return mᵀ·a."""
    return matvec(transpose(m), a)


def matmul(m: Matrix, n: Matrix) -> Matrix:
    """Return m·n."""
    t = transpose(n)
    return (matvec(t, m[0]), matvec(t, m[1]), matvec(t, m[2]))


def madd(m: Matrix, n: Matrix) -> Matrix:
    """Return m + n."""
    return (add(m[0], n[0]), add(m[1], n[1]), add(m[2], n[2]))


def msub(m: Matrix, n: Matrix) -> Matrix:
    """Return m − n."""
    return (sub(m[0], n[0]), sub(m[1], n[1]), sub(m[2], n[2]))


def mscale(s: Scalar, m: Matrix) -> Matrix:
    """Return s·m."""
    return (scale(s, m[0]), scale(s, m[1]), scale(s, m[2]))


def trace(m: Matrix) -> Scalar:
    """Return the sum of the diagonal."""
    return m[0][0] + m[1][1] + m[2][2]


def complement(m: Matrix) -> Matrix:
    """Return tr(m)·1 − m."""
    return (
        (m[1][1] + m[2][2], -m[0][1], -m[0][2]),
        (-m[1][0], m[0][0] + m[2][2], -m[1][2]),
        (-m[2][0], -m[2][1], m[0][0] + m[1][1]),
    )
