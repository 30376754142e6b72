"""The verbs of a spherical robot as programs of its Euler angles q, their rates v and accelerations a.

Each runs on scalars of any type and is traced and compiled like a recursion; only the Coriolis matrices, whose
Jacobians are differentiated by :mod:`appell.trace.derive`, and the derivatives need traced scalars.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from appell.loops.spherical import euler, leg, sums
from appell.loops.spherical.euler import Spin
from appell.loops.spherical.leg import Axes, Rates
from appell.loops.spherical.mechanism import MOBILITY, Mechanism
from appell.loops.spherical.sums import Chain, ChainRates, JointMotions
from appell.recursion import forward
from appell.recursion.kinematics import Scalars
from appell.robot.verbs.programs import Solved
from appell.spatial.scalar import Matrix, Scalar, Vector, cos, sin, sqrt
from appell.spatial.vector import IDENTITY, ZERO, add, cross, dot, matmul, matvec, matvec_t, scale, sub, transpose
from appell.trace.derive import along

PARENTS = [-1, 0, 1]
"""Every pair of the three velocities meets in M."""


class Arrangement(NamedTuple):
    """Where everything stands: attitude R, gravity in the platform's axes, and per leg its axes and rows of A.

    `motors` are the rows of the motors' rates by ω.
    """

    rotation: Matrix
    weight: Vector
    axes: tuple[Axes, ...]
    rows: tuple[tuple[Vector, Vector], ...]
    motors: tuple[Vector, ...]


def posture(robot: Mechanism, q: Scalars) -> Arrangement:
    """Return the posture of Euler angles q."""
    rotation = euler.rotation(robot.sequence, q)
    axes = tuple(leg.axes(one, rotation) for one in robot.legs)
    rows = tuple((leg.motor_row(one, at), leg.passive_row(at)) for one, at in zip(robot.legs, axes, strict=True))
    motors = tuple(rows[k][joint] for k, joint in robot.motors)
    return Arrangement(rotation, matvec_t(rotation, robot.gravity), axes, rows, motors)


def leg_rates(robot: Mechanism, at: Arrangement, spin: Spin) -> list[Rates]:
    """Return the rates and accelerations of every leg's joints."""
    legs = zip(robot.legs, at.axes, at.rows, strict=True)
    return [leg.rates(one, axes, rows, spin) for one, axes, rows in legs]


def chains(
    robot: Mechanism, at: Arrangement, omega: Vector = ZERO, rates: Sequence[Rates] | None = None
) -> list[Chain]:
    """Return the legs and the platform as the sum over chains and bodies takes them."""
    moving: Sequence[Rates | None] = rates or [None] * len(robot.legs)
    legs = zip(robot.legs, at.axes, at.rows, moving, strict=True)
    made = [leg.chain(one, axes, rows, robot.gravity, at.weight, rate) for one, axes, rows, rate in legs]
    return [*made, sums.platform(robot.platform, at.weight, omega)]


def motions(spin: Spin, rates: Sequence[Rates]) -> list[JointMotions]:
    """Return the motion of every chain's joints, the platform's last."""
    legs = [JointMotions((rate.theta, rate.psi), (rate.theta2, rate.psi2)) for rate in rates]
    return [*legs, JointMotions(spin.omega, spin.alpha)]


def platform_moment(robot: Mechanism, at: Arrangement, spin: Spin) -> Vector:
    """Return N, the moment on the platform required by a motion, in the platform's axes."""
    rates = leg_rates(robot, at, spin)
    return sums.moment(chains(robot, at, spin.omega, rates), motions(spin, rates))


def motor_torques(motors: Sequence[Vector], moment: Vector, weights: Scalars = ()) -> Scalars:
    """Return τ with Σ τᵢ rowᵢ = moment (abedloo2014 (51), enferadi2010 (75)); of more than three, the least Σ wᵢτᵢ².

    Of three rows τ follows by their dual basis. Of more, τᵢ = rowᵢ·x / wᵢ with (Σ rowᵢ rowᵢᵀ / wᵢ) x = moment.
    """
    if len(motors) == MOBILITY:
        return _by_basis((motors[0], motors[1], motors[2]), moment)
    eased = [scale(1.0 / w, row) for w, row in zip(weights, motors, strict=True)] if weights else motors
    x = _by_basis(sums.gathered(eased, motors), moment)
    return tuple(dot(row, x) for row in eased)


def actuation_growth(motors: Sequence[Vector]) -> Scalar:
    """Return the square of (largest possible determinant / determinant) of the system for motor torques: 1 at best."""
    rows = (motors[0], motors[1], motors[2]) if len(motors) == MOBILITY else sums.gathered(motors, motors)
    a, b, c = rows
    size = 1.0 / dot(a, cross(b, c))
    return size * size * dot(a, a) * dot(b, b) * dot(c, c)


def _by_basis(rows: Matrix, moment: Vector) -> Vector:
    """Return x with Σ xᵢ rowᵢ = moment."""
    a, b, c = rows
    bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
    size = 1.0 / dot(a, bc)
    return (size * dot(bc, moment), size * dot(ca, moment), size * dot(ab, moment))


