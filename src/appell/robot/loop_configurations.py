"""Configurations of robots with loops: loops closed, independent velocities chosen, actuator positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import real_array, words
from appell.robot.configurations import Configurations
from appell.robot.coordinates import coordinates_of
from appell.robot.kind import Kind
from appell.spatial.scalar import Array


class LoopConfigurations(Configurations):
    """Loops, independent velocities and actuators; trivial for a robot without loops."""

    def assemble(self, guess: ArrayLike | None = None) -> Array:
        """Return closed configurations near guesses.

        Parameters
        ----------
        guess
            Configurations (..., nq) [rad, m]; :meth:`neutral` if None.

        Returns
        -------
        Array
            (..., nq), with all loops closed; the guess itself for a robot without loops.

        Raises
        ------
        ModelError
            When the loops cannot be closed; the message names the open ones.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> bool(robot.closure_error(robot.assemble(robot.neutral() + 0.1)) < 1e-12)
        True
        """
        return self.neutral() if guess is None else self.kind.assemble(self.configuration("guess", guess))

    def project(self, q: ArrayLike, v: ArrayLike | None = None) -> Any:
        """Return the closed configuration with the same independent coordinates, and matching velocities.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m], near a closed one.
        v
            Velocities. Independent ones (..., nv) are returned unchanged: velocities of the tree follow from them and
            cannot drift. Of velocities of the whole tree (..., nt), the nearest motion in kinetic energy is returned.

        Returns
        -------
        Array or tuple
            q (..., nq); with `v`, q and the independent velocities (..., nv).

        Raises
        ------
        InputError
            When q is not near a closed configuration.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> q = robot.project(robot.neutral() + [0.0, 0.0, 1e-4, 0.0])
        >>> bool(robot.closure_error(q) < 1e-12)
        True
        """
        closed = self.kind.project(self._sized("q", q, self.nq))
        if v is None:
            return closed
        speed = real_array("v", v, f" for robot '{self.name}'").astype(float)
        if speed.shape[-1:] == (self.nv,):
            return closed, speed
        tree = self._sized("v", v, self.facts.sizes["t"])
        # M v = Γᵀ M_tree v_tree, of momenta that a unit motion of each velocity meets
        columns = np.swapaxes(self._call("tree_velocity", (closed[..., None, :], np.eye(self.nv)), {}), -1, -2)
        momenta = self._call("tree_mass_matrix", (closed,), {}) @ columns
        right = np.swapaxes(momenta, -1, -2) @ tree[..., None]
        return closed, np.linalg.solve(np.swapaxes(columns, -1, -2) @ momenta, right)[..., 0]

    def closure_error(self, q: ArrayLike) -> Array:
        """Return how far the loops of configurations are open.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            (...): the largest distance [m] or angle [rad] of all closures; 0 without loops.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> bool(robot.closure_error(robot.neutral()) < 1e-12)
        True
        """
        return self.kind.closure_error(self._sized("q", q, self.nq))[()]

    def condition(self, q: ArrayLike) -> Array:
        """Return the condition number of the equations for the dependent velocities, made dimensionless.

        It is infinite where the independent velocities do not determine the motion: at a singularity of the robot, or
        of the chosen coordinates (:meth:`with_independent`).

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            (...); 1 without loops.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> bool(robot.condition(robot.neutral()) < 100.0)
        True
        """
        return self.kind.condition(self._sized("q", q, self.nq))[()]

    def with_independent(self, names: Sequence[str] | None = None, *, near: ArrayLike | None = None) -> Self:
        """Return the robot with other independent velocities, such as those of a platform.

        Inverse dynamics then takes the accelerations of the first of them, as many as there are actuators. Use it near
        configurations where the actuators do not determine the motion. Velocities are converted by
        ``other.project(q, robot.tree_velocity(q, v))``.

        Parameters
        ----------
        names
            Names of velocities of the tree; the best conditioned ones at `near` if None.
        near
            A closed configuration (nq,) [rad, m] at which the choice is well conditioned; :meth:`neutral` if None.

        Returns
        -------
        Robot
            The robot in those coordinates.

        Raises
        ------
        InputError
            When a name is unknown, the number of names is wrong, or they do not determine the motion.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar").with_independent(["mot1", "free1"])
        >>> robot.independent, robot.actuators
        (['mot1', 'free1'], ['mot1', 'mot2'])
        """
        at = None if near is None else self._sized("near", near, self.nq)
        wanted = None if names is None else words("with_independent", names)
        return self._with(self.kind.with_independent(wanted, at))

    def coordinates_near(self, q: ArrayLike) -> Self:
        """Return the robot in coordinates that are well conditioned at q: itself, unless its own are singular near q.

        A simulation that calls it before every step passes through actuator singularities: the same robot moves in
        other coordinates for a while.

        Parameters
        ----------
        q
            Configuration (nq,) [rad, m].

        Returns
        -------
        Robot
            This robot, or the same robot with other independent velocities.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.coordinates_near(robot.neutral()) is robot
        True
        """
        return self._with(self.kind.near(self._sized("q", q, self.nq)))

    def _with(self, kind: Kind) -> Self:
        if kind is self.kind:
            return self
        if kind not in self._others:
            self._others[kind] = type(self)(kind, self._formulation)
        return self._others[kind]

    @cached_property
    def _others(self) -> dict[Kind, Self]:
        """Return the robots in other coordinates, as they are requested."""
        return {}

    def reduced(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the independent velocities of velocities of the tree; likewise of accelerations.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        v
            Velocities of the tree (..., nt) [rad/s, m/s] that the loops allow.

        Returns
        -------
        Array
            (..., nv), the inverse of :meth:`tree_velocity`.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.reduced(robot.neutral(), robot.tree_velocity(robot.neutral(), [1.0, 2.0]))
        array([1., 2.])
        """
        return self.kind.reduced(self._sized("q", q, self.nq), self._sized("v", v, self.facts.sizes["t"]))

    def tree_configuration(self, q: ArrayLike) -> Array:
        """Return the coordinates of every joint of the spanning tree, followers and legs included.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            Coordinates of the tree (..., n) [rad, m]; q itself for a robot without followers.

        Examples
        --------
        >>> import appell
        >>> appell.load("agile-wrist").tree_configuration([0.0, 0.0, 0.0]).shape
        (7,)
        """
        return self.kind.tree_configuration(self._sized("q", q, self.nq))

    def actuator_positions(self, q: ArrayLike) -> Array:
        """Return the positions of the actuators: the inverse kinematics of a parallel robot.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].

        Returns
        -------
        Array
            (..., nu) [rad, m], in the order of :attr:`actuators`.

        Examples
        --------
        >>> import appell
        >>> appell.load("agile-wrist").actuator_positions([0.0, 0.0, 0.0]).round(4)
        array([1.2161, 1.2161, 1.2161])
        """
        places = coordinates_of(self.model, self.facts.actuated, "actuator_positions")
        return self.tree_configuration(q)[..., places]

    def from_actuators(self, positions: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """Return the configuration with given actuator positions: the forward kinematics of a parallel robot.

        Several configurations may have the same actuator positions; the search starts at the guess.

        Parameters
        ----------
        positions
            Positions of the actuators (..., nu) [rad, m].
        guess
            Configuration (..., nq) at which the search starts; :meth:`neutral` if None.

        Returns
        -------
        Array
            (..., nq) [rad, m].

        Raises
        ------
        InputError
            When no such configuration is found; the message names the sample.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("agile-wrist")
        >>> robot.from_actuators(robot.actuator_positions([0.1, -0.2, 0.3])).round(6)
        array([ 0.1, -0.2,  0.3])
        """
        start = self.neutral() if guess is None else self.configuration("guess", guess)
        return self.kind.from_actuators(self._sized("positions", positions, self.nu), start)
