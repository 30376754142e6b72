"""Joints split into hinges, slides and balls, for formats that have only these; and minimal inertias."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appell.model.build import principal_second_moments
from appell.model.joints import plane
from appell.model.model import Joint, Mimic, Model
from appell.spatial.inertia import Inertia
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Vector
from appell.spatial.vector import IDENTITY, negate

SMALLEST = 1e-15
"""The smallest mass [kg] and second moment [kg·m²] that simulators accept for a moving body."""
CLIPPED = 1e-12
"""Relative size up to which a negative second moment is a rounding error."""
UNEQUAL = ("planar", "free")
"""Types whose velocities are in the child's axes, while those of their parts are in the joint frame's axes."""


def parts(joint: Joint) -> list[Joint]:
    """Return the hinges, slides and balls that make up a joint, in the order of its coordinates.

    The first has the placement of the joint, the others are at the first; a body after the last moves as after the
    joint. A screw is a hinge and a slide that follows it.

    >>> [part.kind for part in parts(Joint("spindle", "cylindrical"))]
    ['revolute', 'prismatic']
    """
    if joint.kind == "helical":
        slide = Joint(f"{joint.name}/2", "prismatic", joint.axis)
        follows = Mimic(joint.name, joint.pitch, joint.pitch * joint.offset)
        return [replace(joint, kind="revolute", pitch=0.0), replace(slide, mimic=follows)]
    motions: list[tuple[str, Vector]]
    if joint.kind == "cylindrical":
        motions = [("revolute", joint.axis), ("prismatic", joint.axis)]
    elif joint.kind == "planar":
        first, second = plane(joint.axis)
        motions = [("prismatic", first), ("prismatic", second), ("revolute", joint.axis)]
    elif joint.kind == "free":
        motions = [*(("prismatic", axis) for axis in IDENTITY), ("ball", IDENTITY[2])]
    else:
        return [joint]
    made = [
        replace(joint, name=f"{joint.name}/{k}", kind=kind, axis=axis, placement=Pose(), mimic=None)
        for k, (kind, axis) in enumerate(motions, 1)
    ]
    return [replace(made[0], placement=joint.placement), *made[1:]]


def home_of(model: Model) -> dict[str, tuple[float, ...]]:
    """Return the home coordinates of every joint; neutral by default."""
    given = dict(model.home)
    neutral = {"free": (0.0,) * 6 + (1.0,), "ball": (0.0, 0.0, 0.0, 1.0)}
    home = {
        body.joint.name: given.get(body.joint.name, neutral.get(body.joint.kind, (0.0,) * body.joint.type.nq))
        for body in model.bodies
    }
    if model.is_coupled:
        for body in model.bodies:
            mimic = body.joint.mimic
            if mimic is not None:
                home[body.joint.name] = (mimic.multiplier * home[mimic.joint][0] + mimic.offset,)
    return home


def part_coordinates(joint: Joint, q: tuple[float, ...], pieces: list[Joint]) -> list[tuple[float, ...]]:
    """Return the coordinates of a joint's parts at its own coordinates q."""
    if joint.kind == "helical":
        return [q, (joint.pitch * (q[0] + joint.offset),)]
    found, at = [], 0
    for piece in pieces:
        found.append(q[at : at + piece.type.nq])
        at += piece.type.nq
    return found


def principal(inertia: Inertia) -> tuple[Matrix, Vector] | None:
    """Return the principal axes at the mass centre and the moments about them, of at least the smallest size.

    None if no rigid body has such an inertia.
    """
    second = inertia.moved(Pose(IDENTITY, negate(inertia.centre))).second
    largest = max(map(abs, principal_second_moments(inertia)))
    values = np.array([second[k][k] for k in range(3)], dtype=float)
    axes = np.eye(3)
    if any(second[i][j] for i in range(3) for j in range(i)):
        values, axes = np.linalg.eigh(np.array(second, dtype=float))
        axes = axes if np.linalg.det(axes) > 0.0 else -axes
    if values.min() < -CLIPPED * largest:
        return None
    s = np.maximum(values, SMALLEST)
    a, b, c = (tuple(map(float, row)) for row in axes)
    moments = (float(s[1] + s[2]), float(s[0] + s[2]), float(s[0] + s[1]))
    return ((a[0], a[1], a[2]), (b[0], b[1], b[2]), (c[0], c[1], c[2])), moments
