"""The path of an exciting trajectory and its limits of joints and frames, as one list of inequalities g ≤ 0.

A trajectory has one coordinate per independent velocity: the joint positions of an open robot, the actuator positions
of a closed one, the platform angles of a spherical one. The configuration is integrated from the home position along
the independent velocities, which keeps one assembly mode.

Each g is the excess over a limit relative to the range of the limited quantity, so that 0.01 is one hundredth of the
range in any unit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from appell.errors import InputError
from appell.identification.base_parameters import motor_joints
from appell.messages import alternatives, listed
from appell.model.parameters import joint_of_velocity
from appell.planning.goal import checked_frame, triple
from appell.robot.properties.base_columns import State
from appell.robot.robot import Robot, checked_robot
from appell.simulation.laws.checks import effort_limits
from appell.spatial.scalar import Array

# The path


@dataclass(frozen=True, eq=False)
class ActuatedPath:
    """A robot with one coordinate per velocity: their names, and their indices in q."""

    robot: Robot
    names: tuple[str, ...]
    places: tuple[int, ...]

    @cached_property
    def home(self) -> Array:
        """Return the coordinates (nv) in the robot's neutral configuration."""
        return self.robot.neutral()[list(self.places)]

    def state(self, q: Array, v: Array, a: Array) -> State:
        """Return the state of coordinates, velocities and accelerations (..., nv)."""
        return State(self.robot.integrate(self.robot.neutral(), q - self.home), v, a)

    def steps(self, q: Array, size: float) -> Array:
        """Return configurations a small step along each coordinate from q (..., nq): (nv, ..., nq).

        Closure and quaternion norm hold to first order in the step.
        """
        n = len(self.names)
        along = size * np.eye(n).reshape(n, *(1,) * (q.ndim - 1), n)
        return q + self.robot.evaluate("coordinate_rates", q, along)


def actuated_path(robot: Robot) -> ActuatedPath:
    """Return the path of a robot along joint trajectories; raise if none determines its motion.

    >>> import appell
    >>> actuated_path(appell.load("five-bar")).names
    ('mot1', 'mot2')
    """
    if checked_robot("robot", robot).nv != robot.nu:
        passive = [name for name in robot.independent if name not in robot.actuators]
        raise InputError(
            f"excite: the motors of robot '{robot.name}' do not determine its motion: {listed(passive)} are passive; "
            "excite the robot with those joints fixed"
        )
    if robot.facts.curved is None:
        raise InputError(
            f"excite: robot '{robot.name}' has velocities that are not rates of coordinates (rolling wheels, or "
            "loops through a joint with several coordinates); "
            "excite its arm with a fixed base"
        )
    places = robot.places("q")
    joints = (joint_of_velocity(name, places)[0] for name in robot.independent if len(places.get(name, ())) != 1)
    wide = dict.fromkeys(joints)
    if wide:
        raise InputError(
            f"excite: robot '{robot.name}' has joints with several coordinates: {listed(wide)}; fix the base, or "
            "excite the other joints only"
        )
    names = tuple(robot.independent)
    return ActuatedPath(robot, names, tuple(places[name][0] for name in names))


# Constraints

KEYS = ("lower", "upper", "velocity", "acceleration", "torque")
SMALLEST, WIDEST = 1e-9, 1e6
"""Smallest limit of velocities, accelerations and torques; smallest and largest range of positions."""
AXES = "xyz"
Workspace = Sequence[tuple[str, ArrayLike, ArrayLike]]


class Zone(NamedTuple):
    """A workspace box for a frame's origin, in world axes [m]; infinite where a side is open."""

    frame: str
    lower: Array
    upper: Array


class Limited(NamedTuple):
    """A limited quantity: its kind, and per entry its name and its limits, infinite where there are none."""

    kind: str
    names: Sequence[str]
    lower: Array
    upper: Array
    frame: str = ""
    """The frame of a workspace."""

    @property
    def size(self) -> Array:
        """Return half of the ranges; 1 where they are open."""
        return _size(self.lower, self.upper)


class Margin(NamedTuple):
    """The margin to a limit: the type of limit, the joint or frame, the limit, the value reached, and its time [s].

    `room` is the remaining margin relative to half the range of a position, or to the limit itself.
    """

    limit: str
    of: str
    allowed: float
    reached: float
    room: float
    t: float


