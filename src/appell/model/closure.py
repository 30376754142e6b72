"""Closures: constraints between two frames of a tree of bodies, row by row.

A closure names two frames and the relative motions that it blocks, each one row of the constraint Jacobian:

    x, y, z       the second frame's origin seen from the first, along the first frame's axes
    rx, ry, rz    turning about an axis

Three rotation rows make the axes equal. Two leave rotation about the third axis free, which stays along that of the
first frame. One leaves two: ``rz`` keeps the first frame's x perpendicular to the second's y, as the cross of a
universal joint does, and so on cyclically. A wheel rolling on a plane blocks the velocity of its contact point, which
has no position constraint: its rows are nonholonomic. A coupling has one row, ``q``: a weighted sum of joint
coordinates stays at its offset, as with gears and belts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROWS = ("x", "y", "z", "rx", "ry", "rz")
"""All rows, in their order."""
ROLLING = "rolling"
"""The kind of closure with rows of velocities only."""
COUPLING = "coupling"
"""The kind of closure that constrains a sum of coordinates."""
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
"""The rows of the joints at which loops are commonly cut; rotation and translation are about and along z."""


@dataclass(frozen=True)
class Closure:
    """A constraint between two frames given by name.

    `rows` are some of :data:`ROWS`. A rolling closure's first frame is the plane, z its normal, and its second frame
    the wheel, z its axle, of `radius` [m]; its rows are ``x`` and ``y``, in the plane, and ``z`` where it also
    constrains the height of the wheel. `coupling` are joints with one coordinate and their coefficients, whose weighted
    sum stays at `offset`; such a closure names two of them in place of frames. `line` is the line of the file.
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
        """Return whether this constrains a sum of coordinates."""
        return bool(self.coupling)

    @property
    def is_rolling(self) -> bool:
        """Return whether this is a wheel on a plane."""
        return self.radius > 0.0

    @property
    def shifts(self) -> tuple[int, ...]:
        """Return the directions whose translation is blocked: 0, 1 and 2 for x, y and z."""
        return tuple(k for k in range(3) if ROWS[k] in self.rows)

    @property
    def turns(self) -> tuple[int, ...]:
        """Return the axes about which rotation is blocked."""
        return tuple(k for k in range(3) if ROWS[3 + k] in self.rows)

    @property
    def kind(self) -> str:
        """Return the name of these rows, or the rows themselves if they have none.

        >>> Closure("knee", "shank", "rod").kind
        'point'
        """
        if self.is_rolling or self.is_coupling:
            return ROLLING if self.is_rolling else COUPLING
        named = (kind for kind, rows in KINDS.items() if rows == self.rows and kind != ROLLING)
        return next(named, " ".join(self.rows))


def coupling(name: str, terms: Mapping[str, float], offset: float = 0.0, line: int | None = None) -> Closure:
    """Return the closure that keeps a weighted sum of coordinates at an offset.

    >>> coupling("gear", {"motor": 1.0, "wheel": -6.0}).kind
    'coupling'
    """
    names = list(terms)
    return Closure(name, names[0], names[-1], COUPLED, line=line, coupling=tuple(terms.items()), offset=offset)
