"""Where bodies are and how they move: the part that every recursion shares.

Inside a sweep all vectors of body i are in body i's frame. A :class:`Link` carries them between a body's frame and its
parent's: `down` from parent to child, `up` from child to parent.
"""

from __future__ import annotations

from typing import NamedTuple

from appell.model.model import WORLD, Model
from appell.recursion.sweep import outward
from appell.spatial.pose import Pose
from appell.spatial.scalar import Matrix, Scalar, Vector
from appell.spatial.vector import ZERO, add, cross, dot, matvec, matvec_t, scale, sub

Scalars = tuple[Scalar, ...]


class Link(NamedTuple):
    """The pose of a body in its parent: the file's constant rotation, the joint's rotation, and the position.

    The two rotations are applied one after the other and never multiplied: where each is about a coordinate axis, as
    in the lean model, that is 8 multiplications and 4 additions a vector (mata2002, section 4.1).
    """

    constant: Matrix
    joint: Matrix
    position: Vector

    def down(self, vector: Vector) -> Vector:
        """Return a vector of the parent's frame in the body's frame."""
        return matvec_t(self.joint, matvec_t(self.constant, vector))

    def up(self, vector: Vector) -> Vector:
        """Return a vector of the body's frame in the parent's frame."""
        return matvec(self.constant, matvec(self.joint, vector))


class JointMotion(NamedTuple):
    """What a joint adds to its body's motion, in the body's frame: Σ wₖxₖ and Σ lₖxₖ for velocities or accelerations x."""

    angular: Vector
    linear: Vector


class Velocity(NamedTuple):
    """Angular velocity of a body and velocity of its origin, in the body's frame."""

    angular: Vector
    linear: Vector


def links(model: Model, q: Scalars) -> list[Link]:
    """Return the pose of every body in its parent."""
    result = []
    for body, where in zip(model.bodies, model.q_slices, strict=True):
        placement, moved = body.joint.placement, body.joint.pose(q[where])
        result.append(Link(placement.rotation, moved.rotation, placement.apply(moved.position)))
    return result


def joint_motions(model: Model, x: Scalars) -> list[JointMotion]:
    """Return what each joint contributes for joint velocities (or accelerations) x."""
    result = []
    for body, where in zip(model.bodies, model.v_slices, strict=True):
        angular, linear = ZERO, ZERO
        for column, rate in zip(body.joint.columns, x[where], strict=True):
            angular = add(angular, scale(rate, column.angular))
            linear = add(linear, scale(rate, column.linear))
        result.append(JointMotion(angular, linear))
    return result


def velocities(model: Model, chain: list[Link], v: Scalars) -> list[Velocity]:
    """Return the velocity of every body: ω = Rᵀω_p + Σw v,  ṡ = Rᵀ(ṡ_p + ω_p × p) + Σl v."""
    own = joint_motions(model, v)

    def step(i: int, parent: Velocity) -> Velocity:
        link = chain[i]
        carried = add(parent.linear, cross(parent.angular, link.position))
        return Velocity(add(link.down(parent.angular), own[i].angular), add(link.down(carried), own[i].linear))

    return outward(model, Velocity(ZERO, ZERO), step)


def world_poses(model: Model, q: Scalars) -> list[Pose]:
    """Return X_WB of every body."""

    def step(i: int, parent: Pose) -> Pose:
        joint = model.bodies[i].joint
        return parent.then(joint.placement).then(joint.pose(q[model.q_slices[i]]))

    return outward(model, Pose(), step)


def pose(model: Model, q: Scalars, frame: str) -> tuple[tuple[Scalar, ...], ...]:
    """Return the 4×4 matrix X_WF of a named frame."""
    body, placement = model.frame_index[frame].body, model.frame_index[frame].placement
    rotation, position = placement if body == WORLD else world_poses(model, q)[body].then(placement)
    return (*((*row, x) for row, x in zip(rotation, position, strict=True)), (0.0, 0.0, 0.0, 1.0))


def jacobian(model: Model, q: Scalars, frame: str) -> tuple[tuple[Scalar, ...], ...]:
    """Return the 6×nv matrix that takes v to the frame's velocity: linear first, both in world axes."""
    poses = world_poses(model, q)
    body, placement = model.frame_index[frame].body, model.frame_index[frame].placement
    columns: list[tuple[Scalar, ...]] = [(0.0,) * 6] * model.nv
    if body != WORLD:
        point = poses[body].apply(placement.position)
        for i in model.ancestors(body):
            rotation, origin = poses[i]
            for k, column in zip(
                range(*model.v_slices[i].indices(model.nv)), model.bodies[i].joint.columns, strict=True
            ):
                angular = matvec(rotation, column.angular)
                linear = add(matvec(rotation, column.linear), cross(angular, sub(point, origin)))
                columns[k] = (*linear, *angular)
    return tuple(zip(*columns, strict=True))


def project(model: Model, i: int, moment: Vector, force: Vector) -> Scalars:
    """Return the generalised forces of body i's joint under a force and a moment about its origin: w·n + l·f."""
    return tuple(dot(c.angular, moment) + dot(c.linear, force) for c in model.bodies[i].joint.columns)
