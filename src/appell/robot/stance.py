"""A robot on its feet: frames held to the world, contact forces, friction cones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.model.build import listed
from appell.read.values import shown
from appell.robot import hold
from appell.robot.description import Options
from appell.robot.dynamics import Wrenches
from appell.robot.sensitivity import Sensitivity
from appell.spatial.scalar import Array


class Stance(Sensitivity):
    """What a robot does with frames held to the world. The options of every verb are those of :class:`appell.Robot`."""

    def held(self, frames: Mapping[str, int], *, at: ArrayLike | None = None) -> Self:
        """Return the robot with frames held to the world, where they are in one configuration: a closed robot.

        Parameters
        ----------
        frames
            Per name of a frame the number of rows that hold it: 3 for its origin (a point foot, which may turn), 6 for
            the frame (a flat foot).
        at
            The configuration (nq,) in which the frames are where they are held; :meth:`neutral` where none is given.

        Returns
        -------
        Robot
            A robot of the same coordinates q, and of as many velocities less as rows that count. Its actuators are
            those of this robot, all joints but a floating base where all have one. Where they are redundant,
            :attr:`independent` has the velocities of the base instead of those of the legs that are held, and
            :meth:`inverse_dynamics` returns forces of least squares.

        Raises
        ------
        InputError
            When a frame is unknown, held already or fixed to the world, or `at` is no configuration.
        ModelError
            When the frames leave no motion.

        Examples
        --------
        >>> import appell
        >>> arm = appell.load("puma560")
        >>> pivoted = arm.held({"link6": 3}, at=[0.1, 0.5, -0.5, 0.2, 0.3, 0.1])
        >>> pivoted.nv, pivoted.nu, pivoted.closure_names
        (3, 6, ['link6'])
        """
        model = self.kind.settled
        wanted = _rows(self.name, frames)
        for name in wanted:
            self._about("pose", name, "held")
            if model.frame_index[name].body < 0:
                raise InputError(f"held: frame '{name}' of robot '{self.name}' is fixed to the world already")
            if hold.ground(name) in model.frame_index:
                raise InputError(f"held: frame '{name}' of robot '{self.name}' is held already; hold it once")
        q = self.neutral() if at is None else self.configuration("at", at)
        if q.ndim != 1 or not np.isfinite(q).all():
            raise InputError(f"held: at: expected one configuration ({self.nq},) of finite numbers, got {shown(at)}")
        made = self.kind.closed(hold.held(model, wanted, self.tree_configuration(q)))
        return type(self)(made, self._formulation)

    def contact_forces(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike,
        *,
        wrenches: Wrenches | None = None,
        **options: Unpack[Options],
    ) -> Array:
        """Return the forces and moments that the world puts on held frames in :meth:`forward_dynamics`.

        Parameters
        ----------
        q, v, tau, wrenches
            Those of :meth:`forward_dynamics`.

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
        >>> robot = appell.load("two-link").held({"link2": 3}, at=[0.3, 0.4])  # doctest: +SKIP
        """
        load = self._load(q, wrenches, "tree_wrench_forces")
        if load is not None:
            return self._call("contact_forces_loaded", (q, v, tau, load), options)
        return self._call("contact_forces", (q, v, tau), options)


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
