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