class Slope(NamedTuple):
    """Gradient by coordinates, velocities and accelerations, each (times, nv)."""

    q: Array
    v: Array
    a: Array


@dataclass(frozen=True, eq=False)
class ExcitationBounds:
    """Limits of a robot's coordinates, one per velocity, infinite where there is none; and zones of frames."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array
    zones: tuple[Zone, ...] = ()

    @property
    def middle(self) -> Array:
        """Return the middle of the coordinates' ranges."""
        return 0.5 * (self.lower + self.upper)

    @property
    def reach(self) -> Array:
        """Return half of the coordinates' ranges."""
        return 0.5 * (self.upper - self.lower)

    def narrowed(self, margin: float) -> ExcitationBounds:
        """Return the bounds reduced by a fraction of every range, a reserve for the motion between samples."""
        inner, part = margin * self.reach, 1.0 - margin
        zones = tuple(
            Zone(frame, low + margin * _size(low, high), high - margin * _size(low, high))
            for frame, low, high in self.zones
        )
        limits = (part * self.velocity, part * self.acceleration, part * self.torque)
        return ExcitationBounds(self.lower + inner, self.upper - inner, *limits, zones)

    def limited(self, path: ActuatedPath) -> list[Limited]:
        """Return the limited quantities; velocities, accelerations and torques only where some have a limit."""
        found = [Limited("position", path.names, self.lower, self.upper)]
        for kind, names in (("velocity", path.names), ("acceleration", path.names), ("torque", path.robot.actuators)):
            limit = getattr(self, kind)
            if np.isfinite(limit).any():
                found.append(Limited(kind, names, -limit, limit))
        for frame, low, high in self.zones:
            found.append(Limited("workspace", [f"{frame}.{axis}" for axis in AXES], low, high, frame))
        return found

    def excess(self, path: ActuatedPath, state: State, q: Array) -> list[tuple[Limited, Array]]:
        """Return g (times, 2·n) of every limited quantity, lower sides first; q are the coordinates (times, nv)."""
        found = []
        for one in self.limited(path):
            if one.kind == "torque":
                x = path.robot.inverse_dynamics(*state)
            elif one.frame:
                x = path.robot.pose(state.q, one.frame)[..., :3, 3]
            else:
                x = {"position": q, "velocity": state.v, "acceleration": state.a}[one.kind]
            found.append((one, np.concatenate([(one.lower - x) / one.size, (x - one.upper) / one.size], axis=-1)))
        return found

    def slope(self, path: ActuatedPath, state: State, weights: list[tuple[Limited, Array]]) -> Slope:
        """Return the gradient of Σ w·g for weights w of the shapes of :meth:`excess`."""
        total = Slope(*(np.zeros_like(state.v) for _ in range(3)))
        for one, weight in weights:
            if not weight.any():
                continue
            half = weight.shape[-1] // 2
            pull = (weight[..., half:] - weight[..., :half]) / one.size
            if one.kind == "torque":
                for slot, part in zip(total, path.robot.inverse_dynamics_derivatives(*state), strict=True):
                    slot[:] += np.einsum("tj,tjk->tk", pull, part)
            elif one.frame:
                total.q[:] += np.einsum("tj,tjk->tk", pull, path.robot.jacobian(state.q, one.frame)[..., :3, :])
            else:
                total[("position", "velocity", "acceleration").index(one.kind)][:] += pull
        return total

    def margins(self, path: ActuatedPath, state: State, q: Array, t: Array) -> tuple[Margin, ...]:
        """Return the margins to all finite limits, tightest first."""
        found = []
        for one, g in self.excess(path, state, q):
            half = g.shape[-1] // 2
            for k in range(half):
                at, side = np.unravel_index(int(np.argmax(g[:, [k, half + k]])), (len(t), 2))
                worst, allowed = float(g[at, k + half * side]), float((one.lower, one.upper)[side][k])
                if math.isfinite(worst):
                    reached = allowed + (worst if side else -worst) * float(one.size[k])
                    found.append(Margin(one.kind, one.names[k], allowed, reached, -worst, float(t[at])))
        return tuple(sorted(found, key=lambda margin: margin.room))


