"""Contact problems: forces (or impulses) λ at several contacts that prevent penetration.

Each contact has three components: along the normal, and along two tangents. The motion at the contacts is u = A·λ + b
with A = J M⁻¹ Jᵀ, symmetric and positive semidefinite. Without friction λ solves a linear complementarity problem,
0 ≤ λₙ ⟂ uₙ ≥ 0: no adhesion, no penetration, and no force at an opening contact. With Coulomb friction the tangential
force is bounded by μλₙ, and equals μλₙ opposite to the slip where the contact slides. Joints at rest with Coulomb
friction are further rows: the torque of each is bounded, and equals its bound opposite to the motion where the joint
moves.

The same problems govern impacts (u velocities, λ impulses) and resting contacts (u accelerations, λ forces).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from appell.spatial.scalar import Array

SWEEPS = 400
"""Maximum number of sweeps over all contacts of a frictional problem."""
ANGLES = tuple(2.0 * math.pi * k / 48 for k in range(49))
"""Number of slip directions tried before refinement."""
GIVE_UP = 1e-3
"""Largest residual of the contact laws, relative to the motion, of an accepted solution."""
OPEN, STICK, SLIDE = "open", "stick", "slide"


class UnsolvedError(Exception):
    """No forces satisfy the contact laws; the message has the residual of the best ones."""


class Solution(NamedTuple):
    """Forces (k, 3), the mode of each contact (open, sticking or sliding), and the residual of the contact laws.

    `torques` (m,) are those of joints at rest.
    """

    forces: Array
    modes: tuple[str, ...]
    residual: float
    torques: Array


class _Problem(NamedTuple):
    """The contact problem: u = A·λ + b, and what bounds λ."""

    A: Array
    b: Array
    mu: Array
    rays: list[Array | None]
    """Fixed directions of contact forces, None where they may be anywhere in the friction cone."""
    bounds: Array
    """Largest torques of the joints, whose rows follow those of the contacts."""

    def moved(self, x: Array) -> tuple[Array, Array]:
        """Return u at the contacts (k, 3) and at the joints (m,)."""
        u, first = self.A @ x + self.b, 3 * len(self.mu)
        return u[:first].reshape(-1, 3), u[first:]

    def parts(self, x: Array) -> tuple[Array, Array]:
        """Return the forces (k, 3) and the torques (m,)."""
        first = 3 * len(self.mu)
        return x[:first].reshape(-1, 3), x[first:]


def complementarity(A: Array, b: Array) -> Array:
    """Return λ ≥ 0 with u = A·λ + b ≥ 0 and λ·u = 0, of least norm on the active contacts.

    Principal pivoting: guess the active contacts, solve, and exchange those that contradict the guess; in the end one
    at a time from the last (Murty's rule, which terminates for positive definite A).

    >>> complementarity(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([-2.0, 5.0]))
    array([1., 0.])
    """
    n = len(b)
    slack = 1e-12 * (float(np.abs(b).max(initial=0.0)) or 1.0)
    pushes = b < 0.0
    for turn in range(20 + 30 * n):
        forces = np.zeros(n)
        if pushes.any():
            forces[pushes] = -(np.linalg.pinv(A[np.ix_(pushes, pushes)], rcond=1e-11, hermitian=True) @ b[pushes])
        motion = A @ forces + b
        weight = 1e-12 * float(np.abs(forces).max(initial=0.0))
        wrong = np.where(pushes, (forces < -weight) | (np.abs(motion) > 1e6 * slack), motion < -slack)
        if not wrong.any():
            return np.maximum(forces, 0.0)
        if turn < 20:
            pushes = pushes ^ wrong
        else:
            last = int(np.flatnonzero(wrong)[-1])
            pushes[last] = not pushes[last]
    return _least_squares(A, b)


def _least_squares(A: Array, b: Array) -> Array:
    """Return the solution of a slightly regularised problem, where pivoting cycles."""
    n = len(b)
    size = float(np.trace(A)) / n or 1.0
    root = np.linalg.cholesky(A + 1e-13 * size * np.eye(n)).T
    forces, _ = scipy.optimize.nnls(root, -np.linalg.solve(root.T, b))
    off = float(np.minimum(A @ forces + b, 0.0).min(initial=0.0))
    if off < -1e-8 * float(np.abs(b).max()):
        raise UnsolvedError(
            f"residual of the contact problem: a contact still closes by {-off:.3g} of {float(np.abs(b).max()):.3g}"
        )
    return np.asarray(forces)


def coulomb(A: Array, b: Array, mu: Array, slip: list[Array | None], bounds: Array | Sequence[float] = ()) -> Solution:
    """Return the forces at k contacts with friction and the torques of m joints at rest; A is (3k+m, 3k+m).

    A contact with a `slip` direction (a unit vector in its tangent plane) slides along it, with friction opposite; any
    other contact sticks, or slides opposite to its friction force. `bounds` are those of the joints' torques.
    """
    k = len(mu)
    problem = _Problem(A, b, mu, [_ray(mu[i], slip[i]) for i in range(k)], np.asarray(bounds, dtype=float))
    x = np.zeros(len(b))
    normals = [3 * i for i in range(k)]
    joints = range(3 * k, len(b))
    try:
        x[normals] = complementarity(A[np.ix_(normals, normals)], b[normals])
    except UnsolvedError:
        x[normals] = 0.0
    if joints:
        x[3 * k :] = _boxed(A[3 * k :, 3 * k :], b[3 * k :] + A[3 * k :, : 3 * k] @ x[: 3 * k], problem.bounds)
    scale = float(np.abs(b).max(initial=0.0)) or 1.0
    for sweep in range(SWEEPS):
        before = x.copy()
        for i in range(k):
            own = slice(3 * i, 3 * i + 3)
            rest = b[own] + A[own] @ x - A[own, own] @ x[own]
            x[own] = _one(A[own, own], rest, mu[i], problem.rays[i])
        for j, bound in zip(joints, problem.bounds, strict=True):
            x[j] = np.clip(x[j] - (A[j] @ x + b[j]) / A[j, j], -bound, bound)
        change = float(np.abs(x - before).max(initial=0.0))
        is_still = change <= 1e-14 * float(np.abs(x).max(initial=0.0))
        if is_still or sweep in (2, 6, 20, 60, 200):
            polished = _polished(problem, x)
            if polished is not None and polished.residual <= 1e-9 * scale:
                return polished._replace(residual=polished.residual / scale)
        if is_still:
            break
    off = _residual(problem, x) / scale
    if off > GIVE_UP:
        raise UnsolvedError(
            f"forces at {k} contacts with friction: residual of the contact laws is {off:.1e} relative to the motion"
        )
    forces, torques = problem.parts(x)
    return Solution(forces, _modes(problem, x), off, torques)


def _boxed(A: Array, b: Array, bounds: Array) -> Array:
    """Return |x| ≤ bounds with u = A·x + b zero inside and opposite to x at a bound: the least ½xᵀAx + bᵀx."""
    root = np.linalg.cholesky(A).T
    least = scipy.optimize.lsq_linear(root, -np.linalg.solve(root.T, b), (-bounds, bounds), method="bvls")
    return np.asarray(least.x)


def _ray(mu: float, slip: Array | None) -> Array | None:
    """Return the fixed direction of a contact force, None where it may be anywhere in the friction cone."""
    if mu == 0.0:
        return np.array([1.0, 0.0, 0.0])
    return None if slip is None else np.array([1.0, *(-mu * slip)])


def _one(A: Array, b: Array, mu: float, ray: Array | None) -> Array:
    """Return the force at one contact with all others constant."""
    if b[0] >= 0.0:
        return np.zeros(3)
    if ray is not None:
        stiffness = float(A[0] @ ray)
        return -b[0] / stiffness * ray if stiffness > 0.0 else np.zeros(3)
    stuck = -np.linalg.lstsq(A, b, rcond=1e-12)[0]
    if stuck[0] >= 0.0 and np.hypot(stuck[1], stuck[2]) <= mu * stuck[0]:
        return np.asarray(stuck)
    return _sliding(A, b, mu)


def _sliding(A: Array, b: Array, mu: float) -> Array:
    """Return the force with λ_t = −μλₙd and slip along d: the angle of d is a root of one equation."""
    # on floats: the root finder evaluates one angle at a time
    (a00, a01, a02), (a10, a11, a12), (a20, a21, a22) = A.tolist()
    b0, b1, b2 = map(float, b)

    def response(angle: float) -> tuple[float, float, float]:
        """Return A applied to a unit normal force with friction opposite to the angle."""
        x, y = -mu * math.cos(angle), -mu * math.sin(angle)
        return a00 + a01 * x + a02 * y, a10 + a11 * x + a12 * y, a20 + a21 * x + a22 * y

    def across(angle: float) -> float:
        """Return the slip perpendicular to the angle times the stiffness: cubic in its sine and cosine."""
        stiffness, r1, r2 = response(angle)
        c, s = math.cos(angle), math.sin(angle)
        return float(-b0 * (c * r2 - s * r1) + stiffness * (c * b2 - s * b1))

    values = [across(angle) for angle in ANGLES]
    best, least = np.zeros(3), math.inf
    for j in range(len(ANGLES) - 1):
        if values[j] * values[j + 1] <= 0.0:
            angle = _root(across, ANGLES[j], ANGLES[j + 1])
            stiffness, r1, r2 = response(angle)
            if stiffness <= 0.0:
                continue
            push = -b0 / stiffness
            along = math.cos(angle) * (push * r1 + b1) + math.sin(angle) * (push * r2 + b2)
            if push < least and along >= -1e-12 * float(np.abs(b).max()):
                best, least = push * np.array([1.0, -mu * math.cos(angle), -mu * math.sin(angle)]), push
    return best


def _modes(problem: _Problem, x: Array) -> tuple[str, ...]:
    (u, _), (forces, _) = problem.moved(x), problem.parts(x)
    size = float(np.abs(x).max(initial=0.0))
    speed = float(np.abs(problem.b).max(initial=0.0))
    modes = []
    for i, force in enumerate(forces):
        if force[0] <= 1e-13 * size:
            modes.append(OPEN)
        elif problem.rays[i] is not None:
            modes.append(SLIDE)
        else:
            slipping = np.hypot(*u[i, 1:]) > 1e-7 * speed
            modes.append(SLIDE if slipping and np.hypot(*force[1:]) > 0.999 * problem.mu[i] * force[0] else STICK)
    return tuple(modes)


def _polished(problem: _Problem, x: Array) -> Solution | None:
    """Return the solution to rounding with every contact in its mode; None if the result contradicts the modes."""
    A, b, mu = problem.A, problem.b, problem.mu
    modes = _modes(problem, x)
    inside = 3 * len(mu) + np.flatnonzero(np.abs(problem.parts(x)[1]) < problem.bounds)
    fixed = x[3 * len(mu) :]
    for _ in range(25):
        u = A @ x + b
        error, slope = np.array(x), np.eye(len(x))
        error[3 * len(mu) :] -= fixed
        error[inside], slope[inside] = u[inside], A[inside]
        for i, mode in enumerate(modes):
            n, t = 3 * i, slice(3 * i + 1, 3 * i + 3)
            ray = problem.rays[i]
            if mode == OPEN:
                continue
            error[n], slope[n] = u[n], A[n]
            if mode == STICK:
                error[t], slope[t] = u[t], A[t]
            elif ray is not None:
                error[t] = x[t] - ray[1:] * x[n]
                slope[t, n] = -ray[1:]
            else:
                length = float(np.hypot(*u[t])) or 1e-300
                d = u[t] / length
                error[t] = x[t] + mu[i] * x[n] * d
                slope[t] += mu[i] * x[n] * (np.eye(2) - np.outer(d, d)) @ A[t] / length
                slope[t, n] += mu[i] * d
        change = np.linalg.lstsq(slope, -error, rcond=1e-13)[0]
        x = x + change
        if not np.isfinite(x).all():
            return None
        if float(np.abs(change).max()) <= 1e-15 * float(np.abs(x).max(initial=0.0)):
            break
    forces, torques = problem.parts(x)
    return Solution(forces, modes, _residual(problem, x), torques)


def _residual(problem: _Problem, x: Array) -> float:
    """Return the residual of the contact laws: penetration, adhesion, friction off the cone or along the slip."""
    (u, turned), (forces, torques) = problem.moved(x), problem.parts(x)
    worst = 0.0
    for i, force in enumerate(forces):
        own = problem.A[3 * i : 3 * i + 3, 3 * i : 3 * i + 3]
        weight = float(np.trace(own))
        worst = max(worst, -u[i, 0], -weight * force[0])
        if force[0] > 0.0:
            worst = max(worst, abs(u[i, 0]))
        ray = problem.rays[i]
        if ray is not None:
            worst = max(worst, weight * float(np.abs(force[1:] - ray[1:] * force[0]).max()))
            continue
        bound, friction = problem.mu[i] * force[0], float(np.hypot(*force[1:]))
        worst = max(worst, weight * (friction - bound))
        slip = float(np.hypot(*u[i, 1:]))
        if slip > 0.0 and force[0] > 0.0:  # sliding friction is μλₙ opposite to the slip
            gap = weight * float(np.hypot(*(force[1:] + bound * u[i, 1:] / slip)))
            worst = max(worst, min(slip, gap))
    weights = np.diag(problem.A)[3 * len(forces) :]
    wanted = np.clip(torques - turned / weights, -problem.bounds, problem.bounds)
    return max(float(worst), float((weights * np.abs(torques - wanted)).max(initial=0.0)))


def dissipate(A: Array, u: Array, bounds: Array) -> Array:
    """Return the bounded friction (k, 2) that minimises the kinetic energy: ½xᵀAx + uᵀx → min.

    A is (2k, 2k) and u (2k,), tangential components only. Block by block, each with its exact minimum on a disc.
    """
    k = len(bounds)
    x = np.zeros(2 * k)
    for _ in range(10 * SWEEPS):
        before = x.copy()
        for i in range(k):
            own = slice(2 * i, 2 * i + 2)
            slope = u[own] + A[own] @ x - A[own, own] @ x[own]
            x[own] = _on_disc(A[own, own], slope, float(bounds[i]))
        if float(np.abs(x - before).max(initial=0.0)) <= 1e-15 * float(np.abs(x).max(initial=0.0)):
            break
    return x.reshape(k, 2)


def _on_disc(A: Array, g: Array, radius: float) -> Array:
    """Return the minimum of ½xᵀAx + gᵀx for ‖x‖ ≤ radius."""
    if radius <= 0.0:
        return np.zeros(2)
    values, axes = np.linalg.eigh(A)
    weights = np.maximum(values, 0.0)
    along = axes.T @ g
    small = 1e-14 * (float(weights.max()) or 1.0)
    free = np.where(weights > small, -along / np.maximum(weights, small), 0.0)
    if np.hypot(*free) <= radius and not (np.abs(along) > 1e-12 * np.abs(g).max(initial=0.0))[weights <= small].any():
        return np.asarray(axes @ free)

    def excess(shift: float) -> float:
        return float(np.hypot(*(along / (weights + shift)))) - radius

    top = float(np.hypot(*along)) / radius
    least = max(1e-3 * small, 1e-300)
    root = _root(excess, least, 2.0 * top)
    return np.asarray(axes @ (-along / (weights + root)))


def _root(function: Callable[[float], Any], a: float, b: float) -> float:
    """Return the root between a and b; the end nearer to a root where rounding hides the sign change."""
    at = function(a), function(b)
    if at[0] * at[1] > 0.0:
        return a if abs(at[0]) < abs(at[1]) else b
    return float(scipy.optimize.brentq(function, a, b, xtol=1e-300, rtol=1e-15))