# Dynamics


def inverse_dynamics(robot: Mechanism, q: Scalars, v: Scalars, a: Scalars, load: Scalars = ()) -> Scalars:
    """Return the motors' torques, under outside forces by the Euler angles if any (enferadi2010 (63))."""
    at, spin = posture(robot, q), euler.spin(robot.sequence, q, v, a)
    moment = platform_moment(robot, at, spin)
    return motor_torques(at.motors, sub(moment, outer_moment(robot, q, load)) if load else moment)


def outer_moment(robot: Mechanism, q: Scalars, load: Scalars) -> Vector:
    """Return the moment on the platform, in its axes, that forces by the Euler angles amount to: Eᵀm = load."""
    return _by_basis(euler.jacobian(robot.sequence, q), (load[0], load[1], load[2]))


def generalised_forces(robot: Mechanism, q: Scalars, v: Scalars, a: Scalars) -> Vector:
    """Return Q = M a + C v + G by the Euler angles (abedloo2014 (19)): EᵀN."""
    at, spin = posture(robot, q), euler.spin(robot.sequence, q, v, a)
    return matvec_t(euler.jacobian(robot.sequence, q), platform_moment(robot, at, spin))


def bias(robot: Mechanism, q: Scalars, v: Scalars) -> Vector:
    """Return C v + G."""
    return generalised_forces(robot, q, v, ZERO)


def gravity(robot: Mechanism, q: Scalars) -> Vector:
    """Return G (abedloo2014 (21))."""
    moment = sums.gravity(chains(robot, posture(robot, q)))
    return matvec_t(euler.jacobian(robot.sequence, q), moment)


def mass_matrix(robot: Mechanism, q: Scalars) -> Matrix:
    """Return EᵀM E (abedloo2014 (21))."""
    inner = sums.mass_matrix(chains(robot, posture(robot, q)))
    return _congruent(euler.jacobian(robot.sequence, q), inner)


def _congruent(e: Matrix, m: Matrix) -> Matrix:
    """Return EᵀM E of a symmetric M, its lower half copied from its upper."""
    half = transpose(matmul(m, e))
    columns = transpose(e)
    upper = {(i, j): dot(columns[i], half[j]) for i in range(3) for j in range(i, 3)}
    a, b, c = (tuple(upper[min(i, j), max(i, j)] for j in range(3)) for i in range(3))
    return (a, b, c)


def forward_dynamics(robot: Mechanism, q: Scalars, v: Scalars, tau: Scalars, load: Scalars = ()) -> Solved:
    """Return the angles' accelerations under the motors' torques: M ω̇ = Σ τᵢ rowᵢ − N at ω̇ = 0, then a = E⁻¹(ω̇ − Ė v).

    No Euler matrix meets M on this way; the angles enter last.
    """
    at, bias = posture(robot, q), euler.spin(robot.sequence, q, v, ZERO)
    still = Spin(bias.omega, ZERO)
    rates = leg_rates(robot, at, still)
    legs = chains(robot, at, bias.omega, rates)
    driving = sums.combined(at.motors, tau, outer_moment(robot, q, load) if load else ZERO)
    right = sub(driving, sums.moment(legs, motions(still, rates)))
    matrix = sums.mass_matrix(legs)
    factors = forward.factorise(matrix, PARENTS)
    alpha = forward.solve_factorised(*factors, PARENTS, right)
    rates_of_angles = euler.rates(robot.sequence, q, sub((alpha[0], alpha[1], alpha[2]), bias.alpha))
    return Solved(rates_of_angles, partial(forward.inverse_norm, matrix, factors, PARENTS))


# Coriolis matrices


def coriolis_matrix(robot: Mechanism, q: Scalars, v: Scalars) -> Matrix:
    """Return C with Ṁ − 2C skew: EᵀC E + EᵀM Ė of the quasi-velocity's M and C."""
    at, omega = posture(robot, q), euler.spin(robot.sequence, q, v, ZERO).omega
    legs, e = chains(robot, at), euler.jacobian(robot.sequence, q)
    inner = sums.coriolis(legs, [_change(chain, q, v) for chain in legs], omega)
    right = _sum(matmul(inner, e), matmul(sums.mass_matrix(legs), _matrix_rate(e, q, v)))
    return matmul(transpose(e), right)


def coriolis_as_printed(robot: Mechanism, q: Scalars, v: Scalars) -> Matrix:
    """Return C of abedloo2014 (21) and (47): the same C v, another matrix."""
    spin = euler.spin(robot.sequence, q, v, ZERO)
    at, e = posture(robot, q), euler.jacobian(robot.sequence, q)
    rates = leg_rates(robot, at, spin)
    by_angles = [
        Chain(tuple(matvec_t(e, row) for row in chain.rows), chain.bodies)
        for chain in chains(robot, at, spin.omega, rates)
    ]
    speeds = [motion.rates for motion in motions(spin, rates)]
    return sums.coriolis_as_printed(by_angles, [_change(chain, q, v) for chain in by_angles], speeds)


