"""Walls: where points of a robot may not go.

A wall is given by its *gap*, a smooth function of position [m] that is positive where points may be, zero on the wall,
and the distance to first order next to it. For the round walls it is a polynomial, smooth even at the centre, where the
distance itself has a kink. Walls that end somewhere (a segment, an arc) also say which part of space they cover.

Plane walls of the theory (a circle, a line, an arc) stand upright on the plane they are drawn in: along `axis`, z
unless told, they reach as far as need be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from appell.errors import InputError
from appell.read.values import shown
from appell.robot.arguments import finite_array, number, real_array, truth
from appell.simulation.callbacks import raised
from appell.spatial.scalar import Array

PerPoint = float | Mapping[str, float]
"""One number, or one a point by the point's name."""

SMALLEST, LARGEST = 1e-6, 1e7
"""Lengths [m] of walls: within them, positions are resolved to the nanometre up to which a point touches a wall."""
OVERLAP = 1e-9
"""How far [m] a segment or an arc reaches beyond its ends, so that no point slips through where two meet."""


@dataclass(frozen=True, kw_only=True)
class Wall:
    """What all walls share.

    `restitution` (0 to 1) and `friction` (Coulomb's coefficient) hold for this wall, a number or one per point; where
    they are None, those of the run hold. `points` names the points that meet this wall, all if None.
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
        """Return the wall's name, or what it is."""
        return self.name or type(self).__name__.lower()

    @property
    def parts(self) -> tuple[Wall, ...]:
        """Return the smooth walls that this one is made of."""
        return (self,)

    def gap(self, p: Array) -> Array:
        """Return the gap of points (..., 3)."""
        raise NotImplementedError

    def gradient(self, p: Array) -> Array:
        """Return the gradient of the gap (..., 3)."""
        raise NotImplementedError

    def hessian(self, p: Array) -> Array:
        """Return the second derivatives of the gap (..., 3, 3)."""
        raise NotImplementedError

    def covers(self, p: Array) -> Array:
        """Return whether the wall reaches to where points (..., 3) stand before it."""
        return np.ones(np.shape(p)[:-1], dtype=bool)

    @property
    def is_endless(self) -> bool:
        """Return whether the wall divides all of space, so that a negative gap is always outside."""
        return True

    def outline(self) -> Array | None:
        """Return a line (n, 3) that draws the wall, None where there is none."""
        return None


class _Flat(Wall):
    """A plane wall through a point, with its normal to the free side."""

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


@dataclass(frozen=True)
class Plane(_Flat):
    """A plane through a point; its normal points to the free side.

    >>> import appell, numpy as np
    >>> float(appell.walls.Plane(point=(0, 0, 0), normal=(0, 0, 2)).gap(np.array([5.0, 5.0, 0.25])))
    0.25
    """

    point: Sequence[float] = (0.0, 0.0, 0.0)
    normal: Sequence[float] = (0.0, 0.0, 1.0)

    @cached_property
    def _form(self) -> tuple[Array, Array]:
        return vector(self.label, "point", self.point), unit(self.label, "normal", self.normal)

    def outline(self) -> Array | None:
        """Return a square of four metres about the point."""
        point, normal = self._form
        x = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        x *= 2.0 / np.linalg.norm(x)
        y = np.cross(normal, x)
        return np.array([point + a * x + b * y for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))])


