"""A leg in motion: where its axes stand, how fast its joints turn, and how its links spin.

Everything is in the platform's axes, where e₃ is constant and e₁ = Rᵀ(B z). With k = e₁·e₃, c₁ … s₂ of the arcs and
n = e₁ × e₃, the middle axis follows from its angles to the other two (abedloo2014 (30), solved for e₂ instead of θ):

    Δ = 1 − k² − c₁² − c₂² + 2k c₁c₂,   h = ±√Δ,
    e₂ = [(c₁ − k c₂) e₁ + (c₂ − k c₁) e₃ + h n] / (1 − k²).

Δ is the discriminant a² + b² − c² of abedloo2014 (34): negative where the leg does not reach. The joints' rates are the
components of ω along the axes (abedloo2014 (38)), with p₁ = e₃ × e₂, p₂ = n, p₃ = e₂ × e₁ and h = p₁·e₁.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.loops.spherical.euler import Spin
from appell.loops.spherical.mechanism import Leg
from appell.loops.spherical.sums import Chain, Turning
from appell.spatial.scalar import Matrix, Scalar, Vector, sqrt
from appell.spatial.vector import add, cross, dot, matvec_t, scale, sub


class Axes(NamedTuple):
    """A leg's axes and what is made of them: e₁, e₃, k = e₁·e₃, n = e₁ × e₃, h, 1/h and 1/(1 − k²)."""

    motor: Vector
    platform: Vector
    k: Scalar
    normal: Vector
    h: Scalar
    per_h: Scalar
    per_d: Scalar


class Rates(NamedTuple):
    """Rates θ̇, ψ̇, ξ̇ and accelerations θ̈, ψ̈ of a leg's joints."""

    theta: Scalar
    psi: Scalar
    xi: Scalar
    theta2: Scalar
    psi2: Scalar


def discriminant(leg: Leg, rotation: Matrix) -> Scalar:
    """Return Δ: the leg reaches where it is positive, and is stretched or folded where it is zero."""
    c1, _, c2, _ = leg.arcs
    k = dot(matvec_t(rotation, leg.motor_axis), leg.platform_axis)
    return _discriminant(c1, c2, k)


def _discriminant(c1: float, c2: float, k: Scalar) -> Scalar:
    return (1.0 - c1 * c1 - c2 * c2) + k * (2.0 * c1 * c2 - k)


def axes(leg: Leg, rotation: Matrix) -> Axes:
    """Return the axes of a leg for the platform's attitude R."""
    c1, _, c2, _ = leg.arcs
    e1, e3 = matvec_t(rotation, leg.motor_axis), leg.platform_axis
    k = dot(e1, e3)
    h = float(leg.branch) * sqrt(_discriminant(c1, c2, k))
    return Axes(e1, e3, k, cross(e1, e3), h, 1.0 / h, 1.0 / (1.0 - k * k))


def middle_axis(leg: Leg, at: Axes) -> Vector:
    """Return e₂."""
    c1, _, c2, _ = leg.arcs
    along = add(scale(c1 - at.k * c2, at.motor), scale(c2 - at.k * c1, at.platform))
    return scale(at.per_d, add(along, scale(at.h, at.normal)))


def motor_row(leg: Leg, at: Axes) -> Vector:
    """Return p₁/h, the row of the motor's rate by ω: (e₁ − k e₃)/(1 − k²) − (c₁ − k c₂)/(h(1 − k²)) n."""
    c1, _, c2, _ = leg.arcs
    flat = sub(at.motor, scale(at.k, at.platform))
    return scale(at.per_d, sub(flat, scale((c1 - at.k * c2) * at.per_h, at.normal)))


def passive_row(at: Axes) -> Vector:
    """Return p₂/h, the row of ψ̇ by ω."""
    return scale(at.per_h, at.normal)


