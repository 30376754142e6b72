"""Configurations of a robot: neutral, named and random ones, and motions between them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import several, whole
from appell.errors import InputError
from appell.messages import listed, shown
from appell.model.model import Model
from appell.robot.description import Description
from appell.robot.records import Named
from appell.spatial.scalar import Array


class Configurations(Description):
    """Configurations of any robot."""

    def neutral(self) -> Array:
        """Return the neutral configuration: every joint at zero, identity quaternions, loops closed.

        Returns
        -------
        Array
            (nq,) [rad, m].

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").neutral()
        array([0., 0.])
        """
        return self.kind.neutral()

    @cached_property
    def configurations(self) -> Named[Array]:
        """Return the named configurations (nq,) of the robot's file: MJCF keyframes, SRDF group states, those of toml.

        Joints that a configuration does not name are as in :meth:`neutral`; loops are closed near it. An unknown name
        raises an InputError that lists the known ones.

        Examples
        --------
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
        """Return random configurations within the joint limits, or within ±π rad or ±1 m where a joint has none.

        Configurations of a robot with loops are closed, and within about 0.5 rad of :meth:`neutral`.

        Parameters
        ----------
        rng
            The generator of random numbers.
        size
            The leading axes: an integer, a tuple, or None for one configuration.

        Returns
        -------
        Array
            (..., nq) [rad, m], with the leading axes of `size`.

        Raises
        ------
        InputError
            When `rng` is not a generator, or `size` is negative.

        Examples
        --------
        >>> import appell, numpy as np
        >>> appell.load("two-link").random(np.random.default_rng(0), 3).shape
        (3, 2)
        """
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng: expected a generator such as numpy.random.default_rng(0), got {shown(rng)}")
        one = isinstance(size, int | np.integer)
        sizes = [size] if one else several("size: expected an integer, or several", () if size is None else size)
        shape = tuple(whole("size", x, 0) for x in sizes)
        count = whole("size", math.prod(shape), 0, 1 << 32)
        return self.kind.random(rng, count).reshape(*shape, self.nq)

    def integrate(self, q: ArrayLike, dv: ArrayLike) -> Array:
        """Return the configuration reached from q by the motion dv, a velocity times a time step.

        Quaternions are normalised. A robot with loops follows dv in steps of 0.1 and closes its loops after each step.

        Parameters
        ----------
        q
            Configuration (..., nq) [rad, m].
        dv
            Motion (..., nv) [rad, m] in the tangent space; entries of at most 100 for a robot with loops.

        Returns
        -------
        Array
            (..., nq), the configuration q ⊕ dv.

        Raises
        ------
        InputError
            When a robot with loops cannot follow dv: it is too long, not finite, or leads to open loops.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").integrate([0.1, 0.2], [1.0, 2.0])
        array([1.1, 2.2])
        """
        return self.kind.integrate(self.configuration("q", q), self._sized("dv", dv, self.nv))

    def difference(self, q0: ArrayLike, q1: ArrayLike) -> Array:
        """Return the motion that leads from q0 to q1: ``integrate(q0, difference(q0, q1)) = q1``.

        Parameters
        ----------
        q0, q1
            Configurations (..., nq) [rad, m].

        Returns
        -------
        Array
            (..., nv) [rad, m] in the tangent space at q0, q1 ⊖ q0.

        Examples
        --------
        >>> import appell
        >>> appell.load("two-link").difference([0.1, 0.2], [1.0, 2.0])
        array([0.9, 1.8])
        """
        return self.kind.difference(self.configuration("q0", q0), self.configuration("q1", q1))

    def reorder(self, names: Sequence[str]) -> Array:
        """Return the indices that bring an array in the order of `names` into this robot's order.

        Use them on the last axis: ``x[..., robot.reorder(names)]``.

        Parameters
        ----------
        names
            The names of all joints, in the order of the array.

        Returns
        -------
        Array
            Indices (joints,).

        Raises
        ------
        InputError
            When a joint is missing or named twice.

        Examples
        --------
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
            problem = f"lacks {listed(missing)}" if missing else "contains a joint twice"
            raise InputError(f"reorder: the list {problem}; robot '{self.name}' has joints {listed(self.joint_names)}")
        return np.array([given.index(name) for name in self.joint_names], dtype=int)

    def with_model(self, model: Model) -> Self:
        """Return the robot with another model of the same joints and loops: other inertias, friction or gravity.

        Parameters
        ----------
        model
            The model; its joints, frames and closures are those of this robot.

        Returns
        -------
        Robot
            A robot of that model.

        Examples
        --------
        >>> import appell
        >>> robot = appell.load("puma560")
        >>> robot.with_model(robot.model.without_friction())
        <Robot 'puma560': 6 bodies, nq 6, nv 6>
        """
        return type(self)(self.kind.with_model(model), self._formulation)
