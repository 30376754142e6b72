"""The sliders of a robot: one per driven coordinate.

The driven coordinates belong to the first of the independent velocities, as many as there are actuator forces: the
joints of an open robot, the motors of a closed one, the Euler angles of a spherical one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.arguments import numbers
from appell.errors import AppellError, InputError, ModelError
from appell.model.model import Joint
from appell.model.parameters import joint_of_velocity
from appell.results.quantities import SLIDES, joint_named, labels, measures
from appell.robot.robot import Robot
from appell.spatial.scalar import Array

PARTS: dict[str, tuple[str, ...]] = {
    "free": ("x", "y", "z", "roll", "pitch", "yaw"),
    "ball": ("roll", "pitch", "yaw"),
    "planar": ("x", "y", "angle"),
    "cylindrical": ("angle", "slide"),
}
"""The labels of the sliders of joints with several coordinates."""
LENGTHS = ("x", "y", "z", "slide")
TURN = math.pi
SLIDE = 1.0
"""The range of a slider to either side for a joint without limits: [rad], [m]."""
REACHED = 1e-6
"""The largest difference between a driven coordinate and its slider [rad, m]."""


UNMOVED = 1e-9
"""Differences below this are rounding: the robot stays where it is [rad, m]."""


class Slider(NamedTuple):
    """One slider: its label, its range, its unit, and the joint's limits, infinite where there are none."""

    label: str
    low: float
    high: float
    unit: str
    limits: tuple[float, float] = (-math.inf, math.inf)


class Force(NamedTuple):
    """An actuator force: its name, its unit, and its limit, infinite where there is none."""

    name: str
    unit: str
    limit: float


class Driven(NamedTuple):
    """A joint that sliders move, and the places of its coordinates in q."""

    joint: Joint
    at: list[int]


def settled(robot: Robot, q: ArrayLike, name: str = "q") -> Array:
    """Return a configuration given by the user, checked, with loops closed.

    Raises
    ------
    AppellError
        When the size is not nq, a quaternion is not of length 1, or the loops do not close.
    """
    given = numbers(robot.name, name, (robot.nq,), q).astype(float)
    if given.shape != (robot.nq,) or not np.isfinite(given).all():
        raise InputError(f"{name}: expected {robot.nq} finite numbers, got shape {given.shape}")
    return robot.assemble(given)


