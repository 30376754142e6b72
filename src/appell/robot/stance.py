"""Stance: frames fixed to the world, contact forces, friction cones."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import numbers, real_array
from appell.errors import InputError
from appell.messages import listed, shown
from appell.robot import cones, hold
from appell.robot.cones import StanceTorques
from appell.robot.dynamics import Wrenches
from appell.robot.evaluation import Options
from appell.robot.stepping import Stepping
from appell.spatial.scalar import Array


class Stance(Stepping):
    """Stance: frames fixed to the world. The options of every verb are those of :class:`appell.Robot`."""

    def held(self, frames: Mapping[str, int], *, at: ArrayLike | None = None) -> Self:
        """Return the robot with frames fixed to the world at their poses in one configuration: a closed robot.

        Parameters
        ----------
        frames
            The number of constrained directions by name of the frame: 3 for its origin (a point foot, free to rotate),
            6 for the frame (a flat foot).
        at
            The configuration (nq,) that defines the poses of the fixed frames; :meth:`neutral` if None.

        Returns
        -------
        Robot
            A robot with the same coordinates q and fewer velocities, by the rank of the constraints. Its actuators are
            those of this robot, by default all joints except a floating base. If they are redundant,
            :attr:`independent` has the velocities of the base instead of those of the supporting legs, and
            :meth:`inverse_dynamics` returns the least-squares torques.

        Raises
        ------
        InputError
            When a frame is unknown or fixed to the world already, or `at` is not a configuration.
        ModelError
            When the constraints leave no motion.

        Examples
        --------
        >>> import appell
        >>> arm = appell.load("puma560")
        >>> pivoted = arm.held({"link6": 3}, at=[0.1, 0.5, -0.5, 0.2, 0.3, 0.1])
        >>> pivoted.nv, pivoted.nu, pivoted.closure_names
        (3, 6, ['link6'])
        """
        model = self.kind.as_tree()
        wanted = _rows(self.name, frames)
        for name in wanted:
            self._about("pose", name, "held")
            if model.frame_index[name].body < 0:
                raise InputError(f"held: frame '{name}' of robot '{self.name}' is fixed to the world already")
            if hold.ground(name) in model.frame_index:
                raise InputError(f"held: frame '{name}' of robot '{self.name}' is held already; name each frame once")
        q = self.neutral() if at is None else self.configuration("at", at)
        if q.ndim != 1 or not np.isfinite(q).all():
            raise InputError(f"held: at: expected one configuration ({self.nq},) of finite numbers, got {shown(at)}")
        return self._rebuilt(hold.held(model, wanted, self.tree_configuration(q)))

    def contact_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Return the contact forces and moments of the world on held frames in :meth:`forward_dynamics`.

        Parameters
        ----------
        q, v, tau, wrenches
            Those of :meth:`forward_dynamics`.
        **options
            `out`, `parameters` and `formulation`, see :class:`appell.Robot`.

        Returns
        -------
        array
            (..., closures, 6): per name in :attr:`closure_names` the force [N], then the moment [N·m] about the held
            frame's origin, in world axes; the moment of a frame held by 3 rows is zero. Of a loop, the same as in
            :meth:`constraint_forces`: on its second frame, along the axes of the first.

        Raises
        ------
        InputError
            When an argument has another size, or a frame of `wrenches` is unknown.

        Examples
        --------
        >>> import appell
        >>> q = [0.1, 0.5, -0.5, 0.2, 0.3, 0.1]
        >>> robot = appell.load("puma560").held({"link6": 3}, at=q)
        >>> tau = robot.inverse_dynamics(q, [0.0] * 3, [0.0] * 3)
        >>> robot.contact_forces(q, [0.0] * 3, tau).shape
        (1, 6)
        """
        load = self._load(q, wrenches, "tree_wrench_forces")
        if load is not None:
            return self._call("contact_forces_loaded", (q, v, tau, load), options)
        return self._call("contact_forces", (q, v, tau), options)

    def friction_margin(self, forces: ArrayLike, mu: ArrayLike, normals: ArrayLike = (0.0, 0.0, 1.0)) -> Array:
        """Return the margins of contact forces within their friction cones, μ n·f − |f − (n·f)n| [N].

        Parameters
        ----------
        forces
            Those of :meth:`contact_forces`, (..., closures, 6); their moments do not count.
        mu
            Coefficients of friction, one number or (..., closures).
        normals
            Normals of the ground in world axes, towards the robot: (3,) or (..., closures, 3), of any length above 0.

        Returns
        -------
        array
            (..., closures): negative where a foot would slip or lift off; infinite for loops, which hold both ways.

        Raises
        ------
        InputError
            When a size does not fit, a coefficient is negative or a normal is zero.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560").held({"link6": 3}, at=[0.1, 0.5, -0.5, 0.2, 0.3, 0.1])
        >>> robot.friction_margin([[3.0, 0.0, 10.0, 0.0, 0.0, 0.0]], mu=0.5)
        array([2.])
        """
        own, found = self._cones(mu, normals), self._forces(forces)
        return np.where(self._is_held, cones.margin(found[..., :3], *own), np.inf)

    def stance_torques(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        mu: ArrayLike,
        normals: ArrayLike = (0.0, 0.0, 1.0),
        *,
        weights: ArrayLike | None = None,
    ) -> StanceTorques:
        """Return the least-squares joint torques whose contact forces are within their friction cones.

        Parameters
        ----------
        q, v, a, weights
            Those of :meth:`inverse_dynamics`.
        mu, normals
            Those of :meth:`friction_margin`.

        Returns
        -------
        StanceTorques
            ``tau`` (..., nu), their contact ``forces`` (..., closures, 6), and whether ``is_feasible`` (...). Where no
            torques keep the contact forces within their cones, tau are those of :meth:`inverse_dynamics`.

        Raises
        ------
        InputError
            When clarabel is not installed, or an argument does not fit.

        Examples
        --------
        >>> import appell
        >>> q = [0.1, 0.5, -0.5, 0.2, 0.3, 0.1]
        >>> robot = appell.load("puma560").held({"link6": 3}, at=q)
        >>> found = robot.stance_torques(q, [0.0] * 3, [0.0] * 3, mu=0.5)
        >>> bool(found.is_feasible), bool(robot.friction_margin(found.forces, 0.5).min() > -1e-6)
        (True, True)
        """
        coefficients, upright = self._cones(mu, normals)
        least = self.inverse_dynamics(q, v, a, weights=weights)
        shape, at = least.shape[:-1], np.flatnonzero(self._is_held)
        state = [
            np.broadcast_to(np.asarray(x, dtype=float), (*shape, n)).reshape(-1, n)
            for x, n in ((q, self.nq), (v, self.nv), (np.ones(self.nu) if weights is None else weights, self.nu))
        ]
        count = len(self.closure_names)
        friction = np.broadcast_to(coefficients, (*shape, count)).reshape(-1, count)[:, at]
        axes = np.broadcast_to(upright, (*shape, count, 3)).reshape(-1, count, 3)[:, at]
        motors = np.swapaxes(self.actuator_jacobian(state[0]), -1, -2)

        def forces(i: int, tau: Array) -> Array:
            return self.contact_forces(state[0][i], state[1][i], tau)[:, at, :3]

        tau, is_feasible = cones.within_cones(least.reshape(-1, self.nu), motors, state[2], forces, friction, axes)
        tau = tau.reshape(least.shape)
        return StanceTorques(tau, self.contact_forces(q, v, tau), is_feasible.reshape(shape))

    @cached_property
    def _is_held(self) -> Array:
        """Return which closures hold a frame to the world."""
        return np.array([tie.first == hold.ground(tie.name) for tie in self.model.closures], dtype=bool)

    def _cones(self, mu: ArrayLike, normals: ArrayLike) -> tuple[Array, Array]:
        """Return coefficients of friction, and normals of length 1."""
        coefficients = real_array("mu", mu, f" for robot '{self.name}'").astype(float)
        if not ((coefficients >= 0.0) & np.isfinite(coefficients)).all():
            raise InputError(f"mu: expected numbers that are not negative, got {shown(mu)} for robot '{self.name}'")
        count = len(self.closure_names)
        if coefficients.ndim and coefficients.shape[-1] != count:
            raise InputError(f"mu: expected one number or (..., {count}), got {shown(mu)} for robot '{self.name}'")
        given = numbers(self.name, "normals", (3,), normals).astype(float)
        if given.ndim > 1 and given.shape[-2] != count:
            raise InputError(f"normals: expected (3,) or (..., {count}, 3), got {shown(normals)}")
        lengths = np.linalg.norm(given, axis=-1, keepdims=True)
        if not ((lengths > 0.0) & np.isfinite(lengths)).all():
            raise InputError(f"normals: expected vectors of a length above 0, got {shown(normals)}")
        return coefficients, given / lengths

    def _forces(self, forces: ArrayLike) -> Array:
        return numbers(self.name, "forces", (len(self.closure_names), 6), forces).astype(float)


def _rows(robot: str, frames: Any) -> dict[str, int]:
    """Return the frames to be held, each with 3 or 6 rows."""
    if not isinstance(frames, Mapping) or not frames:
        raise InputError(
            f"held: expected frames of robot '{robot}' and 3 or 6 rows each, as in {{'foot': 3}}, got {shown(frames)}"
        )
    bad = [name for name, rows in frames.items() if isinstance(rows, bool) or rows not in hold.ROWS]
    if bad:
        raise InputError(
            f"held: expected 3 rows (the frame's origin) or 6 (the frame), got {shown(frames[bad[0]])} for frame "
            f"{listed(map(str, bad[:1]))} of robot '{robot}'"
        )
    return {name: int(rows) for name, rows in frames.items()}
