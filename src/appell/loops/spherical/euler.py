"""Three Euler angles: the platform's attitude, its angular velocity and acceleration in its own axes, and back.

The angles turn about the moving axes of a sequence such as "zyx": R = R_z(q₁)·R_y(q₂)·R_x(q₃). Seen as three joints in
a row, body by body outward, with kⱼ the axis of angle j:

    ωⱼ = Rⱼᵀ ωⱼ₋₁ + kⱼ vⱼ,        ω̇ⱼ = Rⱼᵀ ω̇ⱼ₋₁ + kⱼ aⱼ + (Rⱼᵀ ωⱼ₋₁) × kⱼ vⱼ.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.recursion.kinematics import Scalars
from appell.spatial.rotation import about
from appell.spatial.scalar import Matrix, Scalar, Vector, cos, sin
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matmul, matvec, matvec_t, scale, sub, transpose

AXES = {"x": IDENTITY[0], "y": IDENTITY[1], "z": IDENTITY[2]}


class Spin(NamedTuple):
    """Angular velocity and acceleration in the platform's axes."""

    omega: Vector
    alpha: Vector


def turns(sequence: str, q: Scalars) -> tuple[Matrix, Matrix, Matrix]:
    """Return the rotation by each angle about its own axis."""
    first, second, third = (about(AXES[name], cos(x), sin(x)) for name, x in zip(sequence, q, strict=True))
    return first, second, third


def rotation(sequence: str, q: Scalars) -> Matrix:
    """Return R, which turns the platform's axes into those of the base.

    >>> rotation("zyx", (0.0, 0.0, 0.0)) == IDENTITY
    True
    """
    first, second, third = turns(sequence, q)
    return matmul(matmul(first, second), third)


def spin(sequence: str, q: Scalars, v: Scalars, a: Scalars) -> Spin:
    """Return ω = E v and ω̇ = E a + Ė v in the platform's axes.

    >>> spin("zyz", (0.3, 0.0, 0.0), (1.0, 0.0, 2.0), (0.0, 0.0, 0.0)).omega
    (0.0, 0.0, 3.0)
    """
    omega, alpha = ZERO, ZERO
    for name, turn, rate, acceleration in zip(sequence, turns(sequence, q), v, a, strict=True):
        axis, carried = AXES[name], matvec_t(turn, omega)
        alpha = add(add(matvec_t(turn, alpha), scale(acceleration, axis)), cross(carried, scale(rate, axis)))
        omega = add(carried, scale(rate, axis))
    return Spin(omega, alpha)


def jacobian(sequence: str, q: Scalars) -> Matrix:
    """Return E with ω = E v in the platform's axes."""
    columns = [spin(sequence, q, unit, ZERO).omega for unit in IDENTITY]
    return transpose((columns[0], columns[1], columns[2]))


def rates(sequence: str, q: Scalars, omega: Vector) -> Vector:
    """Return v = E⁻¹ ω, seen from before the last turn: there ω = v₁ R₂ᵀk₁ + v₂ k₂ + v₃ k₃, and R₂ᵀk₁ ⟂ k₂.

    It divides by the cosine of the middle angle of a sequence such as "zyx", by the sine of one such as "zyz".
    """
    _, second, third = turns(sequence, q)
    k1, k2, k3 = (AXES[name] for name in sequence)
    w, first, normal = matvec(third, omega), matvec_t(second, k1), cross(k2, k3)
    v1: Scalar = dot(w, normal) / dot(first, normal)
    return (v1, dot(w, k2), dot(sub(w, scale(v1, first)), k3))


def regularity(sequence: str, q: Scalars) -> Scalar:
    """Return |det E| up to sign: zero where two of the three axes fall together and the angles stop being coordinates.

    >>> abs(regularity("zyx", (0.0, 0.0, 0.0)))
    1.0
    """
    k1, k2, k3 = (AXES[name] for name in sequence)
    return dot(matvec_t(turns(sequence, q)[1], k1), cross(k2, k3))
