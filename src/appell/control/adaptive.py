"""Adaptive control (Slotine and Li 1987): the robot's parameters are estimated while it moves.

With e = q* − q, the reference velocity w = v* + Λe and s = w − v, the control law and its adaptation are

    τ = Y(q, v, w, ẇ)·π̂ + kd·s,      dπ̂/dt = Γ Yᵀ s                                                        (1)

where Y·π = M(q)·ẇ + C(q, v)·w + G(q). Then ½ sᵀMs + ½ (π̂ − π)ᵀ Γ⁻¹ (π̂ − π) decreases at the rate sᵀ kd s, so that s →
0 for any initial parameters: the proof requires Ṁ − 2C skew. The robot's regressor takes one velocity; with
Christoffel's C, for which C(q, v)·w = C(q, w)·v, the regressor of two velocities follows by polarisation,

    C(q, v)·w = ¼ [C(q, v + w)·(v + w) − C(q, v − w)·(v − w)].                                              (2)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import finite_array
from appell.errors import InputError
from appell.model.parameters import PER_BODY, PER_SPRING, PER_VELOCITY
from appell.robot.robot import Robot
from appell.simulation.laws import checks
from appell.spatial.scalar import Array


class Adaptive:
    """Adaptive control by Slotine and Li, for robots whose joints have one coordinate each.

    The estimate π̂ is integrated from call to call by the trapezoidal rule; a repeated time adds nothing. The law must
    be sampled, as in ``appell.simulate(..., rate=1000)``: decreasing times are an error. Adaptation pauses while a
    torque is at its limit.

    Parameters
    ----------
    robot : Robot
        An open robot with exact geometry; its parameters are the initial estimate.
    trajectory : callable
        A function of the time that returns (q, v, a).
    bandwidth : array_like
        Λ [1/s], the decay rate of the error on s = 0: one number or (nv,).
    kd : array_like
        Damping of s [N·m·s/rad], one number or (nv,).
    rate : array_like
        Γ, the adaptation gain of :attr:`appell.Robot.parameters`: one number or one per parameter; 0 fixes it.
    start : array_like, optional
        Initial estimate π̂. Default: the robot's parameters.
    limit : array_like, "file" or None
        Torques are clipped to ±limit [N·m]: one number, (nv,), or "file" for the effort limits of the robot's file.

    Raises
    ------
    InputError
        When an argument does not match the robot; in a call, when time decreases.

    References
    ----------
    J.-J. E. Slotine, W. Li, *On the adaptive control of robot manipulators*, Int. J. Robotics Research 6 (1987) 49–59.

    Examples
    --------
    >>> import appell, numpy as np
    >>> robot = appell.load("two-link")
    >>> law = appell.control.Adaptive(robot, lambda t: ([t, t], [1, 1], [0, 0]), bandwidth=5.0, kd=10.0, rate=1.0)
    >>> np.allclose(law(0.0, [0.0, 0.0], [1.0, 1.0]), robot.bias([0.0, 0.0], [1.0, 1.0]))
    True
    """

    def __init__(
        self,
        robot: Robot,
        trajectory: checks.Trajectory,
        bandwidth: ArrayLike,
        kd: ArrayLike,
        rate: ArrayLike,
        *,
        start: ArrayLike | None = None,
        limit: ArrayLike | str | None = None,
    ) -> None:
        self.robot = checks.fully_actuated("Adaptive", robot)
        wide = [body.joint.name for body in robot.model.bodies if body.joint.type.nq != 1]
        if wide or robot.model.is_coupled:
            what = f"joint '{wide[0]}' has several coordinates" if wide else "joints are coupled (mimic)"
            raise InputError(
                f"Adaptive: every joint of robot '{robot.name}' must have one independent coordinate; {what}"
            )
        self.trajectory = checks.followed(trajectory)
        self.bandwidth, self.kd = checks.per_force(robot, "bandwidth", bandwidth), checks.per_force(robot, "kd", kd)
        self.rate = self._per_parameter("rate", rate)
        if not (self.rate >= 0.0).all():
            raise InputError(f"rate: expected numbers of 0 or more for robot '{robot.name}'")
        self.start = np.array(robot.parameters) if start is None else self._per_parameter("start", start)
        self.limit = checks.force_limits(robot, limit)
        self._clock = checks.Clock("Adaptive")
        self.reset()

    def _per_parameter(self, name: str, value: ArrayLike) -> Array:
        given, count = finite_array(name, value, f" for robot '{self.robot.name}'"), self.robot.parameters.size
        if name == "rate" and given.ndim == 0:
            return np.full(count, given)
        if given.shape != (count,):
            raise InputError(f"{name}: expected {count} numbers, got shape {given.shape} for robot '{self.robot.name}'")
        return given

    def reset(self) -> None:
        """Reset the estimate to its initial value, before a new run.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> law = appell.control.Adaptive(robot, lambda t: ([t, t], [1, 1], [0, 0]), bandwidth=5.0, kd=10.0, rate=1.0)
        >>> _ = law(0.0, [0.1, 0.0], [1.0, 1.0]), law(0.1, [0.1, 0.0], [1.0, 1.0])
        >>> law.reset()
        >>> bool((law.parameters == robot.parameters).all())
        True
        """
        self._clock.reset()
        self._parameters, self._last = self.start.copy(), np.zeros_like(self.start)

    @property
    def parameters(self) -> Array:
        """Return π̂, the present estimate of the parameters, (p,)."""
        return self._parameters.copy()

    def reference(self, t: float) -> tuple[Array, Array, Array]:
        """Return the reference at a time.

        Parameters
        ----------
        t : float
            Time [s].

        Returns
        -------
        q, v, a : array
            q*, v* and a*, (nv,) each.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> law = appell.control.Adaptive(robot, lambda t: ([t, t], [1, 1], [0, 0]), bandwidth=5.0, kd=10.0, rate=1.0)
        >>> law.reference(0.5)[0]
        array([0.5, 0.5])
        """
        return checks.sample(self.robot, self.trajectory, t)

    def __call__(self, t: float, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the torques [N·m] at a time and a state, (nv,), and update the estimate."""
        t, q, v = checks.state(self.robot, t, q, v)
        goal_q, goal_v, goal_a = self.reference(t)
        w = goal_v + self.bandwidth * (goal_q - q)
        s = w - v
        Y = mixed_regressor(self.robot, q, v, w, goal_a + self.bandwidth * (goal_v - v))
        slope = self.rate * np.einsum("...ij,...i->...j", Y, s)
        elapsed = self._clock.advance(t)
        estimate = self._parameters + (0.0 if elapsed is None else 0.5 * elapsed) * (self._last + slope)
        tau = np.einsum("...ij,...j->...i", Y, estimate) + self.kd * s
        if (np.abs(tau) > self.limit).any():  # the error of a clipped torque is not a parameter error
            estimate, slope = self._parameters, np.zeros_like(slope)
            tau = np.einsum("...ij,...j->...i", Y, estimate) + self.kd * s
        self._parameters, self._last = estimate, slope
        return checks.within(tau, self.limit)