def bounds(path: ActuatedPath, limits: Mapping[str, Any] | None, workspace: Workspace | None) -> ExcitationBounds:
    """Return the bounds of a robot: its file's limits, replaced by given ones, and workspace boxes.

    Raises
    ------
    InputError
        When a limit is unknown, has the wrong size, or has an empty range.
    """
    if limits is not None and not isinstance(limits, Mapping):
        raise InputError(f"limits: expected a mapping such as {{'velocity': 1.0}}, got {limits!r:.100}")
    given = dict(limits or {})
    unknown = [key for key in given if key not in KEYS]
    if unknown:
        raise InputError(f"limits: unknown limit {listed(unknown)}; {alternatives(unknown[0], KEYS)}")
    file = _of_file(path)
    values = {key: _numbers(key, given.get(key), file[key], len(path.names)) for key in KEYS}
    for key in ("velocity", "acceleration", "torque"):
        if not (values[key] >= SMALLEST).all():
            raise InputError(
                f"limits: {key}: expected positive limits of {SMALLEST:g} or more, got {values[key].tolist()}"
            )
    for name, low, high in zip(path.names, values["lower"], values["upper"], strict=True):
        if not (math.isfinite(low) and math.isfinite(high)):
            raise InputError(
                f"limits: '{name}' of robot '{path.robot.name}' has no position limits; give 'lower' and 'upper' "
                "around the home configuration"
            )
        if not SMALLEST <= high - low <= WIDEST:
            room = "too much" if high > low + WIDEST else "no"
            raise InputError(f"limits: joint '{name}' has {room} room between lower {low:g} and upper {high:g}")
    return ExcitationBounds(**values, zones=_zones(path, workspace))


def _of_file(path: ActuatedPath) -> dict[str, Array]:
    """Return the limits of the robot's file; without them, an open robot's joint has ±π or ±1 m."""
    robot, at = path.robot, list(path.places)
    low, high = robot.limits.lower[at], robot.limits.upper[at]
    if robot.actuators == robot.joint_names:
        reach = np.array([1.0 if joint.kind == "prismatic" else math.pi for joint in motor_joints(robot)])
        low = np.where(np.isfinite(low), low, np.minimum(-reach, high - 2.0 * reach))
        high = np.where(np.isfinite(high), high, np.maximum(reach, low + 2.0 * reach))
    return {
        "lower": low,
        "upper": high,
        "velocity": robot.limits.velocity,
        "acceleration": np.full(robot.nv, np.inf),
        "torque": effort_limits(robot),
    }


def _numbers(key: str, given: Any, file: Array, n: int) -> Array:
    if given is None:
        return file
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"limits: {key}: expected numbers, got {given!r}") from None
    if array.shape not in ((), (n,)) or np.isnan(array).any():
        raise InputError(f"limits: {key}: expected one number, or one per joint ({n}), got {array.tolist()}")
    return np.array(np.broadcast_to(array, (n,)))


def _zones(path: ActuatedPath, workspace: Workspace | None) -> tuple[Zone, ...]:
    try:
        entries = [(frame, lower, upper) for frame, lower, upper in workspace or ()]
    except (TypeError, ValueError):
        raise InputError(
            f"workspace: expected a list of (frame, lower, upper) with three numbers each, got {workspace!r:.100}"
        ) from None
    zones = [Zone(checked_frame(path.robot, x), _side("lower", low), _side("upper", high)) for x, low, high in entries]
    for frame, low, high in zones:
        if not (low < high).all():
            raise InputError(f"workspace: frame '{frame}' has no room between {low.tolist()} and {high.tolist()}")
    return tuple(zones)


def _side(name: str, x: ArrayLike) -> Array:
    try:
        array = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"workspace: {name}: expected three numbers, got {x!r:.100}") from None
    finite = triple(f"workspace: {name}", np.where(np.isinf(array), 0.0, array))
    return np.where(np.isinf(array), array, finite)


def _size(low: Array, high: Array) -> Array:
    """Return half of the box's sides; 1 m where it is open."""
    half = 0.5 * (high - low)
    return np.where(np.isfinite(half), half, 1.0)
