"""Round walls: circles, arcs, spheres and ellipses, all quadrics with one formula for the gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from appell.errors import InputError
from appell.robot.arguments import number, truth
from appell.simulation.walls.shapes import OVERLAP, Wall, positive, unit, vector
from appell.spatial.scalar import Array


class _Quadric(Wall):
    """A wall where dᵀQd = 1 for d = p − centre; free inside or outside. gap = ± s (1 − dᵀQd), with slope 1 or less."""

    inside: bool
    lengths: ClassVar[tuple[str, ...]] = ("radius",)
    """The fields that are lengths."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.lengths:
            positive(self.label, name, getattr(self, name))
        truth(f"{self.label}: inside", self.inside)
        _ = self._form

    @cached_property
    def _form(self) -> tuple[Array, Array, float]:
        """Return centre, Q and s."""
        raise NotImplementedError

    @property
    def _sign(self) -> float:
        return 1.0 if self.inside else -1.0

    def gap(self, p: Array) -> Array:
        centre, form, scale = self._form
        d = p - centre
        result: Array = self._sign * scale * (1.0 - np.einsum("...i,ij,...j->...", d, form, d))
        return result

    def gradient(self, p: Array) -> Array:
        centre, form, scale = self._form
        result: Array = -2.0 * self._sign * scale * ((p - centre) @ form)
        return result

    def hessian(self, p: Array) -> Array:
        _, form, scale = self._form
        return np.broadcast_to(-2.0 * self._sign * scale * form, (*np.shape(p), 3))


@dataclass(frozen=True)
class Circle(_Quadric):
    """A round wall; the robot is inside unless told.

    >>> import appell, numpy as np
    >>> circle = appell.walls.Circle(2.5)
    >>> float(circle.gap(np.array([2.5, 0.0, 0.0])))
    0.0
    """

    radius: float
    centre: Sequence[float] = (0.0, 0.0)
    inside: bool = True
    axis: Sequence[float] = (0.0, 0.0, 1.0)

    @cached_property
    def _form(self) -> tuple[Array, Array, float]:
        axis = unit(self.label, "axis", self.axis)
        flat = np.eye(3) - np.outer(axis, axis)
        return vector(self.label, "centre", self.centre), flat / self.radius**2, 0.5 * self.radius

    def outline(self) -> Array | None:
        """Return the circle."""
        return drawn(self.centre, self.axis, self.radius, self.radius, 0.0)


@dataclass(frozen=True)
class Arc(Circle):
    """The part of a circle between two angles [rad], counted from x as `axis` turns; `end` may exceed 2π."""

    start: float = 0.0
    end: float = np.pi

    def __post_init__(self) -> None:
        super().__post_init__()
        start, end = (number(f"{self.label}: {x} must be an angle [rad]", getattr(self, x)) for x in ("start", "end"))
        if not end > start:
            raise InputError(f"{self.label}: expected start < end [rad], got {start} and {end}")

    @property
    def is_endless(self) -> bool:
        """Return False: points may pass beside it."""
        return False

    def covers(self, p: Array) -> Array:
        """Return whether each point stands before the arc."""
        x, y = plane_axes(self.axis)
        d = p - self._form[0]
        turn = np.mod(np.arctan2(d @ y, d @ x) - self.start + OVERLAP / self.radius, 2.0 * np.pi)
        covered: Array = turn <= self.end - self.start + 2.0 * OVERLAP / self.radius
        return covered

    def outline(self) -> Array | None:
        """Return the arc."""
        return drawn(self.centre, self.axis, self.radius, self.radius, 0.0, (self.start, self.end))


@dataclass(frozen=True)
class Sphere(_Quadric):
    """A sphere; the robot is inside unless told.

    >>> import appell, numpy as np
    >>> float(appell.walls.Sphere(1.0, inside=False).gap(np.array([0.0, 0.0, 1.0])))
    -0.0
    """

    radius: float
    centre: Sequence[float] = (0.0, 0.0, 0.0)
    inside: bool = True

    @cached_property
    def _form(self) -> tuple[Array, Array, float]:
        return vector(self.label, "centre", self.centre), np.eye(3) / self.radius**2, 0.5 * self.radius

    def outline(self) -> Array | None:
        """Return three great circles, one after the other, without lifting the pen."""
        turn = np.linspace(0.0, 2.0 * np.pi, 91)
        c, s, zero = np.cos(turn), np.sin(turn), np.zeros(91)
        circles = [np.stack(x, axis=1) for x in ((c, s, zero), (c, zero, s), (zero, c, s))]
        quarter = circles[0][:23]  # from x to y, where the third begins
        line = np.concatenate([circles[0], circles[1], quarter, circles[2]])
        return np.asarray(vector(self.label, "centre", self.centre) + self.radius * line)


@dataclass(frozen=True)
class Ellipse(_Quadric):
    """An ellipse with semi-axes a and b, turned by `angle` [rad] from x; the robot is inside unless told."""

    a: float
    b: float
    centre: Sequence[float] = (0.0, 0.0)
    angle: float = 0.0
    inside: bool = True
    axis: Sequence[float] = (0.0, 0.0, 1.0)

    lengths = ("a", "b")

    def __post_init__(self) -> None:
        number("ellipse: angle must be a number [rad]", self.angle)
        super().__post_init__()

    @cached_property
    def _form(self) -> tuple[Array, Array, float]:
        u, w = plane_axes(self.axis, self.angle)
        form = np.outer(u, u) / self.a**2 + np.outer(w, w) / self.b**2
        return vector(self.label, "centre", self.centre), form, 0.5 * min(self.a, self.b)

    def outline(self) -> Array | None:
        """Return the ellipse."""
        return drawn(self.centre, self.axis, self.a, self.b, self.angle)


def plane_axes(axis: Sequence[float], angle: float = 0.0) -> tuple[Array, Array]:
    """Return x and y of the plane across an axis, the world's own for z, turned by an angle [rad]."""
    upright = unit("wall", "axis", axis)
    x = np.array([1.0, 0.0, 0.0]) if abs(upright[2]) > 1.0 - 1e-15 else np.cross((0.0, 0.0, 1.0), upright)
    x /= np.linalg.norm(x)
    y = np.cross(upright, x)
    c, s = np.cos(angle), np.sin(angle)
    return c * x + s * y, c * y - s * x


def drawn(
    centre: Sequence[float],
    axis: Sequence[float],
    a: float,
    b: float,
    angle: float,
    span: tuple[float, float] = (0.0, 2.0 * np.pi),
) -> Array:
    """Return points of an ellipse, or of part of one."""
    u, w = plane_axes(axis, angle)
    turn = np.linspace(*span, 181)[:, None]
    return np.asarray(vector("wall", "centre", centre) + a * np.cos(turn) * u + b * np.sin(turn) * w)
