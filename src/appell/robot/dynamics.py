"""Dynamic verbs of a robot: inverse and forward dynamics and the terms of the equations of motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers
from appell.errors import InputError
from appell.messages import shown
from appell.robot.energies import Energies
from appell.robot.evaluation import Options
from appell.spatial.scalar import Array

Wrenches = Mapping[str, ArrayLike]


class Dynamics(Energies):
    """Dynamic verbs. Their options are those of :class:`appell.Robot`."""

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        weights: ArrayLike | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Return the joint torques τ = M(q)·a + C(q, v)·v + G(q) + friction, the gradient ∂S/∂a of the Gibbs function.

        For a robot with loops τ are the actuator torques, and the passive velocities move freely.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations [rad/s², m/s²], (..., nv) for an open robot. For a robot with loops those of :attr:`driven`:
            the actuators, unless other independent velocities were chosen or actuators are redundant.
        wrenches
            External wrenches by name of the frame, each (..., 6): force [N], then moment [N·m] about the frame's
            origin, in world axes. They enter as −Σ Jᵀw.
        weights
            Positive weights (..., nu) of redundant actuators (a robot on several feet): τ minimises Σ weight·τ². 1 by
            default.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Joint torques and forces (..., nu) [N·m, N], in the order of :attr:`actuators`.

        Raises
        ------
        InputError
            When an argument has a wrong shape, a frame of `wrenches` is unknown, a weight is not positive, or q is not
            a configuration of the robot (quaternions, loops).

        References
        ----------
        V. Mata et al., Serial-robot dynamics algorithms for moderately large numbers of joints, Mechanism and Machine
        Theory 37 (2002) 739–755.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560")
        >>> robot.inverse_dynamics([0.0] * 6, [0.0] * 6, [0.0] * 6).round(2)[1:3]
        array([37.48,  0.25])
        >>> robot = appell.load("stewart")
        >>> robot.inverse_dynamics(robot.neutral(), [0.0] * 6, [0.0] * 6).round(1)  # six legs share the weight
        array([15.2, 15.1, 15.1, 15.1, 15.1, 15.2])
        """
        load = self._load(q, wrenches)
        if weights is not None:
            shares = numbers(self.name, "weights", (self.nu,), weights)
            if not ((shares > 0.0) & np.isfinite(shares)).all():
                raise InputError(f"weights: expected positive numbers, got {shown(weights)} for robot '{self.name}'")
            outside = np.zeros(self.nv, shares.dtype) if load is None else load
            return self._call("inverse_dynamics_weighted", (q, v, a, outside, shares), options)
        if load is not None:
            return self._call("inverse_dynamics_loaded", (q, v, a, load), options)
        return self._call("inverse_dynamics", (q, v, a), options)

    def forward_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Return the accelerations a that joint torques τ cause: the solution of M(q)·a + C·v + G + friction = τ.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        tau
            Joint torques and forces (..., nu) [N·m, N], in the order of :attr:`actuators`.
        wrenches
            External wrenches on frames, as in :meth:`inverse_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Accelerations (..., nv) [rad/s², m/s²] of all independent velocities.

        Raises
        ------
        InputError
            When an argument has a wrong shape, a frame of `wrenches` is unknown, or q is not a configuration of the
            robot.

        Warns
        -----
        AppellWarning
            When the mass matrix is singular or nearly so; the warning names the joints.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> tau = robot.inverse_dynamics([0.1, 0.2], [1.0, 2.0], [3.0, 4.0])
        >>> robot.forward_dynamics([0.1, 0.2], [1.0, 2.0], tau).round(9)
        array([3., 4.])
        """
        load = self._load(q, wrenches)
        if load is not None:
            return self._call("forward_dynamics_loaded", (q, v, tau, load), options)
        return self._call("forward_dynamics", (q, v, tau), options)

    def _load(self, q: ArrayLike, wrenches: Wrenches | None, verb: str = "wrench_forces") -> Array | None:
        """Return Σ Jᵀw on the independent velocities, or on those of the tree; None without wrenches."""
        if wrenches is None or (isinstance(wrenches, Mapping) and not wrenches):
            return None
        if not isinstance(wrenches, Mapping):
            raise InputError(f"wrenches: expected a dictionary of frames and wrenches (..., 6), got {shown(wrenches)}")
        abouts = {frame: self._about(verb, frame, "wrenches") for frame in wrenches}
        first, *others = (self._call(verb, (q, wrenches[name]), {}, abouts[name]) for name in wrenches)
        return sum(others, first)

    def generalised_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return M a + C v + G + friction on all independent velocities, passive ones included.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations (..., nv) [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Generalised forces (..., nv) [N·m, N]; the joint torques of :meth:`inverse_dynamics` for an open robot.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.generalised_forces(robot.neutral(), [0.0, 0.0], [0.0, 0.0]).shape
        (2,)
        """
        return self._call("generalised_forces", (q, v, a), options)

    def mass_matrix(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the mass matrix (joint-space inertia matrix) M(q) = ∂²S/∂a², rotor inertias included.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv, nv), symmetric and positive definite [kg·m², kg·m, kg].

        References
        ----------
        R. Featherstone, Rigid Body Dynamics Algorithms, Springer 2008, section 6.2 (formulation "composite").

        Examples
        --------
        >>> import appell
        >>> M = appell.load("two-link").mass_matrix([0.0, 0.5])
        >>> M.shape, bool(abs(M - M.T).max() < 1e-15)
        ((2, 2), True)
        """
        return self._call("mass_matrix", (q,), options)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return a Coriolis matrix C(q, v): C·v are the Coriolis and centrifugal forces, and Ṁ − 2C is skew-symmetric.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv, nv); damping and friction are not included.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> forces = robot.bias(q, v) - robot.gravity(q)  # without friction in this robot
        >>> bool(abs(robot.coriolis_matrix(q, v) @ v - forces).max() < 1e-12)
        True
        """
        return self._call("coriolis_matrix", (q, v), options)

    def passive_inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """Return M(q)·a_r + C(q, v)·v_r + G(q), the feedforward of passivity-based control, by one recursion.

        C is a matrix for which Ṁ − 2C is skew-symmetric. Rotor inertia is included, damping and friction are not.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        v_r
            Reference velocities (..., nv) [rad/s, m/s].
        a_r
            Reference accelerations (..., nv) [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            Generalised forces (..., nv) on the independent velocities [N·m, N].

        References
        ----------
        J.-J.E. Slotine, W. Li, On the adaptive control of robot manipulators, International Journal of Robotics
        Research 6 (1987) 49–59.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v, v_r, a_r = [0.1, 0.2], [1.0, 2.0], [0.5, 0.0], [0.0, 1.0]
        >>> tau = robot.mass_matrix(q) @ a_r + robot.coriolis_matrix(q, v) @ v_r + robot.gravity(q)
        >>> bool(abs(robot.passive_inverse_dynamics(q, v, v_r, a_r) - tau).max() < 1e-12)
        True
        """
        return self._call("passive_inverse_dynamics", (q, v, v_r, a_r), options)

    def gravity(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the gravity torques G(q) = ∂V/∂q, which hold the robot at rest against gravity and springs.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv) [N·m, N], on the independent velocities.

        Examples
        --------
        >>> import appell
        >>> appell.load("puma560").gravity([0.0] * 6).round(2)[1:3]
        array([37.48,  0.25])
        """
        return self._call("gravity", (q,), options)

    def bias(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the bias forces C(q, v)·v + G(q) + friction: the joint torques at zero acceleration.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv) [N·m, N], on the independent velocities; Pinocchio's nle, MuJoCo's qfrc_bias.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> bool(abs(robot.bias(q, v) - robot.inverse_dynamics(q, v, [0.0, 0.0])).max() < 1e-12)
        True
        """
        return self._call("bias", (q, v), options)

    def constraint_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the constraint forces that keep the loops closed in the motion of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m], with closed loops.
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations of :attr:`driven` [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., closures, 6): for each name in :attr:`closure_names` the force [N] and the moment [N·m] on the second
            frame's body, about that frame's origin (the contact point of a wheel), in the axes of the first frame.
            Redundant rows, which were dropped, are zero: rigid bodies do not determine how such rows share a load.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.constraint_forces(robot.neutral(), [0.0, 0.0], [0.0, 0.0]).shape
        (1, 6)
        """
        return self._call("constraint_forces", (q, v, a), options)
