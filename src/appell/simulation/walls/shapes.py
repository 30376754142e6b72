"""Flat walls and walls defined by a signed distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from appell.arguments import SKEWED, finite_array, truth
from appell.errors import InputError
from appell.messages import shown
from appell.simulation.callbacks import own, raised
from appell.simulation.walls.wall import OVERLAP, SMALLEST, Offset, Wall, positive, unit, vector
from appell.spatial.scalar import Array, select, sqrt


class _Flat(Wall):
    """A flat wall through a point, with its normal towards the free side."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self._form

    @cached_property
    def _form(self) -> tuple[Array, Array]:
        """Return point and unit normal."""
        raise NotImplementedError

    def gap(self, p: Array) -> Array:
        """Return n·(p − p₀)."""
        point, normal = self._form
        return np.asarray((p - point) @ normal)

    def gradient(self, p: Array) -> Array:
        """Return n."""
        return np.broadcast_to(self._form[1], np.shape(p))

    def hessian(self, p: Array) -> Array:
        """Return zeros."""
        return np.zeros((*np.shape(p), 3))

    def offset(self, radius: float) -> Wall:
        """Return the wall for the centres of balls of a radius, by the distance."""
        return Offset(name=self.label, wall=self, radius=radius)


@dataclass(frozen=True)
class Plane(_Flat):
    """A plane.

    Parameters
    ----------
    point : sequence of float
        A point of the plane [m].
    normal : sequence of float
        Normal towards the free side, of any length.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell, numpy as np
    >>> float(appell.walls.Plane(point=(0, 0, 0), normal=(0, 0, 2)).gap(np.array([5.0, 5.0, 0.25])))
    0.25
    """

    point: Sequence[float] = (0.0, 0.0, 0.0)
    normal: Sequence[float] = (0.0, 0.0, 1.0)

    @cached_property
    def _form(self) -> tuple[Array, Array]:
        return vector(self.label, "point", self.point), unit(self.label, "normal", self.normal)

    def _outline(self) -> Array | None:
        """Return a square of four metres about the point."""
        point, normal = self._form
        x = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        x *= 2.0 / np.linalg.norm(x)
        y = np.cross(normal, x)
        return np.array([point + a * x + b * y for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))])


@dataclass(frozen=True)
class Line(_Flat):
    """An unbounded straight wall through two points; the free side is on the left from start to end.

    Parameters
    ----------
    start, end : sequence of float
        Two points of the line [m], two or three numbers each.
    axis : sequence of float
        Direction in which the wall extends.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid, or the points coincide.

    Examples
    --------
    >>> import appell, numpy as np
    >>> float(appell.walls.Line((0, 0), (1, 0)).gap(np.array([3.0, 2.0, 0.0])))
    2.0
    """

    start: Sequence[float]
    end: Sequence[float]
    axis: Sequence[float] = (0.0, 0.0, 1.0)

    @cached_property
    def _form(self) -> tuple[Array, Array]:
        across = np.cross(unit(self.label, "axis", self.axis), self._along)
        if not np.linalg.norm(across) >= SMALLEST:
            raise InputError(
                f"{self.label}: start and end coincide or are aligned with the axis; expected two points at least "
                f"{SMALLEST:g} m apart"
            )
        return vector(self.label, "start", self.start), across / np.linalg.norm(across)

    @property
    def _along(self) -> Array:
        return vector(self.label, "end", self.end) - vector(self.label, "start", self.start)

    def _outline(self) -> Array | None:
        """Return a long piece of the line."""
        reach = 10.0 * self._along / np.linalg.norm(self._along)
        return np.array([self._form[0] - reach, self._form[0] + reach])


