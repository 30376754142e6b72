"""Terrain: a wall above a grid of heights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike

from appell.arguments import finite_array
from appell.errors import InputError
from appell.messages import shown
from appell.simulation.walls.wall import LARGEST, Wall, positive, vector
from appell.spatial.scalar import Array

FEWEST = 4
"""Heights along each side that a bicubic spline needs."""
LINES = 40
"""Largest number of lines along each side that draw a heightfield."""


@dataclass(frozen=True)
class Heightfield(Wall):
    """Terrain above the x-y plane: heights on a grid, with a bicubic spline between them; the free side is above.

    The spline passes through all heights and its curvature is continuous, so that contact forces are; beside steps it
    overshoots. Beyond the grid's edges the ground continues level. The gap is the height above the ground times the
    cosine of the steepest slope, so that it is never more than the distance.

    Parameters
    ----------
    heights : array_like
        Heights [m] above the origin, (nx, ny), at least 4 × 4: ``heights[i, j]`` is at x = i·dx, y = j·dy.
    cell : float or sequence of float
        Distance [m] between neighbours, or two distances dx, dy.
    origin : sequence of float
        Position of the first corner, at height 0 [m].
    restitution, friction, points, name
        As in :class:`Wall`.

    Raises
    ------
    InputError
        When a value is invalid.

    Examples
    --------
    >>> import appell, numpy as np
    >>> x = np.linspace(0.0, 4.0, 41)
    >>> hills = appell.walls.Heightfield(0.1 * np.sin(x)[:, None] * np.cos(x), 0.1, (-2.0, -2.0, 0.0))
    >>> abs(float(hills.gap(np.array([0.0, 0.0, 0.1 * np.sin(2.0) * np.cos(2.0)])))) < 1e-12
    True
    """

    heights: ArrayLike
    cell: float | Sequence[float]
    origin: Sequence[float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        what = f"{self.label}: heights must be finite numbers (nx, ny), at least {FEWEST} × {FEWEST}"
        heights = finite_array(what, self.heights)
        if heights.ndim != 2 or min(heights.shape) < FEWEST or np.abs(heights).max() > LARGEST:
            raise InputError(f"{what} and within {LARGEST:g} m, got shape {heights.shape}")
        cells = finite_array(f"{self.label}: cell must be one length [m] or two", self.cell)
        if cells.shape not in ((), (2,)):
            raise InputError(f"{self.label}: cell must be one length [m] or two, got {shown(self.cell)}")
        for length in np.atleast_1d(cells).tolist():
            positive(self.label, "cell", length)
        _ = self._scale

    @cached_property
    def _grid(self) -> tuple[Array, Array, Array]:
        """Return the x and y of the grid's lines, and the heights, in world axes."""
        heights, at = np.asarray(self.heights, dtype=float), vector(self.label, "origin", self.origin)
        dx, dy = np.broadcast_to(np.asarray(self.cell, dtype=float), 2)
        x, y = (at[k] + step * np.arange(heights.shape[k]) for k, step in enumerate((dx, dy)))
        return x, y, at[2] + heights

    @property
    def _points(self) -> Array:
        """Return the points of the grid, (nx, ny, 3)."""
        x, y, heights = self._grid
        return np.stack([*np.meshgrid(x, y, indexing="ij"), heights], axis=-1)

    @cached_property
    def _spline(self) -> scipy.interpolate.RectBivariateSpline:
        return scipy.interpolate.RectBivariateSpline(*self._grid)

    @cached_property
    def _scale(self) -> float:
        """Return the cosine of the steepest slope, sampled at four points per cell side."""
        x, y = (np.linspace(side[0], side[-1], 4 * len(side) - 3) for side in self._grid[:2])
        slopes = self._spline(x, y, dx=1) ** 2 + self._spline(x, y, dy=1) ** 2
        return float(1.0 / np.sqrt(1.0 + slopes.max()))

    def _height(self, p: Array, dx: int = 0, dy: int = 0) -> Array:
        """Return the height below points, or a derivative of it, which is zero across an edge beyond the edge."""
        x, y = (np.clip(p[..., k], side[0], side[-1]) for k, side in enumerate(self._grid[:2]))
        values = self._spline.ev(x, y, dx=dx, dy=dy)
        is_level = ((x != p[..., 0]) & (dx > 0)) | ((y != p[..., 1]) & (dy > 0))
        return np.where(is_level, 0.0, values)

    def gap(self, p: Array) -> Array:
        """Return the scaled height of points above the ground.

        Parameters
        ----------
        p : array, shape (..., 3)
            Positions [m].

        Returns
        -------
        array, shape (...)
            Gaps [m].

        Examples
        --------
        >>> import appell, numpy as np
        >>> float(appell.walls.Heightfield(np.zeros((4, 4)), 1.0).gap(np.array([1.5, 1.5, 0.25])))
        0.25
        """
        return np.asarray(self._scale * (p[..., 2] - self._height(p)))

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
        >>> appell.walls.Heightfield(np.zeros((4, 4)), 1.0).gradient(np.array([1.5, 1.5, 0.25])) + 0.0
        array([0., 0., 1.])
        """
        slopes = (-self._height(p, dx=1), -self._height(p, dy=1), np.ones(np.shape(p)[:-1]))
        return np.asarray(self._scale * np.stack(slopes, axis=-1))

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
        >>> float(abs(appell.walls.Heightfield(np.zeros((4, 4)), 1.0).hessian(np.zeros(3))).max())
        0.0
        """
        H = np.zeros((*np.shape(p), 3))
        H[..., 0, 0], H[..., 1, 1] = self._height(p, dx=2), self._height(p, dy=2)
        H[..., 0, 1] = H[..., 1, 0] = self._height(p, dx=1, dy=1)
        return -self._scale * H

    def _outline(self) -> Array | None:
        """Return lines of the grid along both sides, as one line: those of x, then those of y from the last corner."""
        points = self._points
        there = _forth_and_back(points)
        back = points.swapaxes(0, 1)[:, ::-1]
        is_far = np.array_equal(there[-1], points[-1, -1])
        return np.concatenate([there, _forth_and_back(back[::-1] if is_far else back)])

    def surface(self) -> tuple[Array, Array]:
        """Return two triangles per cell."""
        points = self._points
        k = np.arange(points.size // 3).reshape(points.shape[:2])
        a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
        return points.reshape(-1, 3), np.concatenate([np.stack([a, b, c], axis=-1), np.stack([a, c, d], axis=-1)])


def _forth_and_back(grid: Array) -> Array:
    """Return some lines of a grid of points as one line."""
    chosen = np.unique(np.linspace(0, len(grid) - 1, min(len(grid), LINES)).round().astype(int))
    return np.concatenate([grid[i, :: -1 if k % 2 else 1] for k, i in enumerate(chosen)])
