"""The base class of walls: obstacles for the contact points of a robot.

A wall is defined by its *gap*, a smooth function of position [m] that is positive on the free side, zero on the wall,
and equal to the distance to first order near it. For curved walls it is a polynomial, smooth even at the centre, where
the distance is not. Bounded walls (a segment, an arc) also define the region they cover.

Planar walls (a circle, a line, an arc) extend without limit along `axis`, z by default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from appell.arguments import number, real_array
from appell.errors import InputError
from appell.messages import shown
from appell.spatial.scalar import Array

PerPoint = float | Mapping[str, float]
"""One number, or one per point by name."""

SMALLEST, LARGEST = 1e-6, 1e7
"""Range of lengths [m] of walls: positions are then resolved to the nanometre of the contact tolerance."""
NEWTON = 30
"""Largest number of steps to the nearest point of a wall."""
OVERLAP = 1e-9
"""Length [m] by which a segment or an arc extends beyond its ends, so that no point passes between adjacent walls."""


@dataclass(frozen=True, kw_only=True)
class Wall:
    """Base class of walls; a subclass defines `gap`, `gradient` and `hessian`, and `covers` if it is bounded.

    Parameters
    ----------
    restitution : float or mapping, optional
        Coefficient of restitution, 0 to 1: one number, or one per point by name. Default: the run's.
    friction : float or mapping, optional
        Coefficient of Coulomb friction: one number, or one per point by name. Default: the run's.
    points : tuple of str, optional
        Names of the contact points for this wall. Default: all.
    name : str
        The wall's name in records and messages.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell
    >>> isinstance(appell.walls.Plane(restitution=0.5, points=("tool",)), appell.walls.Wall)
    True
    """

    restitution: PerPoint | None = None
    friction: PerPoint | None = None
    points: tuple[str, ...] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"{type(self).__name__.lower()}: name must be text, got {shown(self.name)}")
        check_range(f"{self.label}: restitution", self.restitution, 1.0)
        check_range(f"{self.label}: friction", self.friction, LARGEST)
        if self.points is not None:
            is_list = isinstance(self.points, Sequence) and not isinstance(self.points, str | bytes)
            if not is_list or not all(isinstance(name, str) for name in self.points):
                raise InputError(f"{self.label}: points must be a list of names, got {shown(self.points)}")

    @property
    def label(self) -> str:
        """Return the wall's name, or its type if it has none."""
        return self.name or type(self).__name__.lower()

    @property
    def parts(self) -> tuple[Wall, ...]:
        """Return the smooth walls that compose this one."""
        return (self,)

    def gap(self, p: Array) -> Array:
        """Return the gap of points.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (...)
            Gaps [m], positive on the free side.

        Examples
        --------
        >>> import appell, numpy as np
        >>> float(appell.walls.Plane().gap(np.array([0.0, 0.0, 0.5])))
        0.5
        """
        raise NotImplementedError

    def gradient(self, p: Array) -> Array:
        """Return the gradient of the gap.

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
        >>> appell.walls.Plane().gradient(np.array([0.0, 0.0, 0.5]))
        array([0., 0., 1.])
        """
        raise NotImplementedError

    def hessian(self, p: Array) -> Array:
        """Return the Hessian of the gap.

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
        >>> appell.walls.Plane().hessian(np.zeros((5, 3))).shape
        (5, 3, 3)
        """
        raise NotImplementedError

    def covers(self, p: Array) -> Array:
        """Return whether points are in the region covered by the wall.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array of bool, shape (...)
            True where the wall acts; everywhere for an unbounded wall.

        Examples
        --------
        >>> import appell, numpy as np
        >>> bool(appell.walls.Plane().covers(np.zeros(3)))
        True
        """
        return np.ones(np.shape(p)[:-1], dtype=bool)

    @property
    def is_endless(self) -> bool:
        """Return whether the wall is unbounded, so that a negative gap is always penetration."""
        return True

    def offset(self, radius: float) -> Wall:
        """Return the wall for the centres of balls.

        Parameters
        ----------
        radius : float
            Radius of the balls [m].

        Returns
        -------
        Wall
            The wall at the distance `radius` on the free side, where a ball's centre is while the ball touches this
            wall. It covers the same region.

        Examples
        --------
        >>> import appell, numpy as np
        >>> float(appell.walls.Circle(1.0).offset(0.1).gap(np.array([0.9, 0.0, 0.0])))
        0.0
        """
        return Parallel(name=self.label, wall=self, radius=radius)

    def outline(self) -> Array | None:
        """Return a line that draws the wall.

        Returns
        -------
        array, shape (n, 3), or None
            Positions [m]; None for a wall without drawing.

        Examples
        --------
        >>> import appell
        >>> appell.walls.Segment((0, 0), (1, 0)).outline()
        array([[0., 0., 0.],
               [1., 0., 0.]])
        """
        return self._outline()

    def _outline(self) -> Array | None:
        return None

    def surface(self) -> tuple[Array, Array] | None:
        """Return triangles that draw the wall.

        Returns
        -------
        tuple of array, or None
            Vertices (n, 3) [m] and faces (m, 3); None for a wall that is drawn by lines, or by lines along its axis.

        Examples
        --------
        >>> import appell
        >>> vertices, faces = appell.walls.Box((0.0, 0.0, 0.5), (1.0, 1.0, 1.0)).surface()
        >>> vertices.shape, faces.shape
        ((8, 3), (12, 3))
        """
        return None


