"""What the sliders move: the joints of an open robot, the motors of a closed one, the angles of a spherical one."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from appell.errors import InputError, ModelError
from appell.loops.closed_robot import ClosedRobot
from appell.loops.spherical.robot import SphericalRobot
from appell.loops.structure import velocity_names
from appell.model.model import Joint
from appell.robot.arguments import check_quaternions, numbers
from appell.robot.robot import Robot

Array = NDArray[Any]
SLIDES: dict[str, tuple[str, ...]] = {
    "free": ("x", "y", "z", "roll", "pitch", "yaw"),
    "ball": ("roll", "pitch", "yaw"),
    "planar": ("x", "y", "angle"),
    "cylindrical": ("angle", "slide"),
}
"""What the sliders of a joint with several are called."""
LENGTHS = ("x", "y", "z", "slide")
TURN = math.pi
SLIDE = 1.0
"""How far a slider goes to either side where a joint has no limits: [rad], [m]."""


class Slider(NamedTuple):
    """One slider: its label, range and unit."""

    label: str
    low: float
    high: float
    unit: str


class Drive(Protocol):
    """How sliders move a robot."""

    sliders: Sequence[Slider]

    def start(self) -> Array:
        """Return the configuration to begin with."""

    def values(self, q: Array) -> list[float]:
        """Return where the sliders stand at q."""

    def moved(self, q: Array, wanted: Sequence[float]) -> Array:
        """Return q with the sliders elsewhere; an :class:`appell.AppellError` where the robot cannot go."""

    def holding(self, q: Array) -> Array:
        """Return the forces that hold the robot still against gravity, one per name in `forces`."""

    @property
    def forces(self) -> Sequence[tuple[str, str, float]]:
        """Return what the forces are called, their units, and their limits, infinite where there are none."""


def drive(robot: Robot | SphericalRobot) -> Drive:
    """Return what moves a robot.

    >>> import appell
    >>> [slider.label for slider in drive(appell.load("five-bar")).sliders]
    ['mot1', 'mot2']
    """
    if isinstance(robot, SphericalRobot):
        return SphericalDrive(robot)
    return ClosedDrive(robot) if isinstance(robot, ClosedRobot) else OpenDrive(robot)


def settled(robot: Robot | SphericalRobot, q: ArrayLike) -> Array:
    """Return a configuration that somebody gave, checked, and with loops closed.

    Raises
    ------
    AppellError
        When it has not the robot's size, a quaternion not length 1, or its loops do not close.
    """
    given = numbers(robot.name, "q", (robot.nq,), q).astype(float)
    if given.shape != (robot.nq,) or not np.isfinite(given).all():
        raise InputError(f"q: expected {robot.nq} finite numbers, got shape {given.shape}")
    if isinstance(robot, SphericalRobot | ClosedRobot):
        return robot.assemble(given)
    check_quaternions(robot.name, robot.model.independent, given)
    return given


class OpenDrive:
    """A slider a coordinate; rotations by roll, pitch and yaw."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._model = robot, robot.model.independent
        self._free = [slider for body in self._model.bodies for slider in _sliders(body.joint)]
        at = self.values(robot.neutral())
        self.sliders: Sequence[Slider] = [widened(slider, x) for slider, x in zip(self._free, at, strict=True)]

    def start(self) -> Array:
        """Return the neutral configuration, brought inside the joints' limits: some robots' are outside."""
        neutral = self._robot.neutral()
        at = zip(self._free, self.values(neutral), strict=True)
        return self.moved(neutral, [min(max(x, slider.low), slider.high) for slider, x in at])

    def values(self, q: Array) -> list[float]:
        """Return where the sliders stand at q."""
        joints = zip(self._model.bodies, self._model.q_slices, strict=True)
        return [x for body, where in joints for x in _shown(body.joint.kind, q[where])]

    def moved(self, q: Array, wanted: Sequence[float]) -> Array:
        """Return the configuration of the sliders' values."""
        result, place = np.array(q, dtype=float), 0
        for body, where in zip(self._model.bodies, self._model.q_slices, strict=True):
            count = len(SLIDES.get(body.joint.kind, ("",)))
            result[where] = _coordinates(body.joint.kind, wanted[place : place + count])
            place += count
        return result

    def holding(self, q: Array) -> Array:
        """Return G(q)."""
        return self._robot.gravity(q)

    @property
    def forces(self) -> list[tuple[str, str, float]]:
        """Return the names, units and limits of the joints' forces."""
        return [force for body in self._model.bodies for force in _forces(body.joint)]


