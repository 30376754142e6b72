"""Gaps between points and walls, and between joints and their limits.

A *pair* is one point and one wall, or one limit of a joint. Arrays over pairs are in the order of :attr:`Gaps.pairs`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from appell.errors import AppellError, InputError
from appell.messages import alternatives, listed
from appell.recursion.points import Place
from appell.robot.robot import Robot
from appell.simulation.callbacks import own, raised
from appell.simulation.contact.points import Points
from appell.simulation.walls.wall import PerPoint, Wall, check_range
from appell.spatial.scalar import Array


@dataclass(frozen=True)
class Pair:
    """A point and a wall (or a joint and its limit), with their coefficients of restitution and friction.

    `place` is the point on its body, the centre of a ball of a radius; None for a joint.
    """

    point: str
    wall: str
    restitution: float
    friction: float
    place: Place | None = None
    radius: float = 0.0


class _Group(NamedTuple):
    """The pairs of one wall and the balls of one radius: the indices of its points, and that of its first pair.

    The wall is the one at the radius from the wall of the run, for the centres of the balls.
    """

    wall: Wall
    points: Array
    start: int
    radius: float


class _Limit(NamedTuple):
    """A joint limit: gap = sign·(q − bound), with the indices in the tree's coordinates and velocities."""

    joint: str
    coordinate: int
    velocity: int
    bound: float
    sign: float


class Rows(NamedTuple):
    """Contact Jacobians of k contacts: matrices (k, 3, nv) from v to the speeds along the normal and two tangents.

    `bias` (k, 3) is the acceleration along them at zero joint acceleration, including the curvature of the wall;
    `positions` and `normals` are (k, 3) in world axes, `tangents` (k, 2, 3).
    """

    matrices: Array
    bias: Array
    positions: Array
    normals: Array
    tangents: Array


class Gaps:
    """The gaps of a robot and its walls."""

    def __init__(
        self,
        robot: Robot,
        points: Points,
        walls: Sequence[Wall],
        restitution: PerPoint,
        friction: PerPoint,
        limits: float | None,
    ) -> None:
        for wall_laws in ((restitution, friction), *((wall.restitution, wall.friction) for wall in walls)):
            check_names(wall_laws, points.names)
        self._points, self._robot = points, robot
        self._groups: list[_Group] = []
        self._endless: list[bool] = []
        self.pairs: list[Pair] = []
        for wall in (part for whole in walls for part in whole.parts):
            every = chosen(wall, points.names)
            for radius in dict.fromkeys(points.radii[k] for k in every) or [0.0]:
                own_points = [k for k in every if points.radii[k] == radius]
                moved = wall.offset(radius) if radius else wall
                self._groups.append(_Group(moved, np.array(own_points, dtype=int), len(self.pairs), radius))
                for k in own_points:
                    name = points.names[k]
                    e, mu = coefficient(wall.restitution, restitution, name), coefficient(wall.friction, friction, name)
                    self.pairs.append(Pair(name, wall.label, e, mu, points.places[k], radius))
                    self._endless.append(wall.is_endless)
        self._limits = [] if limits is None else joint_ends(robot)
        for limit in self._limits:
            end = "lower limit" if limit.sign > 0.0 else "upper limit"
            self.pairs.append(Pair(limit.joint, end, float(limits or 0.0), 0.0))
            self._endless.append(True)
        self.restitution = np.array([pair.restitution for pair in self.pairs])
        self.friction = np.array([pair.friction for pair in self.pairs])
        self.endless = np.array(self._endless, dtype=bool)

    def __len__(self) -> int:
        return len(self.pairs)

    def gaps(self, q: Array) -> Array:
        """Return the gaps (..., pairs)."""
        p = self._points.positions(q)
        parts = [_evaluated(group.wall, "gap", p[..., group.points, :]) for group in self._groups]
        if self._limits:
            tree = self._robot.tree_configuration(q)
            parts += [(limit.sign * (tree[..., limit.coordinate] - limit.bound))[..., None] for limit in self._limits]
        return np.concatenate(parts, axis=-1) if parts else np.zeros((*np.shape(q)[:-1], 0))

    def reached(self, q: Array) -> Array:
        """Return whether each pair's point is in the region covered by its wall, (pairs,)."""
        if self.endless.all():
            return self.endless
        p = self._points.positions(q)
        parts = [_evaluated(group.wall, "covers", p[group.points]) for group in self._groups]
        return np.asarray(self.endless | np.concatenate([*parts, np.ones(len(self._limits), dtype=bool)]))

    def rates(self, q: Array, v: Array) -> Array:
        """Return the rates of the gaps, (pairs,)."""
        p, speed = self._points.positions(q), self._points.velocities(q, v)
        parts = [
            np.einsum("ki,ki->k", _evaluated(group.wall, "gradient", p[group.points]), speed[group.points])
            for group in self._groups
        ]
        if self._limits:
            tree = self._robot.tree_velocity(q, v)
            parts.append(np.array([limit.sign * tree[limit.velocity] for limit in self._limits]))
        return np.concatenate(parts) if parts else np.zeros(0)

    def slopes(self, q: Array) -> Array:
        """Return the norm of every gap's gradient, (pairs,): 1 where a gap is a distance."""
        p = self._points.positions(q)
        parts = [np.linalg.norm(_evaluated(group.wall, "gradient", p[group.points]), axis=-1) for group in self._groups]
        return np.concatenate([*parts, np.ones(len(self._limits))])

    def rows(self, q: Array, v: Array, which: Sequence[int]) -> Rows:
        """Return the contact Jacobians of some pairs."""
        n = len(which)
        flat = [np.zeros((n, 3)) for _ in range(3)]
        rows = Rows(np.zeros((n, 3, self._robot.nv)), flat[0], flat[1], flat[2], np.zeros((n, 2, 3)))
        p, speed = self._points.positions(q), self._points.velocities(q, v)
        bias, jacobians = self._points.biases(q, v), self._points.jacobians(q)
        for i, pair in enumerate(which):
            place = self._place(pair)
            if isinstance(place, _Limit):
                rows.matrices[i, 0] = (
                    place.sign * self._robot.tree_velocity(q, np.eye(self._robot.nv))[:, place.velocity]
                )
                still = np.zeros(self._robot.nv)
                rows.bias[i, 0] = place.sign * self._robot.tree_acceleration(q, v, still)[place.velocity]
                continue
            wall, k, radius = place
            slope = _evaluated(wall, "gradient", p[k])
            length = float(np.linalg.norm(slope))
            if not length > 0.0:
                raise InputError(
                    f"{wall.label}: the gradient of the gap is zero at {p[k].round(6).tolist()}; define "
                    "a gap with a nonzero gradient on the wall"
                )
            axes = _axes(slope / length)
            n, bend = axes[0], _evaluated(wall, "hessian", p[k]) @ speed[k] / length
            matrix, rolling = jacobians[k], bias[k]
            if radius:  # of the material point of the ball at the wall: c = p − r·n
                matrix = matrix + self._points.turned(k, p, jacobians, -radius * n)
                omega_n = self._points.turned(k, p, speed, n)
                # d/dt (v − r·ω × n) = a − r·ω̇ × n − r·ω × ṅ; the bias at c has ω × (ω × n) in place of ω × ṅ
                turn = omega_n - (bend - n * (n @ bend))
                rolling = rolling + self._points.turned(k, p, bias, -radius * n)
                rolling = rolling + radius * self._points.turned(k, p, speed, turn)
            rows.matrices[i] = axes @ matrix
            rows.bias[i] = axes @ rolling
            rows.bias[i, 0] = n @ bias[k] + speed[k] @ bend
            rows.positions[i], rows.normals[i], rows.tangents[i] = p[k] - radius * n, n, axes[1:]
        return rows

    def _place(self, pair: int) -> tuple[Wall, int, float] | _Limit:
        first = len(self.pairs) - len(self._limits)
        if pair >= first:
            return self._limits[pair - first]
        group = next(group for group in reversed(self._groups) if group.start <= pair and len(group.points))
        return group.wall, int(group.points[pair - group.start]), group.radius