def rates(leg: Leg, at: Axes, rows: tuple[Vector, Vector], spin: Spin) -> Rates:
    """Return the joints' rates and accelerations (abedloo2014 (38), (41); enferadi2010 (31), (42)).

    The derivative of ω = θ̇ e₁ + ψ̇ e₂ + ξ̇ e₃ is ω̇ = θ̈ e₁ + ψ̈ e₂ + ξ̈ e₃ + θ̇ψ̇ e₁ × e₂ + ξ̇ (θ̇ e₁ + ψ̇ e₂) × e₃. Its
    products with p₁ and p₂ are scalars of k and the arcs:

        p₁·(e₁ × e₂) = k − c₁c₂,     p₁·(e₁ × e₃) = k c₂ − c₁,   p₁·(e₂ × e₃) = −s₂²,
        p₂·(e₁ × e₂) = c₂ − k c₁,    p₂·(e₁ × e₃) = 1 − k²,      p₂·(e₂ × e₃) = c₁ − k c₂.
    """
    c1, _, c2, s2 = leg.arcs
    k, omega, alpha = at.k, spin.omega, spin.alpha
    theta, psi = dot(rows[0], omega), dot(rows[1], omega)
    xi = dot(at.platform, omega) - theta * k - psi * c2  # ω·e₃ = θ̇ k + ψ̇ c₂ + ξ̇
    both, third = theta * psi, c1 - k * c2
    quick1 = both * (k - c1 * c2) - xi * (theta * third + psi * (s2 * s2))
    quick2 = both * (c2 - k * c1) + xi * (theta * (1.0 - k * k) + psi * third)
    return Rates(theta, psi, xi, dot(rows[0], alpha) - at.per_h * quick1, dot(rows[1], alpha) - at.per_h * quick2)


def third_acceleration(leg: Leg, at: Axes, rate: Rates, spin: Spin) -> Scalar:
    """Return ξ̈ from the same derivative, multiplied by e₃."""
    c2 = leg.arcs[2]
    # e₃·(e₁ × e₂) = e₁·(e₂ × e₃) = −h
    whole = dot(at.platform, spin.alpha) + rate.theta * rate.psi * at.h
    return whole - rate.theta2 * at.k - rate.psi2 * c2


def passive_turn(leg: Leg, at: Axes) -> tuple[Scalar, Scalar]:
    """Return cos ψ and sin ψ: in link 1's frame turned by α₁, k = c₁c₂ − s₁s₂ cos ψ and h = −s₁s₂ sin ψ."""
    c1, s1, c2, s2 = leg.arcs
    size = 1.0 / (s1 * s2)
    return (c1 * c2 - at.k) * size, -(at.h * size)


def chain(
    leg: Leg, at: Axes, rows: tuple[Vector, Vector], gravity: Vector, weight: Vector, rate: Rates | None
) -> Chain:
    """Return the leg as a chain of the sum over bodies: Jacobians of its two links by θ̇ and ψ̇, and gravity.

    In its own axes link 1 turns about z, and link 2 about z₂ = R_z(ψ)ᵀR_x(α₁)ᵀ z and z (abedloo2014 (44)).
    `gravity` is g in the base, `weight` the same in the platform's axes.
    """
    c1, s1, _, _ = leg.arcs
    cosine, sine = passive_turn(leg, at)
    z, z2 = (0.0, 0.0, 1.0), (s1 * sine, s1 * cosine, c1)
    cross_axis = (z2[1], -z2[0], 0.0)  # z₂ × z
    first = _weight_on_link1(leg, at, gravity, weight)
    tilted = (first[0], c1 * first[1] + s1 * first[2], c1 * first[2] - s1 * first[1])
    second = (cosine * tilted[0] + sine * tilted[1], cosine * tilted[1] - sine * tilted[0], tilted[2])
    to1, to2 = leg.frames
    own = (0.0, 0.0, 0.0)
    bias, printed = own, (own, own)
    if rate is not None:
        bias = scale(rate.theta * rate.psi, cross_axis)
        printed = (scale(0.5 * rate.psi, cross_axis), scale(0.5 * rate.theta, cross_axis))
    links = (
        Turning(leg.inertias[0], (matvec_t(to1, z), own), matvec_t(to1, first), own, (own, own)),
        Turning(
            leg.inertias[1],
            (matvec_t(to2, z2), matvec_t(to2, z)),
            matvec_t(to2, second),
            matvec_t(to2, bias),
            (matvec_t(to2, printed[0]), matvec_t(to2, printed[1])),
        ),
    )
    return Chain(rows, links)


def _weight_on_link1(leg: Leg, at: Axes, gravity: Vector, weight: Vector) -> Vector:
    """Return g in link 1's axes x = e₁ × e₂ / s₁, y = (c₁ e₁ − e₂)/s₁, z = e₁.

    With e₂ as above, e₁ × e₂ = [(c₂ − k c₁) n + h (k e₁ − e₃)] / (1 − k²); and g·e₁ is constant.
    """
    c1, s1, c2, _ = leg.arcs
    along1 = dot(gravity, leg.motor_axis)
    along3, along_n = dot(weight, at.platform), dot(weight, at.normal)
    y, x = c2 - at.k * c1, c1 - at.k * c2
    size = at.per_d * (1.0 / s1)
    across = size * (y * along_n + at.h * (at.k * along1 - along3))
    middle = x * along1 + y * along3 + at.h * along_n
    return (across, (c1 / s1) * along1 - size * middle, along1)
