"""Poses: position and orientation of one frame in another."""

from __future__ import annotations

from typing import NamedTuple

from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, ZERO, add, matmul, matvec, matvec_t, negate, transpose


class Pose(NamedTuple):
    """The pose X_AB of frame B in frame A: rotation R_AB and position p_AB of B's origin.

    >>> Pose().rotation == IDENTITY
    True
    """

    rotation: Matrix = IDENTITY
    position: Vector = ZERO

    def then(self, other: Pose) -> Pose:
        """Return X_AC = X_AB · X_BC."""
        return Pose(matmul(self.rotation, other.rotation), self.apply(other.position))

    def inverse(self) -> Pose:
        """Return X_BA."""
        return Pose(transpose(self.rotation), negate(matvec_t(self.rotation, self.position)))

    def apply(self, point: Vector) -> Vector:
        """Return the coordinates in A of a point given in B."""
        return add(self.position, matvec(self.rotation, point))
