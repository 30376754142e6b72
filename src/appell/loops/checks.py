"""Checks of closures when loading: invalid loops, and joints that loops lock."""

from __future__ import annotations

import numpy as np

from appell.errors import ModelError
from appell.loops.assembly import Assembler
from appell.loops.rank import held_still
from appell.messages import listed
from appell.model.closure import Closure
from appell.model.model import WORLD, Model
from appell.recursion import closure
from appell.recursion.kinematics import world_poses
from appell.robot.kind import Rank
from appell.spatial.pose import Pose
from appell.spatial.scalar import Array
from appell.spatial.vector import cross, matvec

ACROSS = 1e-6
"""The smallest sine of the angle between a wheel's axle and the normal of its plane."""


def check_closures(model: Model, q: Array) -> None:
    """Reject closures within one link, and wheels that lie flat at q.

    Raises
    ------
    ModelError
        The message names the closure, its links and the remedy.
    """
    poses = [*world_poses(model, tuple(q.tolist())), Pose()]  # the world comes last, where its index of −1 finds it
    for tie in closure.ties(model):
        if not tie.terms and tie.first.body == tie.second.body:
            raise ModelError(
                f"{_subject(model, tie.closure)} connects two frames of link '{_link(model, tie.first.body)}', which "
                "no joint separates; remove it, or use a frame of another link"
            )
        if tie.closure.is_rolling:
            rotations = [poses[frame.body].then(frame.placement).rotation for frame in (tie.first, tie.second)]
            normal, axle = (matvec(rotation, (0.0, 0.0, 1.0)) for rotation in rotations)
            if np.linalg.norm(cross(normal, axle)) < ACROSS:
                raise ModelError(
                    f"{_subject(model, tie.closure)} is a wheel on link '{_link(model, tie.second.body)}' with its "
                    "axle (z of the second frame) along the normal of its plane (z of the first), so that it cannot "
                    "roll; rotate one of the two frames, or use a home in which the wheel is upright"
                )


def check_mobility(assembler: Assembler, found: Rank) -> None:
    """Reject loops that lock every joint."""
    model = assembler.model
    if found.value == model.nv:
        raise ModelError(
            f"robot '{model.name}': the loops leave no motion (mobility 0): {listed(c.name for c in model.closures)} "
            f"constrain all {model.nv} velocities of the joints {listed(body.joint.name for body in model.bodies)} "
            f"(least singular value {found.kept:.1e} of the largest); remove a closure, use fewer rows ('3d', not "
            "'6d'), or, if the loop should move, write its frames with more digits"
        )


def standstill(assembler: Assembler, configurations: Array, found: Rank) -> tuple[list[str], list[str]]:
    """Return the loops that lock all of their joints, in a robot that moves otherwise, and these joints."""
    model, still = assembler.model, set(held_still(assembler.gap(configurations)[1], found.value))
    loops, bodies = [], set()
    for tie in assembler.ties:
        way = {*tie.first_way, *tie.second_way}
        if still >= {k for i in way for k in model.velocities(i)}:
            loops.append(tie.closure.name)
            bodies |= way
    return loops, [model.bodies[i].joint.name for i in sorted(bodies)]


def _subject(model: Model, tie: Closure) -> str:
    line = f" (line {tie.line})" if tie.line else ""
    return f"robot '{model.name}': closure '{tie.name}'{line} of frames '{tie.first}' and '{tie.second}'"


def _link(model: Model, body: int) -> str:
    return model.base.name if body == WORLD else model.bodies[body].name