@dataclass(frozen=True)
class Line(_Flat):
    """A straight wall through two points of a plane; the free side is on the left on the way from the first.

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
                f"{self.label}: start and end are one point, or lie along the axis; expected two places {SMALLEST:g} m "
                "or more apart"
            )
        return vector(self.label, "start", self.start), across / np.linalg.norm(across)

    @property
    def _along(self) -> Array:
        return vector(self.label, "end", self.end) - vector(self.label, "start", self.start)

    def outline(self) -> Array | None:
        """Return a long piece of the line."""
        reach = 10.0 * self._along / np.linalg.norm(self._along)
        return np.array([self._form[0] - reach, self._form[0] + reach])


class Segment(Line):
    """A straight wall from one point to another, and no further; the free side is on the left."""

    @property
    def is_endless(self) -> bool:
        """Return False: points may go round."""
        return False

    def covers(self, p: Array) -> Array:
        """Return whether the foot of each point lies between the ends."""
        length = float(np.linalg.norm(self._along))
        foot = (p - self._form[0]) @ (self._along / length)
        return np.asarray((foot >= -OVERLAP) & (foot <= length + OVERLAP))

    def outline(self) -> Array | None:
        """Return the two ends."""
        return np.array([self._form[0], self._form[0] + self._along])


@dataclass(frozen=True)
class Polyline(Wall):
    """Straight walls from corner to corner; the free side is on the left, `closed` joins the last to the first.

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
        """Return one segment a side."""
        ends = [*self.corners[1:], self.corners[0]] if self.closed else list(self.corners[1:])
        laws = {"restitution": self.restitution, "friction": self.friction}
        return tuple(
            Segment(a, b, self.axis, name=f"{self.label}[{k}]", points=self.points, **laws)
            for k, (a, b) in enumerate(zip(self.corners, ends, strict=False))
        )

    def outline(self) -> Array | None:
        """Return the corners."""
        corners = [vector(self.label, "corner", corner) for corner in self.corners]
        return np.array([*corners, corners[0]] if self.closed else corners)


@dataclass(frozen=True)
class SignedDistance(Wall):
    """Any smooth wall: `function` takes points (..., 3) and returns their signed distance (...), free where positive.

    Gradient and second derivatives may be given; otherwise they are taken by differences of the function.

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
        """Return the function's values."""
        return self._values("function", self.function, p, np.shape(p)[:-1])

    def gradient(self, p: Array) -> Array:
        """Return the gradient given, or fourth-order differences."""
        if self.slope is not None:
            return self._values("slope", self.slope, p, np.shape(p))
        return _differences(self.gap, p, 1e-3)

    def hessian(self, p: Array) -> Array:
        """Return the second derivatives given, or differences of the gradient."""
        if self.curvature is not None:
            return self._values("curvature", self.curvature, p, (*np.shape(p), 3))
        return _differences(self.gradient, p, 1e-3)

    def _values(self, name: str, function: Callable[[Array], Array], p: Array, shape: tuple[int, ...]) -> Array:
        """Return what a function gives for points; an exception and what is not a number are errors."""
        try:
            given = function(np.asarray(p, dtype=float))
        except Exception as error:  # a user's function may raise anything
            raise InputError(f"{self.label}: the {name} raised {raised(error)}") from error
        values = finite_array(f"{self.label}: the {name} gave invalid values", given)
        if values.shape != shape:
            raise InputError(
                f"{self.label}: the {name} gave shape {values.shape} for points {np.shape(p)}; expected {shape}"
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


def vector(label: str, name: str, value: Sequence[float]) -> Array:
    """Return a place: three numbers [m]; of two, the third is zero."""
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
    """Return a direction of unit length."""
    direction = _entries(label, name, value)
    size = float(np.abs(direction).max())
    if not size > 0.0:
        raise InputError(f"{label}: {name} has no length; expected a direction")
    direction = direction / size  # whose squares neither vanish nor overflow
    return np.asarray(direction / np.linalg.norm(direction))


def positive(label: str, name: str, value: float) -> None:
    """Raise unless a number is a length at which positions are resolved to a nanometre."""
    what = f"{label}: {name} must be a positive length from {SMALLEST:g} to {LARGEST:g} m"
    number(what, value, SMALLEST, LARGEST)


def check_range(what: str, value: PerPoint | None, upper: float) -> None:
    """Raise unless a number, or every number of a mapping, lies in [0, upper]."""
    if value is None:
        return
    span = f"[0, {upper:g}]" if upper <= 1.0 else "0 or more"
    for key, entry in value.items() if isinstance(value, Mapping) else [("", value)]:
        number(f"{what}{f' of {key}' if key else ''} must lie in {span}", entry, 0.0, upper)
