"""How the verbs of a long robot are described: what a step reads, where its results stand, which passes a verb has.

A step function is given what the step reads (:class:`Context`) and returns one entry per field that its pass writes,
adds to the parent's and adds to the root's, then the state if it is a step of a walk, then its results, one entry per
layout.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from appell.model.joints import Kind
from appell.model.model import Model
from appell.model.parameters import PER_BODY, PER_VELOCITY
from appell.program.nodes import Fields, Share
from appell.recursion.articulated import Pair
from appell.recursion.kinematics import Link, Scalars, Velocity
from appell.robot.long.body import TracedBody, symmetric, upper
from appell.spatial.inertia import Inertia
from appell.spatial.vector import ZERO, negate

Q, V, INDEX = range(3)
"""The numbers of an item: where its coordinates begin in q, its velocities in v, and which body (or frame) it is."""

FIELDS = {
    **dict.fromkeys(("frame_origin", "centre"), 3),
    **dict.fromkeys(("load", "velocity", "bias", "acceleration", "momentum", "probe", "answer"), 6),
    **dict.fromkeys(("motion", "rotation"), 9),
    "total": 1,
    "mass_moments": 4,
    "inertia": 10,
    "pose": 12,
    "moments": 22,
    "articulated": 27,
}
"""Sizes of the fields, but of `joint_pose` and `pivot`, which depend on the joints."""


@dataclass(frozen=True)
class Context:
    """What a step reads: its body, its share of the inputs, fields, and the state of a walk."""

    model: Model
    is_parametric: bool
    body: TracedBody
    given: dict[str, Scalars]
    own: dict[str, Scalars]
    parent: dict[str, Scalars]
    root: dict[str, Scalars]
    state: Scalars = ()

    @property
    def link(self) -> Link:
        """Return the body as its parent sees it, from what an earlier pass has kept."""
        return self.body.link(self.body.unpacked(self.own["joint_pose"]))


# Where results stand: layouts from a port, its shape and a joint to shares

Layout = Callable[[str, tuple[int, ...], Kind], tuple[Share, ...]]


def by_velocity(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of a joint's velocities in a vector."""
    return (Share(port, joint.nv, V),)


def by_coordinate(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of a joint's coordinates in a vector."""
    return (Share(port, joint.nq, Q),)


def by_row(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of a joint's velocities in every row of a matrix."""
    return tuple(Share(port, joint.nv, V, offset=row * shape[1]) for row in range(shape[0]))


def by_index(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the row of an item in a matrix."""
    return (Share(port, shape[1], INDEX, shape[1]),)


def all_of(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return all places of a port."""
    return (Share(port, math.prod(shape)),)


def in_column(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of a joint's velocities in the column of the walk's start."""
    return tuple(Share(port, 1, V, shape[1], k * shape[1], start=1) for k in range(joint.nv))


def in_row(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of a joint's velocities in the row of the walk's start."""
    return (Share(port, joint.nv, V, start=shape[1]),)


def of_parameters(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of the start's ten parameters in the rows of a joint's velocities."""
    return tuple(Share(port, PER_BODY, V, shape[1], k * shape[1], start=PER_BODY) for k in range(joint.nv))


def of_friction(port: str, shape: tuple[int, ...], joint: Kind) -> tuple[Share, ...]:
    """Return the places of each velocity's own friction parameters."""
    first, stride = shape[1] - PER_VELOCITY * shape[0], shape[1] + PER_VELOCITY
    return tuple(Share(port, PER_VELOCITY, V, stride, first + k * stride) for k in range(joint.nv))


class StepPlan(NamedTuple):
    """The step of one sort of item: its function, and the layouts of its results, each with the number of its port."""

    step: Callable[..., Any]
    results: tuple[tuple[int, Layout], ...] = ()


@dataclass(frozen=True)
class SweepPlan:
    """A sweep in words of the steps: of bodies, frames and the world."""

    fields: Fields
    body: StepPlan | None = None
    frame: StepPlan | None = None
    world: StepPlan | None = None
    inward: bool = False


@dataclass(frozen=True)
class WalkPlan:
    """Walks from every body: `first` is given the column too if there is one walk per column."""

    fields: Fields
    state: int
    first: StepPlan
    body: StepPlan
    per_column: bool = True


@dataclass(frozen=True)
class Plan:
    """A verb as passes; `base` gives the root's fields that do not begin with zero."""

    passes: tuple[SweepPlan | WalkPlan, ...]
    base: Callable[[Model], dict[str, Scalars]] = field(default=lambda model: {})
    is_massless: bool = False
    """Whether no inertia matters."""
    has_gaps: bool = False
    """Whether no walk or path reaches some of the results, which are zero."""


# What fields hold


def pair(x: Scalars) -> Pair:
    """Return the 6-vector of six numbers."""
    return Pair(x[:3], x[3:6])


def velocity(x: Scalars) -> Velocity:
    """Return the velocity of six numbers, ω first."""
    return Velocity(x[:3], x[3:])


def inertia_numbers(inertia: Inertia) -> Any:
    """Return the ten moments of an inertia."""
    return inertia.mass, inertia.first, upper(inertia.second)


def inertia_of(x: Scalars) -> Inertia:
    """Return the inertia of ten moments."""
    return Inertia(x[0], x[1:4], symmetric(x[4:10]))


def falling(model: Model) -> dict[str, Scalars]:
    """Return the motion of the base: gravity enters as its acceleration −g."""
    return {"motion": (*ZERO, *ZERO, *negate(model.gravity))}