class Segment(Line):
    """A straight wall between two points; the free side is on the left from start to end.

    Parameters
    ----------
    start, end : sequence of float
        The end points [m], two or three numbers each.
    axis : sequence of float
        Direction in which the wall extends.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid, or the points coincide.

    Examples
    --------
    >>> import appell, numpy as np
    >>> appell.walls.Segment((0, 0), (1, 0)).covers(np.array([[0.5, 1.0, 0.0], [1.5, 1.0, 0.0]]))
    array([ True, False])
    """

    @property
    def is_endless(self) -> bool:
        """Return False: points may pass beside the segment."""
        return False

    def covers(self, p: Array) -> Array:
        """Return whether the projections of points onto the line lie between its ends.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array of bool, shape (...)
            True where the segment acts.

        Examples
        --------
        >>> import appell, numpy as np
        >>> bool(appell.walls.Segment((0, 0), (1, 0)).covers(np.array([1.5, 1.0, 0.0])))
        False
        """
        length = float(np.linalg.norm(self._along))
        foot = (p - self._form[0]) @ (self._along / length)
        return np.asarray((foot >= -OVERLAP) & (foot <= length + OVERLAP))

    def _outline(self) -> Array | None:
        """Return the two ends."""
        return np.array([self._form[0], self._form[0] + self._along])