def mixed_regressor(robot: Robot, q: Array, v: Array, w: Array, a: Array) -> Array:
    """Return Y with Y·π = M(q)·a + C(q, v)·w + G(q); joint damping acts on w, Coulomb friction on v.

    >>> import appell, numpy as np
    >>> robot, (q, v, a) = appell.load("puma600"), np.random.default_rng(0).normal(size=(3, 6))
    >>> np.allclose(mixed_regressor(robot, q, v, v, a), robot.regressor(q, v, a))
    True
    """
    q, v, w, a = np.broadcast_arrays(q, v, w, a)
    still = np.zeros_like(v)
    at_rest, sum_, difference = robot.regressor(q, np.stack([still, v + w, v - w]), np.stack([a, still, still]))
    Y: Array = at_rest + 0.25 * (sum_ - difference)  # (2); gravity cancels
    if robot.model.has_joint_parameters:
        start = PER_BODY * len(robot.model.bodies)
        for k in range(robot.nv):
            at = start + PER_VELOCITY * k
            Y[..., k, at + 1], Y[..., k, at + 2] = w[..., k], np.sign(v[..., k])
    dampers = PER_SPRING * len(robot.model.springs)
    Y[..., Y.shape[-1] - dampers + 1 :: PER_SPRING] *= 2.0  # linear in velocity: (2) gives half of w
    return Y
