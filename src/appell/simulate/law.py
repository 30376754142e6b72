"""Laws that run inside a rollout: joint forces from the state and a reference.

A law is a record of its gains and its reference; `torque` is its equation, generic in the scalar, so that it can be
traced and compiled into the march. It is sampled as a digital controller samples: once per step, at the state that the
step starts from, and held until the next. Integral action is memory beside the state: :func:`forces` says how it grows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from appell.model.model import Model
from appell.recursion.kinematics import Scalars
from appell.robot.robot import Robot
from appell.spatial.rotation import from_quaternion
from appell.spatial.scalar import Scalar, cos, select, sign, sin
from appell.spatial.vector import matvec_t

Dynamics = Callable[[Scalars, Scalars, Scalars], Any]
"""τ of q, v and a."""


@dataclass(frozen=True, eq=False)
class PD:
    """Joint forces kp·(q* ⊖ q) + kd·(v* − v), added to those given.

    Gains and `limit` are one number, or (..., nv) with leading axes for the robots. The reference q*, and v* where the
    goal moves, is one row that is held, or (..., steps, n) as torques are. The sum with the forces given is kept within
    ±`limit`. Errors of free, ball and planar joints are in the child's frame; that of a rotation is twice the vector
    part of q⁻¹ ⊗ q*, of length 2 sin(θ/2), and leads the shorter way round.

    >>> import appell
    >>> from appell.simulate.law import PD
    >>> from appell.simulate.rollout import rollout
    >>> robot, goal = appell.load("puma560"), [0.5] * 6
    >>> law = PD(kp=900.0, kd=60.0, q=goal, limit=[100.0, 150.0, 90.0, 25.0, 25.0, 20.0])
    >>> run = rollout(robot, [0.0] * 6, [0.0] * 6, robot.gravity(goal), 1e-3, steps=3000, every=3000, control=law)
    >>> bool(abs(run.q[-1] - goal).max() < 0.01)
    True
    """

    kp: ArrayLike
    kd: ArrayLike
    q: ArrayLike
    v: ArrayLike = 0.0
    limit: ArrayLike = float("inf")

    @property
    def a(self) -> ArrayLike:
        """Return the reference's acceleration, which this law does not use."""
        return 0.0

    @property
    def ki(self) -> None:
        """Return the gain of integral action: none."""
        return None

    @property
    def believed(self) -> Robot | None:
        """Return the robot whose dynamics the law computes: none."""
        return None

    @staticmethod
    def torque(dynamics: Dynamics, q: Scalars, v: Scalars, a: Scalars, correction: Scalars) -> Scalars:
        """Return the correction itself."""
        return correction


@dataclass(frozen=True, eq=False)
class ComputedTorque:
    """Joint forces ID(q, v, a* + kd·(v* − v) + kp·(q* ⊖ q)), added to those given.

    ID is the inverse dynamics of `believed`, a robot with the same joints whose parameters may be wrong; without it, of
    the robot itself, and the error then obeys ë + kd·ė + kp·e = 0 but for the sampling. All else as for :class:`PD`;
    v* and a* of free and ball joints are taken as they are, which is exact where there is no error in the rotation.
    With `ki` the acceleration has ki·∫(q* ⊖ q) dt besides: the integral starts from zero, advances by the trapezoidal
    rule, and that of a joint whose force is beyond ±`limit` does not grow further that way.

    >>> import appell
    >>> from appell.simulate.law import ComputedTorque
    >>> from appell.simulate.rollout import rollout
    >>> robot = appell.load("puma560")
    >>> law = ComputedTorque(kp=100.0, kd=20.0, q=[0.5] * 6)
    >>> run = rollout(robot, [0.0] * 6, [0.0] * 6, None, 1e-3, steps=2000, control=law)
    >>> run.q[-1].round(5)
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """

    kp: ArrayLike
    kd: ArrayLike
    q: ArrayLike
    v: ArrayLike = 0.0
    a: ArrayLike = 0.0
    believed: Robot | None = None
    limit: ArrayLike = float("inf")
    ki: ArrayLike | None = None

    @staticmethod
    def torque(dynamics: Dynamics, q: Scalars, v: Scalars, a: Scalars, correction: Scalars) -> Scalars:
        """Return the inverse dynamics of the acceleration with the correction added."""
        return tuple(dynamics(q, v, tuple(x + y for x, y in zip(a, correction, strict=True))))


@dataclass(frozen=True, eq=False)
class GravityPD:
    """Joint forces G(q) + kp·(q* ⊖ q) + kd·(v* − v), added to those given.

    G is the gravity of `believed`; without it, of the robot itself. All else as for :class:`PD`.

    >>> import appell
    >>> from appell.simulate.law import GravityPD
    >>> from appell.simulate.rollout import rollout
    >>> robot = appell.load("puma600")
    >>> law = GravityPD(kp=900.0, kd=200.0, q=[0.5] * 6)
    >>> run = rollout(robot, [0.5] * 6, [0.0] * 6, None, 1e-3, steps=100, control=law)
    >>> run.q[-1].round(12)
    array([0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    """

    kp: ArrayLike
    kd: ArrayLike
    q: ArrayLike
    v: ArrayLike = 0.0
    believed: Robot | None = None
    limit: ArrayLike = float("inf")

    @property
    def a(self) -> ArrayLike:
        """Return the reference's acceleration, which this law does not use."""
        return 0.0

    @property
    def ki(self) -> None:
        """Return the gain of integral action: none."""
        return None

    @staticmethod
    def torque(dynamics: Dynamics, q: Scalars, v: Scalars, a: Scalars, correction: Scalars) -> Scalars:
        """Return the inverse dynamics at rest, which is gravity, and the correction."""
        still = tuple(0.0 * x for x in v)
        return tuple(x + y for x, y in zip(dynamics(q, still, still), correction, strict=True))


