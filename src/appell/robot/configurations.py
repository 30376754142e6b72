"""Configurations of a robot: neutral and random ones, motions between them, loops closed, actuators and coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.model.build import listed
from appell.model.model import Model
from appell.read.values import shown
from appell.robot.arguments import real_array, several, whole, words
from appell.robot.coordinates import coordinates_of
from appell.robot.description import Description
from appell.robot.kind import Kind
from appell.robot.records import Named
from appell.spatial.scalar import Array


class Configurations(Description):
    """What a robot does with configurations."""

    def neutral(self) -> Array:
        """Return the configuration with every joint at zero and every quaternion at rest, its loops closed.

        >>> import appell
        >>> appell.load("two-link").neutral()
        array([0., 0.])
        """
        return self.kind.neutral()

    @cached_property
    def configurations(self) -> Named[Array]:
        """Return the named configurations (nq,) of the robot's file: MJCF keyframes, SRDF group states, toml's.

        Joints that a configuration does not name are as in :meth:`neutral`; loops are closed near it.

        >>> import appell
        >>> text = '<robot><group_state name="up" group="arm"><joint name="joint1" value="1.5"/></group_state></robot>'
        >>> appell.load("two-link", srdf=text).configurations["up"]
        array([1.5, 0. ])
        """
        at, found = self.places("q"), {}
        for name, of in self.model.configurations:
            q = self.neutral()
            for joint, values in of:
                q[at.get(joint, [])] = values if joint in at else []
            found[name] = self.kind.assemble(q)
        return Named(f"robot '{self.name}' has no configuration", found)

    def random(self, rng: np.random.Generator, size: int | tuple[int, ...] | None = None) -> Array:
        """Return random configurations within the joints' limits; ±π, or ±1 m, where a joint has none.

        Those of a robot with loops are closed, and about half a radian from :meth:`neutral`.

        >>> import appell, numpy as np
        >>> appell.load("two-link").random(np.random.default_rng(0), 3).shape
        (3, 2)
        """
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng: expected a generator such as numpy.random.default_rng(0), got {shown(rng)}")
        one = isinstance(size, int | np.integer)
        sizes = [size] if one else several("size: expected a whole number, or several", () if size is None else size)
        shape = tuple(whole("size", x, 0) for x in sizes)
        count = whole("size", math.prod(shape), 0, 1 << 32)
        return self.kind.random(rng, count).reshape(*shape, self.nq)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return the configuration reached from q by the motion dv (velocity times time): quaternions normalised.

        A robot with loops follows dv in steps of 0.1, with its loops closed after each; so entries of dv are at most
        100 rad or m there.

        Raises
        ------
        InputError
            When a robot with loops cannot follow dv: it is longer, not finite, or leads to where loops do not close.
        """
        return self.kind.integrate(self.configuration("q", q), self._sized("dv", dv, self.nv))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return the motion that leads from q0 to q1: ``integrate(q0, difference(q0, q1)) = q1``."""
        return self.kind.difference(self.configuration("q0", q0), self.configuration("q1", q1))

    def assemble(self, guess: ArrayLike | None = None) -> Array:
        """Return closed configurations near guesses (..., nq), :meth:`neutral` without one; q itself without loops.

        Raises
        ------
        ModelError
            When the loops cannot be closed; the message names those that stay open.

        >>> import appell
        >>> robot = appell.load("five-bar")
        >>> robot.closure_error(robot.assemble(robot.neutral() + 0.1)) < 1e-12
        np.True_
        """
        return self.neutral() if guess is None else self.kind.assemble(self.configuration("guess", guess))

    def project(self, q: ArrayLike, v: ArrayLike | None = None) -> Any:
        """Return the closed configuration with the same independent coordinates, and velocities if any are given.

        v may have an entry per independent velocity, which are returned as they are: velocities of the tree follow from
        them and cannot drift. Or it has one per velocity of the tree; then those independent velocities are returned
        whose motion is the nearest in kinetic energy.

        Raises
        ------
        InputError
            When q is not near a closed configuration.
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
        """Return how far the loops of configurations are open: the largest distance [m] or angle [rad]."""
        return self.kind.closure_error(self._sized("q", q, self.nq))[()]

    def condition(self, q: ArrayLike) -> Array:
        """Return the condition number of the equations that give the dependent velocities, in pure numbers.

        It is infinite where the independent velocities do not determine the motion: at a singularity of the robot, or
        of the choice of its coordinates (:meth:`with_independent`). It is 1 without loops.
        """
        return self.kind.condition(self._sized("q", q, self.nq))[()]

    def with_independent(self, names: Sequence[str] | None = None, *, near: ArrayLike | None = None) -> Self:
        """Return the robot with other independent velocities, such as a platform's own.

        Inverse dynamics then takes the accelerations of the first of them, as many as there are actuators. Use it where
        the actuators do not determine the motion, as the warning near such configurations says: with `near`, a closed
        configuration about which the coordinates are to be good, and no names, the best conditioned ones are chosen.
        Velocities go over by ``other.project(q, robot.tree_velocity(q, v))``.

        >>> import appell
        >>> robot = appell.load("five-bar").with_independent(["mot1", "free1"])
        >>> robot.independent, robot.actuators
        (['mot1', 'free1'], ['mot1', 'mot2'])
        """
        at = None if near is None else self._sized("near", near, self.nq)
        wanted = None if names is None else words("with_independent", names)
        return self._with(self.kind.with_independent(wanted, at))

    def coordinates_near(self, q: ArrayLike) -> Self:
        """Return the robot in coordinates that are good at q: itself unless it is near a singularity of its own.

        A simulation that asks before every step goes through singularities of the actuators: the same robot moves by
        other coordinates for a while.

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
        """Return the robot in other coordinates, as they were asked for."""
        return {}

    def with_model(self, model: Model) -> Self:
        """Return the robot with another model of the same joints and loops: other inertias, friction or gravity."""
        return type(self)(self.kind.with_model(model), self._formulation)

    def reduced(self, q: ArrayLike, v: ArrayLike) -> Array:
        """Return the independent ones of velocities of the tree that the loops allow; of accelerations likewise."""
        return self.kind.reduced(self._sized("q", q, self.nq), self._sized("v", v, self.facts.sizes["t"]))

    def tree_configuration(self, q: ArrayLike) -> Array:
        """Return the coordinates of every joint of the spanning tree, followers and legs included."""
        return self.kind.tree_configuration(self._sized("q", q, self.nq))

    def actuator_positions(self, q: ArrayLike) -> Array:
        """Return the positions of the actuators (..., nu): the inverse kinematics of a parallel robot.

        >>> import appell
        >>> appell.load("agile-wrist").actuator_positions([0.0, 0.0, 0.0]).round(4)
        array([1.2161, 1.2161, 1.2161])
        """
        places = coordinates_of(self.model, self.facts.actuated, "actuator_positions")
        return self.tree_configuration(q)[..., places]

    def from_actuators(self, positions: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """Return the configuration (..., nq) in which the actuators have given positions (..., nu), near a guess.

        The forward kinematics of a parallel robot: several configurations may share the positions; the one near the
        guess, :meth:`neutral` where none is given, is sought first.

        Raises
        ------
        InputError
            When no such configuration is found; the message names the sample.

        >>> import appell
        >>> robot = appell.load("agile-wrist")
        >>> robot.from_actuators(robot.actuator_positions([0.1, -0.2, 0.3])).round(6)
        array([ 0.1, -0.2,  0.3])
        """
        start = self.neutral() if guess is None else self.configuration("guess", guess)
        return self.kind.from_actuators(self._sized("positions", positions, self.nu), start)

    def reorder(self, names: Sequence[str]) -> Array:
        """Return the indices that bring an array in the order of `names` into this robot's order.

        Use them on the last axis: ``x[..., robot.reorder(names)]``.

        >>> import appell
        >>> robot = appell.load("two-link")
        >>> robot.reorder(robot.joint_names[::-1])
        array([1, 0])
        """
        given = several("reorder: expected the names of joints", names)
        if not all(isinstance(name, str) for name in given):
            raise InputError(f"reorder: expected the names of joints, got {shown(names)}")
        missing = [name for name in self.joint_names if name not in given]
        if missing or len(set(given)) != len(given):
            problem = f"misses {listed(missing)}" if missing else "names a joint twice"
            raise InputError(f"reorder: the list {problem}; robot '{self.name}' has joints {listed(self.joint_names)}")
        return np.array([given.index(name) for name in self.joint_names], dtype=int)