@dataclass(frozen=True)
class Polyline(Wall):
    """A polygonal chain of straight walls; the free side is on the left.

    Parameters
    ----------
    corners : sequence of sequences of float
        At least two corners [m], two or three numbers each.
    closed : bool
        True connects the last corner to the first.
    axis : sequence of float
        Direction in which the walls extend.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell
    >>> len(appell.walls.Polyline([(0, 0), (2, 0), (2, 1), (0, 1)], closed=True).parts)
    4
    """

    corners: Sequence[Sequence[float]] = ()
    closed: bool = False
    axis: Sequence[float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        is_list = isinstance(self.corners, Sequence) or (isinstance(self.corners, np.ndarray) and self.corners.ndim > 0)
        if not is_list or len(self.corners) < 2:
            raise InputError(f"{self.label}: expected a list of at least two corners, got {shown(self.corners)}")
        truth(f"{self.label}: closed", self.closed)
        _ = self.parts

    @cached_property
    def parts(self) -> tuple[Wall, ...]:
        """Return one segment per side."""
        ends = [*self.corners[1:], self.corners[0]] if self.closed else list(self.corners[1:])
        laws = {"restitution": self.restitution, "friction": self.friction}
        return tuple(
            Segment(a, b, self.axis, name=f"{self.label}[{k}]", points=self.points, **laws)
            for k, (a, b) in enumerate(zip(self.corners, ends, strict=False))
        )

    def _outline(self) -> Array | None:
        """Return the corners."""
        corners = [vector(self.label, "corner", corner) for corner in self.corners]
        return np.array([*corners, corners[0]] if self.closed else corners)


@dataclass(frozen=True)
class Box(Wall):
    """A solid box; the free side is outside.

    The gap is the distance, whose gradient is continuous outside: a ball rolls around edges and corners.

    Parameters
    ----------
    centre : sequence of float
        Centre [m].
    size : sequence of float
        Lengths of the three edges [m].
    rotation : array_like, optional
        Rotation matrix (3, 3) from the box's axes to the world's. Default: the world's axes.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell, numpy as np
    >>> step = appell.walls.Box((1.0, 0.0, 0.1), (0.4, 2.0, 0.2))
    >>> float(step.gap(np.array([1.0, 0.0, 0.5])).round(12))
    0.3
    """

    centre: Sequence[float]
    size: Sequence[float]
    rotation: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        edges = finite_array(f"{self.label}: size must be three lengths [m]", self.size)
        if edges.shape != (3,):
            raise InputError(f"{self.label}: size must be three lengths [m], got {shown(self.size)}")
        for edge in edges.tolist():
            positive(self.label, "size", edge)
        _ = self._form

    @cached_property
    def _form(self) -> tuple[Array, Array, Array]:
        """Return centre, rotation and half of the edges."""
        rotation = np.eye(3)
        if self.rotation is not None:
            rotation = finite_array(f"{self.label}: rotation must be a rotation matrix (3, 3)", self.rotation)
        is_square = rotation.shape == (3, 3)
        if not is_square or np.abs(rotation.T @ rotation - np.eye(3)).max() > SKEWED or np.linalg.det(rotation) < 0.0:
            raise InputError(f"{self.label}: rotation must be a rotation matrix (3, 3), got {shown(self.rotation)}")
        return vector(self.label, "centre", self.centre), rotation, 0.5 * np.asarray(self.size, dtype=float)

    def gap(self, p: Array) -> Array:
        """Return the distance to the box, negative inside; p may have traced scalars.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (...)
            Distances [m].

        Examples
        --------
        >>> import appell, numpy as np
        >>> appell.walls.Box((0, 0, 0), (2, 2, 2)).gap(np.array([[4.0, 5.0, 0.0], [0.0, 0.0, 0.5]]))
        array([ 5. , -0.5])
        """
        centre, rotation, half = self._form
        local = np.moveaxis((p - centre) @ rotation, -1, 0)
        x, y, z = (_larger(value, -value) - edge for value, edge in zip(local, half, strict=True))
        most = _larger(_larger(x, y), z)
        a, b, c = (_larger(value, 0.0) for value in (x, y, z))
        square = a * a + b * b + c * c
        outside = select(square, sqrt(select(square, square, 1.0)), 0.0)  # differentiable inside too
        distance: Array = outside + select(most, 0.0, most)
        return distance

    def gradient(self, p: Array) -> Array:
        """Return the gradient of the distance: from the nearest point of the box, or towards the nearest face.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (..., 3)
            Unit vectors.

        Examples
        --------
        >>> import appell, numpy as np
        >>> appell.walls.Box((0, 0, 0), (2, 2, 2)).gradient(np.array([0.0, 0.0, -3.0])) + 0.0
        array([ 0.,  0., -1.])
        """
        return np.asarray(self._outward(p)[0] @ self._form[1].T)

    def hessian(self, p: Array) -> Array:
        """Return the Hessian of the distance, zero beside faces.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (..., 3, 3)
            Second derivatives [1/m].

        Examples
        --------
        >>> import appell, numpy as np
        >>> float(appell.walls.Box((0, 0, 0), (2, 2, 2)).hessian(np.array([1.3, 0.0, 1.4]))[1, 1])
        0.0
        """
        n, distance, is_beyond = self._outward(p)
        across = is_beyond[..., None] * np.eye(3) - n[..., :, None] * n[..., None, :]
        curved = (is_beyond.sum(axis=-1) > 1)[..., None, None]
        H = np.where(curved, across / np.where(distance > 0.0, distance, 1.0)[..., None, None], 0.0)
        rotation = self._form[1]
        return np.asarray(rotation @ H @ rotation.T)

    def _outward(self, p: Array) -> tuple[Array, Array, Array]:
        """Return the unit gradient in the box's axes, the distance outside, and the axes beyond whose faces p is."""
        centre, rotation, half = self._form
        local = (p - centre) @ rotation
        beyond, side = np.abs(local) - half, np.copysign(1.0, local)
        outside = np.maximum(beyond, 0.0)
        distance = np.linalg.norm(outside, axis=-1)
        nearest = np.eye(3)[np.argmax(beyond, axis=-1)]
        is_out = (distance > 0.0)[..., None]
        n = np.where(is_out, outside / np.where(is_out, distance[..., None], 1.0), nearest)
        return n * side, distance, beyond > 0.0

    def offset(self, radius: float) -> Wall:
        """Return the wall for the centres of balls of a radius: a box with round edges."""
        return Offset(name=self.label, wall=self, radius=radius)

    def _corners(self) -> Array:
        centre, rotation, half = self._form
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return np.asarray(centre + (signs * half) @ rotation.T)

    def _outline(self) -> Array | None:
        """Return all edges as one line."""
        return np.asarray(self._corners()[[0, 1, 3, 2, 0, 4, 5, 1, 5, 7, 3, 7, 6, 2, 6, 4]])

    def surface(self) -> tuple[Array, Array]:
        """Return the faces as triangles."""
        quads = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
        return self._corners(), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _larger(a: Any, b: Any) -> Any:
    return select(a - b, a, b)


@dataclass(frozen=True)
class SignedDistance(Wall):
    """A smooth wall defined by a signed distance.

    Parameters
    ----------
    function : callable
        Maps positions (..., 3) [m] to signed distances (...) [m], positive on the free side.
    slope : callable, optional
        Maps positions to the gradient (..., 3). Default: finite differences.
    curvature : callable, optional
        Maps positions to the Hessian (..., 3, 3). Default: finite differences.
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When an argument is not callable; in use, when a function raises an exception or returns invalid values.

    Examples
    --------
    >>> import appell, numpy as np
    >>> hill = appell.walls.SignedDistance(lambda p: p[..., 2] - 0.1 * np.sin(p[..., 0]))
    >>> hill.gradient(np.array([0.0, 0.0, 0.0])).round(6)
    array([-0.1,  0. ,  1. ])
    """

    function: Callable[[Array], Array]
    slope: Callable[[Array], Array] | None = None
    curvature: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("function", "slope", "curvature"):
            given = getattr(self, name)
            if not callable(given) and (given is not None or name == "function"):
                raise InputError(f"{self.label}: {name} must be a function of points (..., 3), got {shown(given)}")

    def gap(self, p: Array) -> Array:
        """Return the signed distance of points.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (...)
            Signed distances [m].

        Examples
        --------
        >>> import appell, numpy as np
        >>> float(appell.walls.SignedDistance(lambda p: p[..., 2]).gap(np.array([0.0, 0.0, 0.5])))
        0.5
        """
        return self._values("function", self.function, p, np.shape(p)[:-1])

    def gradient(self, p: Array) -> Array:
        """Return the given gradient, or fourth-order finite differences.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (..., 3)
            Gradients.

        Examples
        --------
        >>> import appell, numpy as np
        >>> appell.walls.SignedDistance(lambda p: p[..., 2] ** 2).gradient(np.array([0.0, 0.0, 0.5])).round(9)
        array([0., 0., 1.])
        """
        if self.slope is not None:
            return self._values("slope", self.slope, p, np.shape(p))
        return _differences(self.gap, p, 1e-3)

    def hessian(self, p: Array) -> Array:
        """Return the given Hessian, or finite differences of the gradient.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (..., 3, 3)
            Second derivatives [1/m].

        Examples
        --------
        >>> import appell, numpy as np
        >>> float(appell.walls.SignedDistance(lambda p: p[..., 2] ** 2).hessian(np.zeros(3))[2, 2].round(6))
        2.0
        """
        if self.curvature is not None:
            return self._values("curvature", self.curvature, p, (*np.shape(p), 3))
        return _differences(self.gradient, p, 1e-3)

    def _values(self, name: str, function: Callable[[Array], Array], p: Array, shape: tuple[int, ...]) -> Array:
        """Return the values of a user function at points; exceptions and invalid values become InputErrors."""
        try:
            given = function(own(np.asarray(p, dtype=float)))
        except Exception as error:  # a user's function may raise anything
            raise InputError(f"{self.label}: {name} raised {raised(error)}") from error
        values = finite_array(f"{self.label}: {name} returned invalid values", given)
        if values.shape != shape:
            raise InputError(
                f"{self.label}: {name} returned shape {values.shape} for points {np.shape(p)}; expected {shape}"
            )
        return values


def _differences(function: Callable[[Array], Array], p: Array, step: float) -> Array:
    """Return ∂f/∂p by central differences of fourth order; the derivative's axis is the last."""
    columns = []
    for k in range(3):
        e = np.zeros(3)
        e[k] = step
        near, far = function(p + e) - function(p - e), function(p + 2.0 * e) - function(p - 2.0 * e)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=-1)
