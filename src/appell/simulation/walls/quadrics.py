"""Curved walls: circles, arcs, spheres and ellipses, all quadrics with one formula for the gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from appell.arguments import number, truth
from appell.errors import InputError
from appell.simulation.walls.wall import OVERLAP, SMALLEST, Wall, positive, unit, vector
from appell.spatial.scalar import Array


class _Quadric(Wall):
    """A wall dᵀQd = 1 with d = p − centre; gap = ± s (1 − dᵀQd), whose gradient on the wall is at most 1."""

    inside: bool
    lengths: ClassVar[tuple[str, ...]] = ("radius",)
    """Names of the fields that are lengths."""

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

    def offset(self, radius: float) -> Wall:
        """Return the wall for the centres of balls of a radius: a round one of another radius."""
        if self.lengths != ("radius",):
            return super().offset(radius)
        own: Any = self
        smaller = own.radius - self._sign * radius
        if not smaller >= SMALLEST:
            raise InputError(f"{self.label}: a ball of radius {radius:g} does not fit inside the radius {own.radius:g}")
        moved: Wall = replace(own, radius=smaller, name=self.label)
        return moved

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
    """A circular (cylindrical) wall.

    Parameters
    ----------
    radius : float
        Radius [m].
    centre : sequence of float
        Centre [m], two or three numbers.
    inside : bool
        True: the free side is inside.
    axis : sequence of float
        Axis of the cylinder.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
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

    def _outline(self) -> Array | None:
        """Return the circle."""
        return drawn(self.centre, self.axis, self.radius, self.radius, 0.0)


@dataclass(frozen=True)
class Arc(Circle):
    """A circular arc between two angles.

    Parameters
    ----------
    radius : float
        Radius [m].
    centre : sequence of float
        Centre [m], two or three numbers.
    inside : bool
        True: the free side is inside.
    axis : sequence of float
        Axis of the cylinder.
    start, end : float
        Angles [rad] from the x axis, positive about `axis`; `end` is greater than `start` and may exceed 2π.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell, numpy as np
    >>> appell.walls.Arc(1.0, start=0.0, end=np.pi).covers(np.array([[0.0, 0.9, 0.0], [0.0, -0.9, 0.0]]))
    array([ True, False])
    """

    start: float = 0.0
    end: float = np.pi

    def __post_init__(self) -> None:
        super().__post_init__()
        start, end = (number(f"{self.label}: {x} must be an angle [rad]", getattr(self, x)) for x in ("start", "end"))
        if not end > start:
            raise InputError(f"{self.label}: expected start < end [rad], got {start} and {end}")

    @property
    def is_endless(self) -> bool:
        """Return False: points may pass beside the arc."""
        return False

    def covers(self, p: Array) -> Array:
        """Return whether points are within the arc's range of angles.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array of bool, shape (...)
            True where the arc acts.

        Examples
        --------
        >>> import appell, numpy as np
        >>> bool(appell.walls.Arc(1.0).covers(np.array([0.0, -0.9, 0.0])))
        False
        """
        x, y = plane_axes(self.axis)
        d = p - self._form[0]
        turn = np.mod(np.arctan2(d @ y, d @ x) - self.start + OVERLAP / self.radius, 2.0 * np.pi)
        covered: Array = turn <= self.end - self.start + 2.0 * OVERLAP / self.radius
        return covered

    def _outline(self) -> Array | None:
        """Return the arc."""
        return drawn(self.centre, self.axis, self.radius, self.radius, 0.0, (self.start, self.end))


@dataclass(frozen=True)
class Sphere(_Quadric):
    """A spherical wall.

    Parameters
    ----------
    radius : float
        Radius [m].
    centre : sequence of float
        Centre [m].
    inside : bool
        True: the free side is inside.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
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

    def _outline(self) -> Array | None:
        """Return three great circles as one continuous line."""
        turn = np.linspace(0.0, 2.0 * np.pi, 91)
        c, s, zero = np.cos(turn), np.sin(turn), np.zeros(91)
        circles = [np.stack(x, axis=1) for x in ((c, s, zero), (c, zero, s), (zero, c, s))]
        quarter = circles[0][:23]  # from x to y, the start of the third
        line = np.concatenate([circles[0], circles[1], quarter, circles[2]])
        return np.asarray(vector(self.label, "centre", self.centre) + self.radius * line)


@dataclass(frozen=True)
class Ellipse(_Quadric):
    """An elliptical (cylindrical) wall.

    Parameters
    ----------
    a, b : float
        Semi-axes [m].
    centre : sequence of float
        Centre [m], two or three numbers.
    angle : float
        Angle of the first semi-axis from the x axis [rad].
    inside : bool
        True: the free side is inside.
    axis : sequence of float
        Axis of the cylinder.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell, numpy as np
    >>> float(appell.walls.Ellipse(2.0, 1.0).gap(np.array([2.0, 0.0, 0.0])))
    0.0
    """

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

    def _outline(self) -> Array | None:
        """Return the ellipse."""
        return drawn(self.centre, self.axis, self.a, self.b, self.angle)


def plane_axes(axis: Sequence[float], angle: float = 0.0) -> tuple[Array, Array]:
    """Return x and y axes of the plane normal to an axis (the world's for z), rotated by an angle [rad]."""
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
    """Return points of an ellipse or of an elliptical arc."""
    u, w = plane_axes(axis, angle)
    turn = np.linspace(*span, 181)[:, None]
    return np.asarray(vector("wall", "centre", centre) + a * np.cos(turn) * u + b * np.sin(turn) * w)