def _change(chain: Chain, q: Scalars, v: Scalars) -> ChainRates:
    """Return the time derivatives of a chain's A and S, taken of what was traced."""
    rows = tuple(_vector_rate(row, q, v) for row in chain.rows)
    return ChainRates(rows, tuple(tuple(_vector_rate(c, q, v) for c in body.columns) for body in chain.bodies))


def _vector_rate(x: Vector, q: Scalars, v: Scalars) -> Vector:
    a, b, c = (row[0] for row in along(x, [list(zip(q, v, strict=True))]))
    return (a, b, c)


def _matrix_rate(m: Matrix, q: Scalars, v: Scalars) -> Matrix:
    a, b, c = (_vector_rate(row, q, v) for row in m)
    return (a, b, c)


def _sum(m: Matrix, n: Matrix) -> Matrix:
    return (add(m[0], n[0]), add(m[1], n[1]), add(m[2], n[2]))


# Kinematics


def discriminants(robot: Mechanism, q: Scalars) -> Scalars:
    """Return every leg's Δ: all are positive inside the workspace."""
    rotation = euler.rotation(robot.sequence, q)
    return tuple(leg.discriminant(one, rotation) for one in robot.legs)


def leg_angles(robot: Mechanism, q: Scalars) -> tuple[Any, Any]:
    """Return sines and cosines, leg by leg, of θ, ψ and ξ.

    e₂ is (s₁ sin θ, −s₁ cos θ, c₁) in the leg's base frame and (s₂ sin ξ, s₂ cos ξ, c₂) in its frame on the platform.
    """
    at = posture(robot, q)
    sines, cosines = [], []
    for one, axes in zip(robot.legs, at.axes, strict=True):
        _, s1, _, s2 = one.arcs
        middle = leg.middle_axis(one, axes)
        below, above = matvec_t(one.base, matvec(at.rotation, middle)), matvec_t(one.platform, middle)
        cosine, sine = leg.passive_turn(one, axes)
        sines.append((below[0] / s1, sine, above[0] / s2))
        cosines.append((-below[1] / s1, cosine, above[1] / s2))
    return sines, cosines


def leg_joint_rates(robot: Mechanism, q: Scalars, v: Scalars) -> Any:
    """Return θ̇, ψ̇ and ξ̇, leg by leg."""
    at, spin = posture(robot, q), euler.spin(robot.sequence, q, v, ZERO)
    return [rate[:3] for rate in leg_rates(robot, at, spin)]


def leg_joint_accelerations(robot: Mechanism, q: Scalars, v: Scalars, a: Scalars) -> Any:
    """Return θ̈, ψ̈ and ξ̈, leg by leg."""
    at, spin = posture(robot, q), euler.spin(robot.sequence, q, v, a)
    legs = zip(robot.legs, at.axes, leg_rates(robot, at, spin), strict=True)
    return [(*rate[3:], leg.third_acceleration(one, axes, rate, spin)) for one, axes, rate in legs]


def singularity_measures(robot: Mechanism, q: Scalars) -> tuple[Any, Any, Any]:
    """Return |sin ψ| of every leg, the unit rows p₁/|p₁| or p₂/|p₂| of the motors, and |det E| up to sign."""
    at = posture(robot, q)
    serial = [
        float(one.branch) * axes.h / (one.arcs[1] * one.arcs[3]) for one, axes in zip(robot.legs, at.axes, strict=True)
    ]
    parallel = []
    for k, joint in robot.motors:
        one, axes = robot.legs[k], at.axes[k]
        # p₁ = e₃ × e₂ has the length of its arc's sine
        first = scale(1.0 / one.arcs[3], cross(axes.platform, leg.middle_axis(one, axes)))
        parallel.append(first if joint == 0 else scale(sqrt(axes.per_d), axes.normal))
    return serial, parallel, euler.regularity(robot.sequence, q)


def closure(robot: Mechanism, q: Scalars, angles: Scalars) -> tuple[Any, Any]:
    """Return the residuals that forward kinematics makes zero, one per motor, and their slopes by q.

    With a motor at e₁ it is e₂(θ)·e₃ − cos α₂, with one at e₂ it is e₁·e₃ − (c₁c₂ − s₁s₂ cos ψ).
    """
    rotation, e = euler.rotation(robot.sequence, q), euler.jacobian(robot.sequence, q)
    gaps, slopes = [], []
    for (k, joint), angle in zip(robot.motors, angles, strict=True):
        one = robot.legs[k]
        c1, s1, c2, s2 = one.arcs
        seen, wanted = (s1 * sin(angle), -(s1 * cos(angle)), c1), c2
        if joint == 1:
            seen, wanted = IDENTITY[2], c1 * c2 - s1 * s2 * cos(angle)
        other = matvec_t(rotation, matvec(one.base, seen))
        gaps.append(dot(other, one.platform_axis) - wanted)
        slopes.append(matvec_t(e, cross(one.platform_axis, other)))
    return gaps, slopes