class SliderSet:
    """How sliders move a robot; rotations of several degrees of freedom are shown by roll, pitch and yaw.

    >>> import appell
    >>> [slider.label for slider in SliderSet(appell.load("five-bar")).sliders]
    ['mot1', 'mot2']
    """

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._driven: list[Driven] = []
        self._alone: list[int] = []  # driven velocities of joints that are driven in part
        places = robot.places("q")
        for name, at in robot.places("v").items():
            joint, moved = joint_named(robot, name), [k for k in at if k < len(robot.driven)]
            if len(moved) == joint.type.nv:
                self._driven.append(Driven(joint, places[name]))
            else:
                self._alone += moved
        neutral, kinds = robot.neutral(), measures(robot, robot.independent)
        self._limited = [slider for one in self._driven for slider in self._sliders(one, neutral)]
        self._limited += [_around(robot.independent[k], kinds[k] == SLIDES) for k in self._alone]
        here = self.values(neutral)
        self.sliders = [widened(slider, x) for slider, x in zip(self._limited, here, strict=True)]

    def _sliders(self, driven: Driven, neutral: Array) -> list[Slider]:
        (joint, at), limits = driven, self._robot.limits
        if joint.kind in PARTS:
            # at a right angle of pitch, roll and yaw are one
            return [
                _around(f"{joint.name} {part}", part in LENGTHS, 0.499 * TURN if part == "pitch" else TURN)
                for part in PARTS[joint.kind]
            ]
        here, lower, upper = (float(x[at[0]]) for x in (neutral, limits.lower, limits.upper))
        is_length = joint.kind == "prismatic"
        reach = (0.4 * abs(here) or SLIDE) if is_length else TURN
        low = lower if math.isfinite(lower) else min(here - reach, upper - 2.0 * reach)
        high = upper if math.isfinite(upper) else max(here + reach, low + 2.0 * reach)
        return [Slider(joint.name, low, high, "m" if is_length else "rad", (lower, upper))]

    def start(self) -> Array:
        """Return the neutral configuration, moved within the limits where it is outside."""
        neutral = self._robot.neutral()
        at = zip(self._limited, self.values(neutral), strict=True)
        try:
            return self.moved(neutral, [min(max(x, slider.low), slider.high) for slider, x in at])
        except AppellError:  # the loops do not close there
            return neutral

    def values(self, q: Array) -> list[float]:
        """Return the sliders' values at q; for a joint driven in part, its displacement from neutral."""
        own = [x for joint, at in self._driven for x in _shown(joint.kind, q[at])]
        return [*own, *map(float, self._robot.difference(self._robot.neutral(), q)[self._alone])]

    def moved(self, q: Array, wanted: Sequence[float]) -> Array:
        """Return the configuration for values of the sliders; loops stay closed, passive modes unchanged.

        Raises
        ------
        InputError
            When there is no such configuration: the loops do not close, or a leg does not reach.
        """
        goal, left = np.array(q, dtype=float), list(wanted)
        for joint, at in self._driven:
            count = len(PARTS.get(joint.kind, ("",)))
            goal[at] = _coordinates(joint.kind, left[:count])
            left = left[count:]
        n, step = len(self._robot.driven), np.zeros(self._robot.nv)
        step[:n] = self._robot.difference(q, goal)[:n]
        step[self._alone] = np.subtract(left, self.values(q)[len(wanted) - len(left) :])
        if np.abs(step).max(initial=0.0) <= UNMOVED:
            return q
        try:
            found = self._robot.assemble(self._followed(q, step, goal))
        except ModelError:
            found = q
        missed = np.delete(self._robot.difference(found, goal)[:n], self._alone)
        if np.abs(missed).max(initial=0.0) > REACHED:
            raise InputError("no assembly: the loops do not close there; the slider was reset")
        return found

    def _followed(self, q: Array, step: Array, goal: Array) -> Array:
        """Return q moved by a step; the goal itself, to be assembled, where integration fails."""
        try:
            return self._robot.integrate(q, step)
        except (InputError, np.linalg.LinAlgError):
            return goal

    def holding(self, q: Array) -> Array:
        """Return the actuator forces at rest, one per entry of `forces`."""
        return self._robot.inverse_dynamics(q, np.zeros(self._robot.nv), np.zeros(len(self._robot.driven)))

    @property
    def forces(self) -> list[Force]:
        """Return the actuator forces."""
        names = labels(self._robot, "tau")
        known = {body.joint.name for body in self._robot.model.bodies}
        joints = [joint_named(self._robot, joint_of_velocity(name, known)[0]) for name in names]
        rows = zip(names, measures(self._robot, names), joints, strict=True)
        return [Force(name, "N" if kind == SLIDES else "N·m", joint.limits.effort) for name, kind, joint in rows]


def _around(label: str, is_length: bool, turn: float = TURN) -> Slider:
    """Return a slider whose range is centred at zero."""
    reach = SLIDE if is_length else turn
    return Slider(label, -reach, reach, "m" if is_length else "rad")


def widened(slider: Slider, at: float) -> Slider:
    """Return a slider whose range includes a value, even outside the limits, and is not empty."""
    low, high = min(slider.low, at), max(slider.high, at)
    return slider._replace(low=low, high=high if high > low else low + 1e-3)


def _shown(kind: str, q: Array) -> list[float]:
    """Return the sliders' values of one joint's coordinates."""
    if kind in ("free", "ball"):
        angles = scipy.spatial.transform.Rotation.from_quat(q[-4:]).as_euler("xyz").tolist()
        return [*q[:-4].tolist(), *angles]
    return [float(x) for x in q]


def _coordinates(kind: str, values: Sequence[float]) -> Array:
    """Return one joint's coordinates of its sliders' values."""
    if kind in ("free", "ball"):
        turned = scipy.spatial.transform.Rotation.from_euler("xyz", values[-3:]).as_quat()
        return np.concatenate([np.asarray(values[:-3], dtype=float), turned])
    return np.asarray(values, dtype=float)
