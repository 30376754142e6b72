"""Energies of a robot, its Gibbs function, and the regressors that are linear in its parameters."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from appell.arguments import truth
from appell.robot.evaluation import Options
from appell.robot.kinematics import Kinematics
from appell.spatial.scalar import Array


class Energies(Kinematics):
    """Energies and regressors. Their options are those of :class:`appell.Robot`."""

    def gibbs(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the Gibbs function (acceleration energy) S = ½ ∫ r̈·r̈ dm, whose gradient ∂S/∂a are the joint torques.

        Gravity enters as an acceleration −g of the base. The terms of springs, damping, friction and rotor inertia are
        included, so that ∂S/∂a is :meth:`generalised_forces`.

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
            (...) [kg·m²/s⁴].

        References
        ----------
        V. Mata et al., Serial-robot dynamics algorithms for moderately large numbers of joints, Mechanism and Machine
        Theory 37 (2002) 739–755.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v, a, step = [0.1, 0.2], [1.0, 2.0], [3.0, 4.0], 1e-3
        >>> slope = (robot.gibbs(q, v, [3.0 + step, 4.0]) - robot.gibbs(q, v, [3.0 - step, 4.0])) / (2 * step)
        >>> bool(abs(slope - robot.inverse_dynamics(q, v, a)[0]) < 1e-6)
        True
        """
        return self._call("gibbs", (q, v, a), options)

    def kinetic_energy(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the kinetic energy T = ½ vᵀM(q)v, rotor inertias included.

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
            (...) [J].

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> bool(abs(robot.kinetic_energy(q, v) - 0.5 * (robot.mass_matrix(q) @ v @ v)) < 1e-12)
        True
        """
        return self._call("kinetic_energy", (q, v), options)

    def potential_energy(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the potential energy V of gravity and springs; that of gravity is zero at the world's origin.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (...) [J].

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560")
        >>> height = robot.centre_of_mass([0.1] * 6)[2]
        >>> bool(abs(robot.potential_energy([0.1] * 6) - 9.81 * robot.total_mass * height) < 1e-9)
        True
        """
        return self._call("potential_energy", (q,), options)

    def regressor(
        self, q: ArrayLike, v: ArrayLike, a: ArrayLike, *, base: bool = False, **options: Unpack[Options]
    ) -> Array:
        """Return the regressor Y of the dynamics, τ = Y(q, v, a)·π for :attr:`parameters` π.

        The rows are generalised forces on the independent velocities; for a spherical robot in closed form they are
        the motor torques. With ``base=True`` the columns are those of :attr:`base_parameters`, which are linearly
        independent, computed by a kernel of their own.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations (..., nv) [rad/s², m/s²].
        base
            Whether to return only the linearly independent columns.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nv, n), with one column per entry of :attr:`parameters` or of :attr:`base_parameters`.

        Raises
        ------
        ModelError
            With ``base=True``, when the rank of the regressor is numerically ambiguous.

        References
        ----------
        M. Gautier, Numerical calculation of the base inertial parameters of robots, Journal of Robotic Systems 8
        (1991) 485–506.

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
        """Return the regressor Y of the momentum: :meth:`momentum` = Y(q, v)·π for :attr:`parameters` π.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`. The angular rows are about the mass centre
            that the parameters, or those of ``parameters=``, have.

        Returns
        -------
        Array
            (..., 6, n), linear rows first.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> product = robot.momentum_regressor([0.1, 0.2], [1.0, 2.0]) @ robot.parameters
        >>> bool(abs(product - robot.momentum([0.1, 0.2], [1.0, 2.0])).max() < 1e-12)
        True
        """
        return self._call("momentum_regressor", (q, v), options)

    def energy_regressor(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the regressor Y of the energies: (T, V) = Y(q, v)·π for :attr:`parameters` π.

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
            (..., 2, n): row 0 gives :meth:`kinetic_energy`, row 1 :meth:`potential_energy` [J].

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> kinetic, potential = robot.energy_regressor([0.1, 0.2], [1.0, 2.0]) @ robot.parameters
        >>> bool(abs(kinetic - robot.kinetic_energy([0.1, 0.2], [1.0, 2.0])) < 1e-12)
        True
        """
        return self._call("energy_regressor", (q, v), options)
