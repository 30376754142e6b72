"""Kinds of joint, one small class each, and the table of them.

A joint kind answers two questions and nothing else. *Where is the child?* — its pose in the joint frame as a function
of q. *How does the child move?* — the columns of its motion subspace, each an angular and a linear part in the child's
frame, constant there for every kind, so that the joint adds Σ wₖvₖ to the angular velocity and Σ lₖvₖ to the velocity
of the origin. Everything else (recursions, Jacobians, regressors) follows from these two.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from appell.spatial.pose import Pose
from appell.spatial.rotation import about
from appell.spatial.scalar import Scalar, Vector, cos, sin
from appell.spatial.vector import IDENTITY, ZERO, scale


class Column(NamedTuple):
    """One column of a motion subspace: unit velocity's angular and linear part, in the child's frame."""

    angular: Vector
    linear: Vector


class Kind(Protocol):
    """What a joint kind must answer."""

    nq: int
    nv: int
    turns: bool
    """Whether q is an angle, so that it may be reduced by whole turns."""

    def pose(self, axis: Vector, q: tuple[Scalar, ...]) -> Pose:
        """Return the pose of the child's frame in the joint frame."""

    def columns(self, axis: Vector) -> tuple[Column, ...]:
        """Return the columns of the motion subspace in the child's frame."""


class Revolute:
    """Turning about an axis; q in radians."""

    nq, nv, turns = 1, 1, True

    def pose(self, axis: Vector, q: tuple[Scalar, ...]) -> Pose:
        """Return the rotation about the axis by q."""
        return Pose(about(axis, cos(q[0]), sin(q[0])), ZERO)

    def columns(self, axis: Vector) -> tuple[Column, ...]:
        """Return the axis as angular part."""
        return (Column(axis, ZERO),)


class Prismatic:
    """Sliding along an axis; q in metres."""

    nq, nv, turns = 1, 1, False

    def pose(self, axis: Vector, q: tuple[Scalar, ...]) -> Pose:
        """Return the translation along the axis by q."""
        return Pose(IDENTITY, scale(q[0], axis))

    def columns(self, axis: Vector) -> tuple[Column, ...]:
        """Return the axis as linear part."""
        return (Column(ZERO, axis),)


KINDS: dict[str, Kind] = {"revolute": Revolute(), "continuous": Revolute(), "prismatic": Prismatic()}
