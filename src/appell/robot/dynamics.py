"""The verbs of a robot: dynamics, energies and frames. Each checks its arguments and runs native code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.read.values import shown
from appell.robot.arguments import numbers, truth
from appell.robot.description import Options
from appell.robot.editing import Editing
from appell.spatial.scalar import Array

Wrenches = Mapping[str, ArrayLike]


class Dynamics(Editing):
    """What a robot computes. The options of every verb are those of :class:`appell.Robot`."""

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
        """Return the joint forces τ = M(q)·a + C(q, v)·v + G(q) + friction, the gradient ∂S/∂a of the Gibbs function.

        Of a robot with loops, a are the accelerations of :attr:`driven`, the actuators unless other independent
        velocities were chosen or actuators are redundant; passive modes move freely, and τ are the actuator forces.
        `wrenches` are forces and moments on frames, by name, each (..., 6) with the force first, in world axes and
        about the frame's origin: τ = … − Σ Jᵀw. Where actuators are redundant (a robot on several feet), τ are the
        forces of least Σ weight·τ², for positive `weights` (..., nu), 1 where none are given.

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
        """Return the accelerations a under forces τ (..., nu), and `wrenches` as in :meth:`inverse_dynamics`."""
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
        """Return M a + C v + G: the forces on all independent velocities, for accelerations a (..., nv)."""
        return self._call("generalised_forces", (q, v, a), options)

    def mass_matrix(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the inertia matrix M(q) = ∂²S/∂a², rotor inertias included."""
        return self._call("mass_matrix", (q,), options)

    def coriolis_matrix(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return a matrix C(q, v) with C·v the Coriolis and centrifugal forces and Ṁ − 2C skew."""
        return self._call("coriolis_matrix", (q, v), options)

    def passive_inverse_dynamics(
        self, q: ArrayLike, v: ArrayLike, v_r: ArrayLike, a_r: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """Return M(q)·a_r + C(q, v)·v_r + G(q) for a reference velocity and its rate, with Ṁ − 2C skew.

        It is the feedforward of passivity-based control (Slotine and Li), by one recursion: forces on the independent
        velocities, rotor inertia included, damping and friction not. v_r and a_r are (..., nv).

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v, v_r, a_r = [0.1, 0.2], [1.0, 2.0], [0.5, 0.0], [0.0, 1.0]
        >>> tau = robot.mass_matrix(q) @ a_r + robot.coriolis_matrix(q, v) @ v_r + robot.gravity(q)
        >>> bool(abs(robot.passive_inverse_dynamics(q, v, v_r, a_r) - tau).max() < 1e-12)
        True
        """
        return self._call("passive_inverse_dynamics", (q, v, v_r, a_r), options)

    def gravity(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the forces G(q) that hold the robot still, on the independent velocities."""
        return self._call("gravity", (q,), options)

    def bias(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return C(q, v)·v + G(q) + friction: the forces at zero acceleration, on the independent velocities."""
        return self._call("bias", (q, v), options)

    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, base: bool = False, **options: Unpack[Options]
    ) -> Array:
        """Return Y (..., nv, n) with τ = Y·π for :attr:`parameters` π: forces on the independent velocities.

        Of a spherical robot, whose velocities are not its motors', the rows are the motors' torques. With ``base=True``
        the columns are those of :attr:`base_parameters`, linearly independent, in a kernel of their own.

        Parameters
        ----------
        q, v, a
            Coordinates (..., nq), velocities (..., nv) and accelerations (..., nv) [SI units, rad].
        base
            Whether columns are left out that depend on others.

        Returns
        -------
        Array
            Y (..., nv, n).

        Raises
        ------
        ModelError
            With ``base=True``, when the number of base parameters is numerically open.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v, a = [0.1, 0.2], [1.0, 2.0], [3.0, 4.0]
        >>> robot.regressor(q, v, a).shape, robot.regressor(q, v, a, base=True).shape
        ((2, 20), (2, 6))
        >>> tau = robot.regressor(q, v, a, base=True) @ robot.base_parameters
        >>> bool(abs(tau - robot.inverse_dynamics(q, v, a)).max() < 1e-12)
        True
        """
        if truth("regressor: base", base):
            return self._call("base_regressor", (q, v, a), options, self._base.kept)
        return self._call("regressor", (q, v, a), options)

    def momentum_regressor(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return Y (..., 6, n) with :meth:`momentum` = Y·π for :attr:`parameters` π, or those of ``parameters=``.

        The angular rows are about the mass centre that these parameters have.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> product = robot.momentum_regressor([0.1, 0.2], [1.0, 2.0]) @ robot.parameters
        >>> bool(abs(product - robot.momentum([0.1, 0.2], [1.0, 2.0])).max() < 1e-12)
        True
        """
        return self._call("momentum_regressor", (q, v), options)

    def energy_regressor(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return Y (..., 2, n) with (:meth:`kinetic_energy`, :meth:`potential_energy`) = Y·π.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> kinetic, potential = robot.energy_regressor([0.1, 0.2], [1.0, 2.0]) @ robot.parameters
        >>> bool(abs(kinetic - robot.kinetic_energy([0.1, 0.2], [1.0, 2.0])) < 1e-12)
        True
        """
        return self._call("energy_regressor", (q, v), options)

    def gibbs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the Gibbs function S, the energy of accelerations [kg·m²/s⁴]; ∂S/∂a is :meth:`generalised_forces`."""
        return self._call("gibbs", (q, v, a), options)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return ½ vᵀM(q)v [J]."""
        return self._call("kinetic_energy", (q, v), options)

    def potential_energy(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the potential energy of gravity [J], zero with all mass at the world's origin."""
        return self._call("potential_energy", (q,), options)

    def centre_of_mass(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the mass centre of all moving bodies in the world [m]."""
        return self._call("centre_of_mass", (q,), options)

    def momentum(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the linear momentum, then the angular momentum about the mass centre, in world axes."""
        return self._call("momentum", (q, v), options)

    def momentum_matrix(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the 6×nv matrix from v to :meth:`momentum`."""
        return self._call("momentum_matrix", (q,), options)

    def pose(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the 4×4 pose of a link's or joint's frame in the world."""
        return self._call("pose", (q,), options, self._about("pose", frame, "pose"))

    def jacobian(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the 6×nv matrix from v to a frame's velocity, linear part first, in world axes."""
        return self._call("jacobian", (q,), options, self._about("jacobian", frame, "jacobian"))

    def velocity(self, q: ArrayLike, v: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return a frame's velocity (..., 6), linear part first, in world axes."""
        return self._call("velocity", (q, v), options, self._about("velocity", frame, "velocity"))

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return a frame's classical acceleration (..., 6), linear part first, in world axes, gravity left out."""
        return self._call("acceleration", (q, v, a), options, self._about("acceleration", frame, "acceleration"))

    def constraint_forces(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return what holds the loops closed in the motion of :meth:`inverse_dynamics`, (..., closures, 6).

        Per name in :attr:`closure_names` the force and the moment on the second frame's body, about that frame's origin
        (a wheel's lowest point), along the first frame's axes. Rows that were dropped, because others hold the same,
        carry nothing here; how such rows share a load is not determined by rigid bodies.
        """
        return self._call("constraint_forces", (q, v, a), options)

    def actuator_jacobian(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the nu×nv matrix from v to the velocities of the actuators; Q = Jᵀτ."""
        return self._call("actuator_jacobian", (q,), options)

    def tree_velocity(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the velocities of every joint of the spanning tree, Γ(q)·v."""
        return self._call("tree_velocity", (q, v), options)

    def tree_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the accelerations of every joint of the spanning tree, for accelerations a (..., nv)."""
        return self._call("tree_acceleration", (q, v, a), options)
