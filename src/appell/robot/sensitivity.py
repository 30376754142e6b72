"""Derivatives of the verbs of a robot: Jacobians, vector–Jacobian products and Hessians."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from appell.robot.dynamics import Dynamics
from appell.robot.evaluation import Options
from appell.spatial.scalar import Array


class Sensitivity(Dynamics):
    """Derivatives of verbs. Their options are those of :class:`appell.Robot`.

    ∂/∂q is taken along the independent velocities: column k is the change of the result while q moves by unit velocity
    k.
    """

    def inverse_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the derivatives ∂τ/∂q, ∂τ/∂v and ∂τ/∂a of :meth:`inverse_dynamics`.

        Parameters
        ----------
        q, v, a
            Configuration, velocities and accelerations, as in :meth:`inverse_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            ∂τ/∂q (..., nu, nv) along the independent velocities with v and a fixed, ∂τ/∂v (..., nu, nv), and ∂τ/∂a
            (..., nu, nu): the mass matrix of an open robot.

        References
        ----------
        J. Carpentier, N. Mansard, Analytical derivatives of rigid body dynamics algorithms, Robotics: Science and
        Systems 2018.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v, by_a = robot.inverse_dynamics_derivatives([0.1, 0.2], [1.0, 0.0], [0.0, 0.0])
        >>> bool(abs(by_a - robot.mass_matrix([0.1, 0.2])).max() < 1e-12)
        True
        """
        return tuple(self._call("inverse_dynamics_derivatives", (q, v, a), options))

    def forward_dynamics_derivatives(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the derivatives ∂a/∂q, ∂a/∂v and ∂a/∂τ of :meth:`forward_dynamics`.

        Parameters
        ----------
        q, v, tau
            Configuration, velocities and joint torques, as in :meth:`forward_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            ∂a/∂q (..., nv, nv) along the independent velocities with v and τ fixed, ∂a/∂v (..., nv, nv), and ∂a/∂τ
            (..., nv, nu): the inverse mass matrix of an open robot.

        Examples
        --------
        >>> import appell, numpy as np
        >>> robot = appell.load("two-link")
        >>> by_q, by_v, by_tau = robot.forward_dynamics_derivatives([0.1, 0.2], [1.0, 0.0], [0.0, 0.0])
        >>> bool(abs(by_tau @ robot.mass_matrix([0.1, 0.2]) - np.eye(2)).max() < 1e-9)
        True
        """
        return tuple(self._call("forward_dynamics_derivatives", (q, v, tau), options))

    def inverse_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the vector–Jacobian products wᵀ∂τ/∂q, wᵀ∂τ/∂v and wᵀ∂τ/∂a of :meth:`inverse_dynamics`.

        The cost is a few times that of τ, independent of the number of joints.

        Parameters
        ----------
        q, v, a
            Configuration, velocities and accelerations, as in :meth:`inverse_dynamics`.
        w
            Weights of τ (..., nu).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            (..., nv), (..., nv) and (..., nu); ∂/∂q along the independent velocities with v and a fixed. A fourth,
            wᵀ∂τ/∂π (..., n), if ``parameters=`` is given.

        Raises
        ------
        InputError
            When an argument has a wrong shape, or q is not a configuration of the robot.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v, by_a = robot.inverse_dynamics_vjp([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0])
        >>> bool(abs(by_a - robot.mass_matrix([0.1, 0.2])[0]).max() < 1e-12)
        True
        """
        return tuple(self._call("inverse_dynamics_vjp", (q, v, a, w), options))

    def forward_dynamics_vjp(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> tuple[Array, ...]:
        """Return the vector–Jacobian products wᵀ∂a/∂q, wᵀ∂a/∂v and wᵀ∂a/∂τ of :meth:`forward_dynamics`.

        Parameters
        ----------
        q, v, tau
            Configuration, velocities and joint torques, as in :meth:`forward_dynamics`.
        w
            Weights of a (..., nv).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        tuple
            (..., nv), (..., nv) and (..., nu); ∂/∂q along the independent velocities with v and τ fixed. A fourth,
            wᵀ∂a/∂π (..., n), if ``parameters=`` is given.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> pi = robot.parameters
        >>> [x.shape for x in robot.forward_dynamics_vjp([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0], parameters=pi)]
        [(2,), (2,), (2,), (20,)]
        """
        return tuple(self._call("forward_dynamics_vjp", (q, v, tau, w), options))

    def inverse_dynamics_hessian(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, w: ArrayLike, **options: Unpack[Options]
    ) -> Array:
        """Return the Hessian of wᵀτ with respect to (q, v, a).

        Column k is the derivative of :meth:`inverse_dynamics_vjp`, its three results concatenated, along unit velocity
        k of q, v or a. The block of q is not symmetric where motions do not commute: rotations of free and ball joints.

        Parameters
        ----------
        q, v, a
            Configuration, velocities and accelerations, as in :meth:`inverse_dynamics`.
        w
            Weights of τ (..., nu).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 2nv + nu, 2nv + nu).

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.inverse_dynamics_hessian([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]).shape
        (6, 6)
        """
        return self._call("inverse_dynamics_hessian", (q, v, a, w), options)

    def inverse_dynamics_hvp(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        w: ArrayLike,
        dq: ArrayLike,
        dv: ArrayLike,
        da: ArrayLike,
        **options: Unpack[Options],
    ) -> Array:
        """Return the product of :meth:`inverse_dynamics_hessian` and (dq, dv, da), without forming the matrix.

        Parameters
        ----------
        q, v, a, w
            Those of :meth:`inverse_dynamics_hessian`.
        dq, dv
            Directions of q and v (..., nv).
        da
            Direction of a (..., nu).
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 2nv + nu).

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> state, x = ([0.1, 0.2], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]), ([1.0, 0.0], [0.0, 2.0], [0.0, 0.0])
        >>> product = robot.inverse_dynamics_hessian(*state) @ [1.0, 0.0, 0.0, 2.0, 0.0, 0.0]
        >>> bool(abs(robot.inverse_dynamics_hvp(*state, *x) - product).max() < 1e-12)
        True
        """
        return self._call("inverse_dynamics_hvp", (q, v, a, w, dq, dv, da), options)

    def pose_derivatives(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the derivatives of :meth:`pose` with respect to q, along the independent velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 4, 4, nv).

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").pose_derivatives([0.0, 0.0], "link2").shape
        (4, 4, 2)
        """
        return self._call("pose_derivatives", (q,), options, self._about("pose_derivatives", frame, "pose_derivatives"))

    def jacobian_derivatives(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the derivatives of :meth:`jacobian` with respect to q, along the independent velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6, nv, nv); the last axis is the direction of q.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").jacobian_derivatives([0.0, 0.0], "link2").shape
        (6, 2, 2)
        """
        about = self._about("jacobian_derivatives", frame, "jacobian_derivatives")
        return self._call("jacobian_derivatives", (q,), options, about)

    def momentum_derivatives(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> tuple[Array, ...]:
        """Return the derivatives of :meth:`momentum` with respect to q and v.

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
        tuple
            By q (..., 6, nv), along the independent velocities; by v (..., 6, nv), which is :meth:`momentum_matrix`.

        Examples
        --------
        >>> import appell
        >>> [x.shape for x in appell.load("two-link").momentum_derivatives([0.0, 0.0], [1.0, 0.0])]
        [(6, 2), (6, 2)]
        """
        return tuple(self._call("momentum_derivatives", (q, v), options))

    def kinetic_energy_derivatives(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> tuple[Array, ...]:
        """Return the derivatives of :meth:`kinetic_energy` with respect to q and v.

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
        tuple
            ∂T/∂q (..., nv), along the independent velocities, and ∂T/∂v = M(q)·v (..., nv).

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> by_q, by_v = robot.kinetic_energy_derivatives([0.1, 0.2], [1.0, 2.0])
        >>> bool(abs(by_v - robot.mass_matrix([0.1, 0.2]) @ [1.0, 2.0]).max() < 1e-12)
        True
        """
        return tuple(self._call("kinetic_energy_derivatives", (q, v), options))

    def potential_energy_derivatives(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the derivative ∂V/∂q of :meth:`potential_energy`, along the independent velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv) [N·m, N]: the gravity torques of :meth:`gravity`.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> bool(abs(robot.potential_energy_derivatives([0.1, 0.2]) - robot.gravity([0.1, 0.2])).max() < 1e-12)
        True
        """
        return self._call("potential_energy_derivatives", (q,), options)