def _evaluated(wall: Wall, what: str, p: Array) -> Array:
    """Return gap, gradient, hessian or covers of a wall at points; the class of a wall may be a user's."""
    try:
        values: Array = getattr(wall, what)(own(p))
    except AppellError:
        raise
    except Exception as error:
        raise InputError(f"{wall.label}: {what} raised {raised(error)}") from error
    return values


def _axes(normal: Array) -> Array:
    """Return the normal and two tangents as rows; for a wall perpendicular to a coordinate plane, one lies in it."""
    x, y, z = normal.tolist()
    least = min((abs(x), 0), (abs(y), 1), (abs(z), 2))[1]
    a, b, c = ((0.0, z, -y), (-z, 0.0, x), (y, -x, 0.0))[least]  # n × e with the axis e most perpendicular to n
    length = math.sqrt(a * a + b * b + c * c)
    a, b, c = a / length, b / length, c / length
    return np.array([(x, y, z), (a, b, c), (y * c - z * b, z * a - x * c, x * b - y * a)])


def chosen(wall: Wall, names: Sequence[str]) -> list[int]:
    """Return the indices of the points that a wall acts on."""
    if wall.points is None:
        return list(range(len(names)))
    unknown = [name for name in wall.points if name not in names]
    if unknown:
        raise InputError(f"{wall.label}: unknown points {listed(unknown)}; {alternatives(unknown[0], names)}")
    return [names.index(name) for name in wall.points]


def coefficient(own: PerPoint | None, common: PerPoint, name: str) -> float:
    """Return the coefficient of a point: the wall's own, else the run's, else 0."""
    for source in (own, common):
        if isinstance(source, Mapping):
            if name in source:
                return float(source[name])
        elif source is not None:
            return float(source)
    return 0.0


def joint_ends(robot: Robot) -> list[_Limit]:
    """Return the limits of all joints of the tree except mimic joints."""
    model = robot.model
    found = []
    for body, at, along in zip(model.bodies, model.q_slices, model.v_slices, strict=True):
        joint = body.joint
        if joint.type.nq == 1 and joint.kind != "continuous" and not (model.is_coupled and joint.mimic is not None):
            ends = ((joint.limits.lower, 1.0), (joint.limits.upper, -1.0))
            found += [_Limit(joint.name, at.start, along.start, x, sign) for x, sign in ends if np.isfinite(x)]
    return found


def check_names(given: Sequence[PerPoint | None], names: Sequence[str]) -> None:
    """Raise if coefficients are given for unknown points."""
    for coefficients in given:
        unknown = [name for name in coefficients if name not in names] if isinstance(coefficients, Mapping) else []
        if unknown:
            raise InputError(
                f"restitution, friction: unknown points {listed(unknown)}; {alternatives(unknown[0], names)}"
            )


def check_coefficients(restitution: PerPoint, friction: PerPoint) -> None:
    """Raise unless restitution lies in [0, 1] and friction is not negative."""
    check_range("restitution", restitution, 1.0)
    check_range("friction", friction, np.inf)
