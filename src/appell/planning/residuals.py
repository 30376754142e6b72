"""Residuals of tasks and their Jacobians, on scalars of any type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from appell.recursion import kinematics, momentum
from appell.robot.verbs.embedding import Matrix, Posture, dot
from appell.spatial.scalar import Matrix as Rotation
from appell.spatial.scalar import Scalar, Vector, select, sqrt
from appell.spatial.vector import IDENTITY, matmul, transpose

_TERMS = 12
"""Terms of the arctangent's series up to tan(π/16): the next one is below rounding."""


class Residual(NamedTuple):
    """Three numbers, zero at the target, and their derivatives by the independent velocities."""

    value: Sequence[Scalar]
    rows: Matrix


def position(at: Posture, goal: Sequence[Scalar], frame: str) -> Residual:
    """Return p − p_goal in world axes, and its Jacobian."""
    pose = kinematics.pose(at.model, at.q, frame)
    value = [pose[k][3] - goal[k] for k in range(3)]
    return Residual(value, at.reduced_columns(kinematics.jacobian(at.model, at.q, frame)[:3]))


def centre_of_mass(at: Posture, goal: Sequence[Scalar], _: None) -> Residual:
    """Return c − c_goal in world axes, and its Jacobian: that of the momentum, divided by the mass."""
    value = [x - y for x, y in zip(momentum.centre_of_mass(at.model, at.q), goal, strict=True)]
    mass = momentum.total_mass(at.model)
    rows = [[x / mass for x in row] for row in momentum.momentum_matrix(at.model, at.q)[:3]]
    return Residual(value, at.reduced_columns(rows))


def orientation(at: Posture, goal: Sequence[Scalar], frame: str) -> Residual:
    """Return the rotation vector e of R_goalᵀR, and its Jacobian J_l⁻¹(e) R_goalᵀ J_ω."""
    turned = transpose((tuple(goal[:3]), tuple(goal[3:6]), tuple(goal[6:])))
    pose = kinematics.pose(at.model, at.q, frame)
    R = tuple(tuple(row[:3]) for row in pose[:3])
    value, inverse = logarithm(matmul(turned, R))  # type: ignore[arg-type]  # three rows of three
    angular = at.reduced_columns(kinematics.jacobian(at.model, at.q, frame)[3:])
    columns = list(zip(*angular, strict=True))
    return Residual(value, [[dot(row, column) for column in columns] for row in matmul(inverse, turned)])


def logarithm(R: Rotation) -> tuple[Vector, Rotation]:
    """Return the rotation vector e of a rotation, and J_l⁻¹(e), which takes the angular velocity to ė.

    The quaternion is taken from the largest of its four squares, so that half a turn is no exception. With
    t = tan(θ/16), which two roots give from s = sin(θ/2) and w = cos(θ/2), θ = 16 atan t is a short series:

        e = (θ/s)·(x, y, z),    J_l⁻¹ = 1 − ½[e]ₓ + c [e]ₓ²,    c = (1 − (θ/2) cot(θ/2)) / θ².
    """
    (a, b, c), (d, e, f), (g, h, i) = R
    squares = [1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i]
    choices = [
        (h - f, c - g, d - b, squares[0]),
        (squares[1], b + d, c + g, h - f),
        (b + d, squares[2], f + h, c - g),
        (c + g, f + h, squares[3], d - b),
    ]
    largest, numbers = squares[0], choices[0]
    for square, other in zip(squares[1:], choices[1:], strict=True):
        is_larger = square - largest
        largest = select(is_larger, square, largest)
        numbers = tuple(select(is_larger, new, old) for new, old in zip(other, numbers, strict=True))
    scale = 0.5 / sqrt(largest)
    scale = select(numbers[3], scale, -scale)  # the shorter way round
    x, y, z, w = (scale * number for number in numbers)
    s2 = x * x + y * y + z * z
    ratio = 1.0 / (1.0 + w)  # tan(θ/4) / s, and by halves tan(θ/16) / s
    for _ in range(2):
        ratio = ratio / (1.0 + sqrt(1.0 + s2 * (ratio * ratio)))
    u = s2 * (ratio * ratio)
    series: Scalar = 1.0 / (2 * _TERMS - 1)
    for k in reversed(range(1, _TERMS)):
        series = 1.0 / (2 * k - 1) - u * series
    factor = 16.0 * ratio * series  # θ/s
    vector = (factor * x, factor * y, factor * z)
    square = factor * factor * s2
    near = 1.0 / 12.0 + square * (1.0 / 720.0 + square / 30240.0)
    is_large = square - 1e-4
    curved = select(is_large, (1.0 - 0.5 * factor * w) / select(is_large, square, 1.0), near)
    return vector, _inverse_left_jacobian(vector, square, curved)


def _inverse_left_jacobian(e: Vector, square: Scalar, curved: Scalar) -> Rotation:
    """Return 1 − ½[e]ₓ + c(e eᵀ − |e|²)."""
    x, y, z = (0.5 * part for part in e)
    skew = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))
    rest = 1.0 - curved * square
    rows = [
        tuple(curved * (e[i] * e[j]) + skew[i][j] + (rest if IDENTITY[i][j] else 0.0) for j in range(3))
        for i in range(3)
    ]
    return rows[0], rows[1], rows[2]