class ClosedDrive:
    """A slider a motor; the loops follow, as long as they close."""

    def __init__(self, robot: ClosedRobot) -> None:
        self._robot = robot
        names = velocity_names(robot.model)
        self._places = [self._place(names.index(name)) for name in robot.actuators]
        self._turned = [0.0] * len(self._places)
        at = self.values(robot.neutral())
        self.sliders: Sequence[Slider] = [
            _motor(name, robot.model.bodies[body].joint, x)
            for name, (body, _), x in zip(robot.actuators, self._places, at, strict=True)
        ]

    def start(self) -> Array:
        """Return the robot's home."""
        return self._robot.neutral()

    def _place(self, velocity: int) -> tuple[int, int | None]:
        """Return the body that a velocity moves, and the coordinate of a joint that has but one."""
        model = self._robot.model
        body = next(k for k, where in enumerate(model.v_slices) if where.start <= velocity < where.stop)
        is_single = model.bodies[body].joint.type.nq == 1
        return body, model.q_slices[body].start if is_single else None

    def values(self, q: Array) -> list[float]:
        """Return the motors' coordinates; where a motor moves one of several of a joint, how far it has turned."""
        known = zip(self._places, self._turned, strict=True)
        return [turned if place is None else float(q[place]) for (_, place), turned in known]

    def moved(self, q: Array, wanted: Sequence[float]) -> Array:
        """Return the closed configuration that the motors lead to, passive modes left where they are.

        The loops are followed along the way; where that fails, the far end is assembled directly.
        """
        step = np.zeros(self._robot.nv)
        step[: len(wanted)] = np.subtract(wanted, self.values(q))
        if not step.any():
            return q
        try:
            found = self._robot.integrate(q, step)
        except (InputError, np.linalg.LinAlgError):
            found = self._assembled(q, wanted)
        if not self._is_there(found, wanted):
            raise InputError("no assembly: the loops do not close there; the slider went back")
        self._turned = list(wanted)
        return found

    def _assembled(self, q: Array, wanted: Sequence[float]) -> Array:
        guess = np.array(q)
        for (_, place), x in zip(self._places, wanted, strict=True):
            if place is not None:
                guess[place] = x
        try:
            return np.asarray(self._robot.assemble(guess))
        except ModelError:
            return np.full_like(guess, np.nan)

    def _is_there(self, q: Array, wanted: Sequence[float]) -> bool:
        if not np.isfinite(q).all() or not self._robot.open_by(q) < 1e-6:
            return False
        missed = [abs(q[p] - x) for (_, p), x in zip(self._places, wanted, strict=True) if p is not None]
        return max(missed, default=0.0) < 1e-6

    def holding(self, q: Array) -> Array:
        """Return the motors' forces of a motion without velocities and accelerations."""
        still = np.zeros(self._robot.nv)
        return self._robot.inverse_dynamics(q, still, still[: len(self._robot.actuators)])

    @property
    def forces(self) -> list[tuple[str, str, float]]:
        """Return the names, units and limits of the motors' forces."""
        joints = (self._robot.model.bodies[body].joint for body, _ in self._places)
        return [
            (name, "N" if joint.kind == "prismatic" else "N·m", joint.limits.effort)
            for name, joint in zip(self._robot.actuators, joints, strict=True)
        ]


class SphericalDrive:
    """A slider an Euler angle, inside the workspace."""

    def __init__(self, robot: SphericalRobot) -> None:
        self._robot = robot
        self.sliders: Sequence[Slider] = [
            Slider(name, x - 0.5 * TURN, x + 0.5 * TURN, "rad")
            for name, x in zip(robot.joint_names, robot.neutral().tolist(), strict=True)
        ]

    def start(self) -> Array:
        """Return the robot's home."""
        return self._robot.neutral()

    def values(self, q: Array) -> list[float]:
        """Return the angles."""
        return [float(x) for x in q]

    def moved(self, q: Array, wanted: Sequence[float]) -> Array:
        """Return the angles wanted, where all legs reach."""
        return self._robot.assemble(np.array(wanted, dtype=float))

    def holding(self, q: Array) -> Array:
        """Return the motors' torques that hold the platform."""
        return self._robot.inverse_dynamics(q, np.zeros(3), np.zeros(3))

    @property
    def forces(self) -> list[tuple[str, str, float]]:
        """Return the motors."""
        return [(name, "N·m", math.inf) for name in self._robot.actuators]


def _sliders(joint: Joint) -> Iterator[Slider]:
    names = SLIDES.get(joint.kind)
    if names is not None:
        for name in names:
            is_length = name in LENGTHS
            # at a right angle of pitch, roll and yaw are one
            reach = SLIDE if is_length else 0.499 * TURN if name == "pitch" else TURN
            yield Slider(f"{joint.name} {name}", -reach, reach, "m" if is_length else "rad")
        return
    is_length, limits = joint.kind == "prismatic", joint.limits
    reach = SLIDE if is_length else TURN
    low = limits.lower if math.isfinite(limits.lower) else min(-reach, limits.upper - 2.0 * reach)
    high = limits.upper if math.isfinite(limits.upper) else max(reach, low + 2.0 * reach)
    yield Slider(joint.name, low if math.isfinite(low) else -reach, high, "m" if is_length else "rad")


def _motor(name: str, joint: Joint, at: float) -> Slider:
    """Return a motor's slider: about where it stands, where its joint has no limits."""
    is_length, limits = joint.kind == "prismatic", joint.limits
    reach = (0.4 * abs(at) or SLIDE) if is_length else TURN
    low = limits.lower if math.isfinite(limits.lower) else at - reach
    high = limits.upper if math.isfinite(limits.upper) else at + reach
    return widened(Slider(name, low, high, "m" if is_length else "rad"), at)


def widened(slider: Slider, at: float) -> Slider:
    """Return a slider that reaches a value even where limits leave it out, and that has somewhere to go."""
    low, high = min(slider.low, at), max(slider.high, at)
    return slider._replace(low=low, high=high if high > low else low + 1e-3)


def _forces(joint: Joint) -> list[tuple[str, str, float]]:
    effort = joint.limits.effort
    if joint.type.nv == 1:
        return [(joint.name, "N" if joint.kind == "prismatic" else "N·m", effort)]
    names = SLIDES[joint.kind] if joint.kind in ("planar", "cylindrical") else ("x", "y", "z", "rx", "ry", "rz")
    chosen = names[3:] if joint.kind == "ball" else names
    return [(f"{joint.name} {name}", "N" if name in LENGTHS else "N·m", effort) for name in chosen]


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
