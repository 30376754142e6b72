r"""The symplectic integrator: the midpoint rule of discrete mechanics, on the manifold.

The action of a step of size h with constant velocity w is h·L(q_m, w) at its middle q_m = q₀ ⊕ hw/2, with q₁ = q₀ ⊕ hw.
Its derivatives by the ends are the momenta there (Marsden and West 2001). With ξ = hw, m = M(q_m)w, and κ the
derivative of L by q_m plus the forces,

    n  = m + h/2 · dexpᵀ(−ξ/2)·κ
    p₀ = dexp⁻ᵀ(ξ)·n − h·Ad(exp(−ξ/2))ᵀ·κ,        p₁ = dexp⁻ᵀ(−ξ)·n.

The first equation is solved for w, then the others give the step. Where all joints have plain coordinates dexp and Ad
are 1 and this is the implicit midpoint rule in (q, p). The map is symplectic and symmetric: the energy of a
conservative robot oscillates about its value and does not drift.

From M·a + C·v + G = τ and Ṁ = C + Cᵀ follows ṗ = Cᵀv − G + τ, so the derivative of the kinetic energy by q in Hamel's
equations is Cᵀw − ad(w)ᵀm: no new recursion is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from appell.robot.robot import Robot
from appell.simulation.integrators import StepError
from appell.spatial.scalar import Array

Forces = Callable[[float, Array, Array], Array]
"""Joint torques τ from the time and the state."""

SWEEPS = 100
"""Maximum number of Newton corrections per step."""
_BERNOULLI = (1.0, -0.5, 1.0 / 6.0, 0.0, -1.0 / 30.0, 0.0, 1.0 / 42.0, 0.0, -1.0 / 30.0, 0.0, 5.0 / 66.0)


def bracket(curved: Sequence[tuple[str, Sequence[int]]], w: Array) -> Array:
    """Return ad(w), (nv, nv): zero except for the free, ball and planar joints in `curved`, by their indices in w."""
    ad = np.zeros((len(w), len(w)))
    for kind, places in curved:
        x, at = w[list(places)], np.ix_(places, places)
        if kind == "free":
            ad[at] = np.block([[_skew(x[3:]), _skew(x[:3])], [np.zeros((3, 3)), _skew(x[3:])]])
        elif kind == "ball":
            ad[at] = _skew(x)
        else:
            ad[at] = np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [0.0, 0.0, 0.0]])
    return ad


def _skew(x: Array) -> Array:
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def _series(ad: Array, weights: tuple[float, ...]) -> Array:
    """Return Σ weights[k] adᵏ."""
    total, power = weights[0] * np.eye(len(ad)), np.eye(len(ad))
    for weight in weights[1:]:
        power = power @ ad
        total = total + weight * power
    return total


_EXP = tuple(1.0 / math.factorial(k) for k in range(16))
_DEXP = tuple(1.0 / math.factorial(k + 1) for k in range(16))
_DEXP_INVERSE = tuple(b / math.factorial(k) for k, b in enumerate(_BERNOULLI))


def variational(robot: Robot, forces: Forces) -> Callable[[Any, float, Array, float], Array]:
    """Return the map of one step under actuator torques, for a robot whose velocities are rates of coordinates."""
    nq, one, curved = robot.nq, np.eye(robot.nv), robot.facts.curved or ()

    def move(_: Any, t: float, y: Array, h: float) -> Array:
        q, v = y[:nq], y[nq:]
        start = robot.mass_matrix(q) @ v
        w = np.array(v)
        size = float(np.abs(v).max(initial=0.0)) + 1.0
        best, stalled = np.inf, 0
        for _sweep in range(SWEEPS):
            middle = robot.integrate(q, 0.5 * h * w)
            mass, coriolis = robot.mass_matrix(middle), robot.coriolis_matrix(middle, w)
            momentum = mass @ w
            ad = h * bracket(curved, w) if curved else None
            push_on = robot.evaluate("actuation", middle, forces(t + 0.5 * h, middle, w))
            outside = push_on - robot.bias(middle, w) + coriolis @ w
            pull = coriolis.T @ w + outside - (0.0 if ad is None else ad.T @ momentum / h)
            push = one if ad is None else _series(-0.5 * ad, _DEXP).T
            middle_momentum = momentum + 0.5 * h * push @ pull
            left, carry = (one, one) if ad is None else (_series(ad, _DEXP_INVERSE).T, _series(-0.5 * ad, _EXP).T)
            change = np.linalg.solve(mass, start - left @ middle_momentum + h * carry @ pull)
            w = w + change
            error = float(np.abs(change).max(initial=0.0))
            if error <= 4e-16 * size or (best < 1e-9 * size and stalled == 2):  # down to rounding
                break
            stalled = stalled + 1 if error >= best else 0  # corrections may change direction, and grow for one sweep
            best = min(best, error)
        else:
            if not best < 1e-9 * size:
                raise StepError(
                    f"the symplectic step at t = {t:.9g} s did not converge; use a step shorter than {h:.3g} s"
                )
        if not np.isfinite(w).all():
            raise StepError(f"the symplectic step at t = {t:.9g} s is not finite; use a shorter step")
        right = one if ad is None else _series(-ad, _DEXP_INVERSE).T
        after = robot.integrate(q, h * w)
        return np.concatenate([after, np.linalg.solve(robot.mass_matrix(after), right @ middle_momentum)])

    return move
