"""Kinematic verbs of a robot: poses, Jacobians, frame velocities, mass centre, momentum, velocities of the tree."""

from __future__ import annotations

from typing import Unpack

from numpy.typing import ArrayLike

from appell.robot.evaluation import Options
from appell.robot.merging import Merging
from appell.spatial.scalar import Array


class Kinematics(Merging):
    """Kinematic verbs. Their options are those of :class:`appell.Robot`."""

    def pose(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the pose of a frame in the world, a homogeneous matrix.

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
            (..., 4, 4): the rotation from the frame's axes to world axes, and the position of its origin [m].

        Raises
        ------
        InputError
            When the frame is unknown; the message lists those of the robot.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").pose([0.0, 0.0], "link2")[:3, 3]
        array([0.02, 0.  , 0.  ])
        """
        return self._call("pose", (q,), options, self._about("pose", frame, "pose"))

    def jacobian(self, q: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the geometric Jacobian J(q) of a frame: velocity of the frame = J·v.

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
            (..., 6, nv): rows 0–2 linear (velocity of the frame's origin), rows 3–5 angular, in world axes; Pinocchio's
            LOCAL_WORLD_ALIGNED.

        Raises
        ------
        InputError
            When the frame is unknown.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> bool(abs(robot.jacobian([0.1, 0.2], "link2") @ [1.0, 2.0] - robot.velocity([0.1, 0.2], [1.0, 2.0], "link2"))
        ...      .max() < 1e-12)
        True
        """
        return self._call("jacobian", (q,), options, self._about("jacobian", frame, "jacobian"))

    def velocity(self, q: ArrayLike, v: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the velocity of a frame in world axes.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6): linear velocity of the frame's origin [m/s], then angular velocity [rad/s].

        Raises
        ------
        InputError
            When the frame is unknown.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").velocity([0.0, 0.0], [1.0, 2.0], "link2")[3:]
        array([0., 0., 3.])
        """
        return self._call("velocity", (q, v), options, self._about("velocity", frame, "velocity"))

    def acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, frame: str, **options: Unpack[Options]) -> Array:
        """Return the classical acceleration of a frame in world axes, without gravity.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities (..., nv) [rad/s, m/s].
        a
            Accelerations (..., nv) [rad/s², m/s²].
        frame
            A name of :attr:`frame_names`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6): linear acceleration of the frame's origin [m/s²], then angular acceleration [rad/s²]; the linear
            part is the classical one, J·a + J̇·v, not the spatial one.

        Raises
        ------
        InputError
            When the frame is unknown.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").acceleration([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], "link2")[:3]  # centripetal
        array([-0.02,  0.  ,  0.  ])
        """
        return self._call("acceleration", (q, v, a), options, self._about("acceleration", frame, "acceleration"))

    def centre_of_mass(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the mass centre of all moving bodies in the world.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 3) [m].

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").centre_of_mass([0.0, 0.0]).shape
        (3,)
        """
        return self._call("centre_of_mass", (q,), options)

    def momentum(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the centroidal momentum of all moving bodies, in world axes.

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
            (..., 6): linear momentum [N·s], then angular momentum about the mass centre [N·m·s]. Rotor inertias are
            not included.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("two-link")
        >>> q, v = [0.1, 0.2], [1.0, 2.0]
        >>> bool(abs(robot.momentum(q, v) - robot.momentum_matrix(q) @ v).max() < 1e-12)
        True
        """
        return self._call("momentum", (q, v), options)

    def momentum_matrix(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the centroidal momentum matrix A(q): :meth:`momentum` = A·v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., 6, nv), linear rows first.

        References
        ----------
        D.E. Orin, A. Goswami, S.-H. Lee, Centroidal dynamics of a humanoid robot, Autonomous Robots 35 (2013).

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").momentum_matrix([0.0, 0.0]).shape
        (6, 2)
        """
        return self._call("momentum_matrix", (q,), options)

    def actuator_jacobian(self, q: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the matrix J(q) from v to the velocities of the actuators; generalised forces are Jᵀτ.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nu, nv); the identity for an open robot.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.actuator_jacobian(robot.neutral())
        array([[1., 0.],
               [0., 1.]])
        """
        return self._call("actuator_jacobian", (q,), options)

    def tree_velocity(self, q: ArrayLike, v: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the velocities of every joint of the spanning tree, v_tree = Γ(q)·v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Independent velocities (..., nv) [rad/s, m/s].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nt), with one entry per velocity of the tree's joints; v itself for a robot without loops, followers
            and wheels.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.tree_velocity(robot.neutral(), [1.0, 0.0]).shape
        (4,)
        """
        return self._call("tree_velocity", (q, v), options)

    def tree_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike, **options: Unpack[Options]) -> Array:
        """Return the accelerations of every joint of the spanning tree, a_tree = Γ(q)·a + Γ̇·v.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Independent velocities (..., nv) [rad/s, m/s].
        a
            Independent accelerations (..., nv) [rad/s², m/s²].
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        Array
            (..., nt), in the order of :meth:`tree_velocity`.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.tree_acceleration(robot.neutral(), [1.0, 0.0], [0.0, 0.0]).shape
        (4,)
        """
        return self._call("tree_acceleration", (q, v, a), options)
