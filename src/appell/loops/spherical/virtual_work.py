"""Inverse dynamics by virtual work with link Jacobians, as enferadi2010 derives it: equations (25) to (75).

A leg has three unit vectors in the base's axes: w of its motor, r of its passive revolute joint, t of its slider, with
w ⟂ r ⟂ t, and rates γ̇, μ̇, β̇ with w γ̇ − r μ̇ − t β̇ = ω (26). In the terms of :mod:`appell.loops.spherical.mechanism`
they are e₁ = w, e₂ = −r and e₃ = −t, and both arcs are a quarter turn. The corrections listed in docs/papers.md are
applied. Gravity, which the paper leaves out, enters as an external moment on each body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from appell.loops.spherical import euler, leg
from appell.loops.spherical.mechanism import Mechanism
from appell.loops.spherical.programs import motor_torques, outer_moment
from appell.recursion.kinematics import Scalars
from appell.spatial.inertia import Inertia
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import (
    IDENTITY,
    ZERO,
    add,
    cross,
    dot,
    madd,
    matmul,
    matvec,
    matvec_t,
    negate,
    outer,
    scale,
    sub,
    transpose,
)

QUARTER = (0.0, 1.0, 0.0, 1.0)
"""Cosine and sine of both arcs of a leg to which the paper's equations apply."""


class Limb(NamedTuple):
    """One leg at an attitude of the star."""

    w: Vector
    r: Vector
    t: Vector
    c: Scalar
    """The diagonal entry of J (30)."""
    row: Vector
    """The row of K (29)."""
    first: Matrix
    """^{1k}_B R (49), from the base's axes to those of the actuated link."""
    second: Matrix
    """^{2k}_B R (58), from the base's axes to those of the intermediate link."""
    motor: Vector
    """w in the axes of the actuated link."""
    hinge: Vector
    """r in the axes of the intermediate link."""

    @property
    def motor_jacobian(self) -> Matrix:
        """Return J_a (53), the angular velocity γ̇ w of the actuated link by ω."""
        return outer(self.motor, scale(-1.0 / self.c, self.row))

    @property
    def link_jacobian(self) -> Matrix:
        """Return J_ipl (62), the angular velocity γ̇ w − μ̇ r of the intermediate link by ω."""
        normal = cross(self.w, self.t)
        passive = scale(1.0 / dot(normal, self.r), normal)  # −μ̇ by ω (60)
        by_motor = outer(matvec(self.second, self.w), scale(-1.0 / self.c, self.row))
        return madd(by_motor, outer(self.hinge, passive))


def applies(robot: Mechanism) -> bool:
    """Return whether the robot is one of the paper's: three legs with w ⟂ r ⟂ t."""
    return len(robot.legs) == 3 and all(one.arcs == QUARTER and one.motors == (0,) for one in robot.legs)


def limbs(robot: Mechanism, rotation: Matrix) -> list[Limb]:
    """Return the legs at an attitude of the star, steps 1 to 3 of section 6."""
    found = []
    for one in robot.legs:
        w, t = one.motor_axis, negate(matvec(rotation, one.platform_axis))
        r = negate(matvec(rotation, leg.middle_axis(one, leg.axes(one, rotation))))
        normal = cross(r, t)
        to1, to2 = (transpose(frame) for frame in one.frames)
        first, second = matmul(to1, (cross(r, w), r, w)), matmul(to2, (normal, t, negate(r)))
        own = matvec(to1, IDENTITY[2]), negate(matvec(to2, IDENTITY[2]))
        found.append(Limb(w, r, t, dot(normal, w), negate(normal), first, second, *own))
    return found


def turning_terms(limb: Limb, omega: Vector) -> tuple[Scalar, Scalar]:
    """Return d, the diagonal entry of M (40), and f, the entry of N (41)."""
    along = dot(limb.r, omega)
    return -2.0 * along * dot(limb.t, limb.w), along * dot(limb.t, omega)


def matrices(robot: Mechanism, q: Scalars, v: Scalars) -> Any:
    """Return J (28), K (29), M (38), N (39), J_a (53) and J_ipl (62); J, M and N by their diagonals."""
    rotation = euler.rotation(robot.sequence, q)
    omega = matvec(rotation, euler.spin(robot.sequence, q, v, ZERO).omega)
    legs = limbs(robot, rotation)
    d, f = zip(*(turning_terms(limb, omega) for limb in legs), strict=True)
    return (
        _diagonal([limb.c for limb in legs]),
        [limb.row for limb in legs],
        _diagonal(d),
        f,
        [limb.motor_jacobian for limb in legs],
        [limb.link_jacobian for limb in legs],
    )


def _diagonal(entries: Sequence[Scalar]) -> list[list[Scalar]]:
    return [[x if i == j else 0.0 for j in range(len(entries))] for i, x in enumerate(entries)]


def inverse_dynamics(robot: Mechanism, q: Scalars, v: Scalars, a: Scalars, load: Scalars = ()) -> list[Scalar]:
    """Return the motors' torques (75), step 4 of section 6."""
    rotation = euler.rotation(robot.sequence, q)
    spin = euler.spin(robot.sequence, q, v, a)
    omega, alpha = matvec(rotation, spin.omega), matvec(rotation, spin.alpha)
    legs = limbs(robot, rotation)
    # n_e (63), in the star's own axes, then in the base's
    moment = matvec(rotation, _moment(robot.platform, spin.omega, spin.alpha, matvec_t(rotation, robot.gravity)))
    if load:
        moment = add(moment, matvec(rotation, outer_moment(robot, q, load)))
    for one, limb in zip(robot.legs, legs, strict=True):
        d, f = turning_terms(limb, omega)
        gamma = -dot(limb.row, omega) / limb.c  # (31)
        gamma2 = -(dot(limb.row, alpha) + d * gamma + f) / limb.c  # (42)
        beta = gamma * dot(limb.t, limb.w) - dot(limb.t, omega)  # (35)
        mu = -dot(limb.r, omega)  # (34)
        mu2 = -dot(limb.r, alpha) - beta * dot(limb.r, cross(omega, limb.t))
        # (65), (67)
        weight = matvec(limb.first, robot.gravity)
        own = _moment(one.inertias[0], scale(gamma, limb.motor), scale(gamma2, limb.motor), weight)
        moment = add(moment, matvec_t(limb.motor_jacobian, own))
        # (66), (68)
        weight, w = matvec(limb.second, robot.gravity), matvec(limb.second, limb.w)
        turning, hinging = scale(gamma, w), scale(-mu, limb.hinge)
        speeding = add(add(scale(gamma2, w), cross(turning, hinging)), scale(-mu2, limb.hinge))
        own = _moment(one.inertias[1], add(turning, hinging), speeding, weight)
        moment = add(moment, matvec_t(limb.link_jacobian, own))
    solved = motor_torques([limb.row for limb in legs], moment)  # K⁻ᵀ n
    return [limb.c * x for limb, x in zip(legs, solved, strict=True)]


def _moment(inertia: Inertia, omega: Vector, alpha: Vector, gravity: Vector) -> Vector:
    """Return −I ω̇ − ω × Iω and the moment of gravity, about the centre (63), (65), (66)."""
    momentum = matvec(inertia.tensor, omega)
    return sub(cross(inertia.first, gravity), add(matvec(inertia.tensor, alpha), cross(omega, momentum)))
