"""The ten inertial parameters of a rigid body.

A body's mass distribution enters dynamics through its zeroth, first and second moments about the body frame's origin:

    m = ∫ dm,   h = ∫ x dm = m·c,   Σ = ∫ x xᵀ dm.

Σ is Euler's tensor of mata2002 (11), J = ½ tr(I)·1 − I, and I = tr(Σ)·1 − Σ is the usual inertia tensor about the
origin. Moments are linear in the mass: bodies merge by adding them, and they move between frames by

    Σ' = R Σ Rᵀ + (R h) pᵀ + p (R h)ᵀ + m p pᵀ,   h' = R h + m p.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Scalar, Vector, nonzero
from appell.spatial.vector import (
    IDENTITY,
    ZERO,
    add,
    madd,
    matmul,
    matvec,
    mscale,
    msub,
    outer,
    scale,
    trace,
    transpose,
)

NULL: Matrix = (ZERO, ZERO, ZERO)


class Inertia(NamedTuple):
    """Mass m [kg], first moment h [kg·m] and second moment Σ [kg·m²] about the frame's origin.

    >>> Inertia.from_centre(2.0, (0.0, 0.0, 0.5), IDENTITY).tensor[0][0]
    1.5
    """

    mass: Scalar = 0.0
    first: Vector = ZERO
    second: Matrix = NULL

    @classmethod
    def from_tensor(cls, mass: Scalar, first: Vector, tensor: Matrix) -> Inertia:
        """Return the inertia of a body whose inertia tensor about the origin is given."""
        return cls(mass, first, msub(mscale(0.5 * trace(tensor), IDENTITY), tensor))

    @classmethod
    def from_centre(cls, mass: Scalar, centre: Vector, tensor: Matrix) -> Inertia:
        """Return the inertia of a body of given mass centre and inertia tensor about that centre."""
        first = scale(mass, centre)
        return cls(mass, first, madd(cls.from_tensor(mass, first, tensor).second, outer(first, centre)))

    @classmethod
    def from_parameters(cls, pi: tuple[Scalar, ...]) -> Inertia:
        """Return the inertia of ten parameters m, h (3), Ixx Ixy Iyy Ixz Iyz Izz about the origin."""
        m, hx, hy, hz, xx, xy, yy, xz, yz, zz = pi
        return cls.from_tensor(m, (hx, hy, hz), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))

    @property
    def tensor(self) -> Matrix:
        """Return the inertia tensor about the origin, I = tr(Σ)·1 − Σ."""
        s = self.second
        return (
            (s[1][1] + s[2][2], -s[0][1], -s[0][2]),
            (-s[0][1], s[0][0] + s[2][2], -s[1][2]),
            (-s[0][2], -s[1][2], s[0][0] + s[1][1]),
        )

    @property
    def parameters(self) -> tuple[Scalar, ...]:
        """Return m, h (3), Ixx Ixy Iyy Ixz Iyz Izz about the origin."""
        i = self.tensor
        return (self.mass, *self.first, i[0][0], i[0][1], i[1][1], i[0][2], i[1][2], i[2][2])

    @property
    def centre(self) -> Vector:
        """Return the mass centre; the origin for a body without mass."""
        return scale(1.0 / nonzero(self.mass), self.first)

    def plus(self, other: Inertia) -> Inertia:
        """Return the inertia of both bodies together, given in the same frame."""
        return Inertia(self.mass + other.mass, add(self.first, other.first), madd(self.second, other.second))

    def minus(self, other: Inertia) -> Inertia:
        """Return the inertia minus that of a body which is part of it, given in the same frame."""
        m, h, s = other
        return self.plus(Inertia(-m, scale(-1.0, h), mscale(-1.0, s)))

    def moved(self, pose: Pose) -> Inertia:
        """Return the inertia in frame A of a body given in B, for the pose X_AB."""
        rotation, p = pose
        first = matvec(rotation, self.first)
        second = matmul(matmul(rotation, self.second), transpose(rotation))
        mixed = outer(first, p)
        shifted = madd(madd(second, madd(mixed, transpose(mixed))), mscale(self.mass, outer(p, p)))
        return Inertia(self.mass, add(first, scale(self.mass, p)), shifted)


UNITS = tuple(Inertia.from_parameters(tuple(float(i == k) for i in range(10))) for k in range(10))
"""The unit inertias: for each parameter, the inertia in which it is 1 and the others are 0."""
