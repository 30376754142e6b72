"""Closures: what ties two frames of a tree of bodies together, row by row.

A closure names two frames and the relative motions that it stops, each one row of the closure's Jacobian:

    x, y, z       the second frame's origin seen from the first, along the first frame's axes
    rx, ry, rz    turning about an axis

Three rows of turning make the axes equal. Two leave the third axis free to turn about: it stays along that of the first
frame. One leaves two: ``rz`` keeps the first frame's x at right angles to the second's y, as the cross of a universal
joint does, and so on in a circle. A wheel that rolls on a plane stops the motion of its lowest point, which is no
motion of a frame and has no position: its rows are of velocities alone. A coupling has one row, ``q``: a sum of
coordinates of joints, each times its coefficient, stays at its offset, as gears and belts hold it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROWS = ("x", "y", "z", "rx", "ry", "rz")
"""The rows there are, in their order."""
ROLLING = "rolling"
"""The kind of closure whose rows are of velocities alone."""
COUPLING = "coupling"
"""The kind of closure that holds a sum of coordinates."""
COUPLED = ("q",)
"""The one row of a coupling."""

KINDS: dict[str, tuple[str, ...]] = {
    "point": ("x", "y", "z"),
    "frame": ROWS,
    "revolute": ("x", "y", "z", "rx", "ry"),
    "universal": ("x", "y", "z", "rz"),
    "cylindrical": ("x", "y", "rx", "ry"),
    "prismatic": ("x", "y", "rx", "ry", "rz"),
    "planar": ("z", "rx", "ry"),
    ROLLING: ("x", "y"),
}
"""The rows of the joints that loops are commonly cut at; turning and sliding are about and along z."""


@dataclass(frozen=True)
class Closure:
    """A tie between two frames by name.

    `rows` are some of :data:`ROWS`. A rolling closure's first frame is the plane, z its normal, and its second frame
    the wheel, z its axle, of `radius` [m]; its rows are ``x`` and ``y``, in the plane, and ``z`` where the wheel's
    height is to be held by it too. `coupling` are joints of one coordinate with their coefficients, the sum of which
    stays at `offset`; such a closure names two of them in place of frames. `line` is where a file says so.
    """

    name: str
    first: str
    second: str
    rows: tuple[str, ...] = KINDS["point"]
    radius: float = 0.0
    line: int | None = None
    coupling: tuple[tuple[str, float], ...] = ()
    offset: float = 0.0

    @property
    def is_coupling(self) -> bool:
        """Return whether this holds a sum of coordinates."""
        return bool(self.coupling)

    @property
    def is_rolling(self) -> bool:
        """Return whether this is a wheel on a plane."""
        return self.radius > 0.0

    @property
    def shifts(self) -> tuple[int, ...]:
        """Return the directions along which the rows stop sliding: 0, 1 and 2 for x, y and z."""
        return tuple(k for k in range(3) if ROWS[k] in self.rows)

    @property
    def turns(self) -> tuple[int, ...]:
        """Return the axes about which the rows stop turning."""
        return tuple(k for k in range(3) if ROWS[3 + k] in self.rows)

    @property
    def kind(self) -> str:
        """Return the name of these rows, or the rows themselves where they have none.

        >>> Closure("knee", "shank", "rod").kind
        'point'
        """
        if self.is_rolling or self.is_coupling:
            return ROLLING if self.is_rolling else COUPLING
        named = (kind for kind, rows in KINDS.items() if rows == self.rows and kind != ROLLING)
        return next(named, " ".join(self.rows))


def coupling(name: str, terms: Mapping[str, float], offset: float = 0.0, line: int | None = None) -> Closure:
    """Return the closure by which a sum of coordinates, each times its coefficient, stays at an offset.

    >>> coupling("gear", {"motor": 1.0, "wheel": -6.0}).kind
    'coupling'
    """
    names = list(terms)
    return Closure(name, names[0], names[-1], COUPLED, line=line, coupling=tuple(terms.items()), offset=offset)