@dataclass(frozen=True, kw_only=True)
class Offset(Wall):
    """A wall at a distance on the free side of another one whose gap is the distance."""

    wall: Wall
    radius: float

    @property
    def is_endless(self) -> bool:
        """Return whether the other wall is unbounded."""
        return self.wall.is_endless

    def gap(self, p: Array) -> Array:
        """Return the distance less the radius."""
        return self.wall.gap(p) - self.radius

    def gradient(self, p: Array) -> Array:
        """Return the gradient of the distance."""
        return self.wall.gradient(p)

    def hessian(self, p: Array) -> Array:
        """Return the Hessian of the distance."""
        return self.wall.hessian(p)

    def covers(self, p: Array) -> Array:
        """Return whether the other wall covers points."""
        return self.wall.covers(p)


class Parallel(Offset):
    """A wall at a distance on the free side of another one, of any smooth gap g.

    The nearest point c of the wall, g(c) = 0 and c + λ∇g(c) = p, is found by Newton's method. The distance is d =
    λ|∇g(c)|, its gradient n = ∇g(c)/|∇g(c)|, and its Hessian S(1 + dS)⁻¹ with S = PHP/|∇g(c)|, P = 1 − nnᵀ. Far from
    the wall, where there may be no single nearest point, the distance is g(p).
    """

    def gap(self, p: Array) -> Array:
        """Return the distance less the radius."""
        return self._nearest(p)[0] - self.radius

    def gradient(self, p: Array) -> Array:
        """Return the gradient of the distance."""
        _, found, c = self._nearest(p)
        slope = self.wall.gradient(c)
        size = np.linalg.norm(slope, axis=-1, keepdims=True)
        return np.asarray(np.where(found[..., None], slope / np.where(size > 0.0, size, 1.0), slope))

    def hessian(self, p: Array) -> Array:
        """Return the Hessian of the distance."""
        d, found, c = self._nearest(p)
        slope, curvature = self.wall.gradient(c), self.wall.hessian(c)
        size = np.linalg.norm(slope, axis=-1)[..., None, None]
        size = np.where(size > 0.0, size, 1.0)
        n = slope[..., None] / size
        across = np.eye(3) - n @ np.swapaxes(n, -1, -2)
        S = across @ curvature @ across / size
        distance = np.where(found, d, 0.0)[..., None, None]
        return np.asarray(np.where(found[..., None, None], _solved(np.eye(3) + distance * S, S), curvature))

    def _nearest(self, p: Array) -> tuple[Array, Array, Array]:
        """Return the distance, whether there is a nearest point, and that point, or p itself."""
        p = np.asarray(p, dtype=float)
        gap, slope = self.wall.gap(p), self.wall.gradient(p)
        square = np.sum(slope**2, axis=-1)
        square = np.where(square > 0.0, square, 1.0)
        c, factor = p - (gap / square)[..., None] * slope, gap / square
        A, b = np.zeros((*p.shape[:-1], 4, 4)), np.zeros((*p.shape[:-1], 4))
        for _ in range(NEWTON):
            slope = self.wall.gradient(c)
            b[..., :3], b[..., 3] = p - c - factor[..., None] * slope, -self.wall.gap(c)
            A[..., :3, :3] = np.eye(3) + factor[..., None, None] * self.wall.hessian(c)
            A[..., :3, 3] = A[..., 3, :3] = slope
            step = _solved(A, b[..., None])[..., 0]
            c, factor = c + step[..., :3], factor + step[..., 3]
            if not (np.abs(step) > 1e-9 * (1.0 + np.abs(p).max(axis=-1, keepdims=True))).any():
                break  # convergence is quadratic
        slope = self.wall.gradient(c)
        off = np.abs(p - c - factor[..., None] * slope).max(axis=-1, initial=0.0) + np.abs(self.wall.gap(c))
        found = off <= 1e-10 * (1.0 + np.abs(p).max(axis=-1, initial=0.0))
        distance = factor * np.linalg.norm(slope, axis=-1)
        return np.where(found, distance, gap), found, np.where(found[..., None], c, p)


def _solved(A: Array, b: Array) -> Array:
    """Return x with A·x = b of least norm."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:  # one matrix of many is singular
        return np.asarray(np.linalg.pinv(A) @ b)


def vector(label: str, name: str, value: Sequence[float]) -> Array:
    """Return a position of three numbers [m]; the third is zero if two are given."""
    entries = _entries(label, name, value)
    if not (np.abs(entries) <= LARGEST).all():
        raise InputError(f"{label}: {name} must be within {LARGEST:g} m of the origin, got {shown(value)}")
    return entries


def _entries(label: str, name: str, value: Sequence[float]) -> Array:
    what = f"{label}: {name} must be two or three finite numbers"
    array = real_array(what, value)
    if array.shape not in ((2,), (3,)) or not np.isfinite(array).all():
        raise InputError(f"{what}, got {shown(value)}")
    return np.append(array.astype(float), np.zeros(3 - array.size))


def unit(label: str, name: str, value: Sequence[float]) -> Array:
    """Return a unit vector."""
    direction = _entries(label, name, value)
    size = float(np.abs(direction).max())
    if not size > 0.0:
        raise InputError(f"{label}: {name} is zero; expected a direction")
    direction = direction / size  # scaled, so that squares neither underflow nor overflow
    return np.asarray(direction / np.linalg.norm(direction))


def positive(label: str, name: str, value: float) -> None:
    """Raise unless a number is a length within the range of walls."""
    what = f"{label}: {name} must be a positive length from {SMALLEST:g} to {LARGEST:g} m"
    number(what, value, SMALLEST, LARGEST)


def check_range(what: str, value: PerPoint | None, upper: float) -> None:
    """Raise unless a number, or every number of a mapping, lies in [0, upper]."""
    if value is None:
        return
    span = f"[0, {upper:g}]" if upper <= 1.0 else "0 or more"
    for key, entry in value.items() if isinstance(value, Mapping) else [("", value)]:
        number(f"{what}{f' of {key}' if key else ''} must lie in {span}", entry, 0.0, upper)