Law = PD | ComputedTorque | GravityPD


class Feedback(NamedTuple):
    """What a law feeds back: the error q* ⊖ q and its rate v* − v, and their gains; one number per force each."""

    error: Scalars
    rate: Scalars
    kp: Scalars
    kd: Scalars


class Integral(NamedTuple):
    """What integral action needs: gains, the limits of forces, memory, and the time since the law was asked last.

    The memory is z, one number per force, then the last errors; all zero before the first time, whose `elapsed` is 0.
    """

    ki: Scalars
    limit: Scalars
    memory: Scalars
    elapsed: Scalar


def forces(
    force: Callable[[Scalars], Scalars], feedback: Feedback, integral: Integral | None = None
) -> tuple[Scalars, Scalars]:
    """Return the forces of a law, not yet within their limits, and its memory afterwards, () without integral action.

    `force` gives them of the correction kp·e + kd·ė + ki·z. With the trapezoidal rule z grows by ½ Δt (e' + e); where
    the force that comes of it is beyond its limit, and e would drive it further, z stays as it was.
    """
    error, rate, kp, kd = feedback
    correction = tuple(p * e + d * r for p, e, d, r in zip(kp, error, kd, rate, strict=True))
    if integral is None:
        return force(correction), ()

    def with_integral(z: Scalars) -> Scalars:
        return force(tuple(x + k * y for x, k, y in zip(correction, integral.ki, z, strict=True)))

    before, last = integral.memory[: len(error)], integral.memory[len(error) :]
    grown = tuple(z + 0.5 * integral.elapsed * (old + e) for z, old, e in zip(before, last, error, strict=True))
    rows = zip(with_integral(grown), error, integral.limit, before, grown, strict=True)
    z = tuple(after if _is_endless(most) else _unwound(tau, e, most, old, after) for tau, e, most, old, after in rows)
    return with_integral(z), (*z, *error)


def _unwound(tau: Scalar, error: Scalar, limit: Scalar, before: Scalar, after: Scalar) -> Scalar:
    """Return z before where |τ| > limit and τ·e > 0, else z after."""
    return select(sign(tau) * tau - limit, select(tau * error, before, after), after)


def clamped(tau: Scalar, limit: Scalar) -> Scalar:
    """Return a force within ±limit; not-a-number stays what it is.

    >>> clamped(3.0, 2.0), clamped(-3.0, 2.0), clamped(1.0, 2.0)
    (2.0, -2.0, 1.0)
    """
    if _is_endless(limit):
        return tau
    return select(tau - limit, limit, select(-limit - tau, -limit, tau))


def _is_endless(limit: Scalar) -> bool:
    """Return whether a limit is a plain number, and infinite: then there is nothing to choose."""
    return isinstance(limit, float) and math.isinf(limit)


def tracking_error(model: Model, q: Scalars, goal: Scalars) -> Scalars:
    """Return q* ⊖ q, one number per velocity of the robot: how to move to reach the goal."""
    own = model.independent
    error: list[Scalar] = []
    for body, at in zip(own.bodies, own.q_slices, strict=True):
        error += _ERRORS.get(body.joint.kind, _difference)(q[at], goal[at])
    return tuple(error)


def _difference(q: Scalars, goal: Scalars) -> Scalars:
    return tuple(b - a for a, b in zip(q, goal, strict=True))


def _ball_error(q: Scalars, goal: Scalars) -> Scalars:
    """Return 2 sign(w)·(x, y, z) of q⁻¹ ⊗ q* = (x, y, z, w)."""
    (x, y, z, w), (a, b, c, d) = q, goal
    turn = 2.0 * sign(w * d + x * a + y * b + z * c)
    return (
        turn * (w * a - d * x - (y * c - z * b)),
        turn * (w * b - d * y - (z * a - x * c)),
        turn * (w * c - d * z - (x * b - y * a)),
    )


def _free_error(q: Scalars, goal: Scalars) -> Scalars:
    x, y, z = _difference(q[:3], goal[:3])
    return (*matvec_t(from_quaternion(*q[3:]), (x, y, z)), *_ball_error(q[3:], goal[3:]))


def _planar_error(q: Scalars, goal: Scalars) -> Scalars:
    x, y, angle = _difference(q, goal)
    c, s = cos(q[2]), sin(q[2])
    return (c * x + s * y, c * y - s * x, angle)


_ERRORS = {"ball": _ball_error, "free": _free_error, "planar": _planar_error}
